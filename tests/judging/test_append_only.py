"""What must never change cannot be changed, whoever asks the database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import IntegrityError, models, transaction

from judging.models import Finding, Scorecard, Verdict
from tests.matches import found, judge

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def judged(tmp_path: Path) -> None:
    judge(tmp_path, findings=[found("plagiarism", "final.diff", "diff:refunds.py:1")])


def refused(write: Callable[[], object]) -> bool:
    try:
        with transaction.atomic():
            write()
    except IntegrityError as error:
        return "append-only" in str(error)
    return False


@pytest.mark.parametrize("model", [Verdict, Finding, Scorecard])
def test_every_field_stays_but_whether_a_row_is_live(model: type[models.Model]) -> None:
    rows = model.objects.filter(is_live=True)
    for field in model._meta.concrete_fields:
        if field.attname == "is_live" or field.is_relation:
            continue
        is_text = isinstance(field, models.CharField | models.TextField)
        change = {field.attname: "17" if is_text else other(field)}
        assert refused(lambda change=change: rows.update(**change)), field.name
    assert rows.update(is_live=False)


def other(field: models.Field) -> object:
    """Return a value that no row has in a field."""
    match field:
        case models.JSONField():
            return {"tampered": True}
        case models.DateTimeField():
            return "2001-01-01T00:00:00Z"
        case models.Field() if field.get_internal_type() == "ArrayField":
            return ["tampered"]
    return -17


@pytest.mark.parametrize("model", [Verdict, Finding, Scorecard])
def test_nothing_is_deleted(model: type[models.Model]) -> None:
    rows = model.objects.all()
    assert refused(lambda: rows._raw_delete(rows.db))
