"""Rows written by COPY say to the letter what `save` would have said."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bouts.copying import insert
from bouts.models import AuditEntry

pytestmark = pytest.mark.django_db

# What PostgreSQL can store: all but NUL and halves of surrogate pairs.
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(texts, texts), max_size=4))
def test_text_and_json_arrive_as_they_were(said: list[tuple[str, str]]) -> None:
    AuditEntry.objects.all().delete()
    rows = [
        AuditEntry(action="try", subject=f"{at}", reason=text, after={key: [text, None, 1.5, True]})
        for at, (key, text) in enumerate([("\\N\t", "\\n\r\n\\."), *said])
    ]
    insert(rows)
    stored = list(AuditEntry.objects.order_by("pk"))
    assert [(row.subject, row.reason, row.after) for row in stored] == [
        (row.subject, row.reason, row.after) for row in rows
    ]
    assert all(row.before is None and row.actor_id is None and row.at for row in stored)


def test_of_no_rows_nothing_is_written() -> None:
    insert([])
    assert not AuditEntry.objects.exists()
