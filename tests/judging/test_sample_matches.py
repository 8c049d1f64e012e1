"""The sample matches, all of them: each replays to the digit and is rejudged to the same, and
their spread is printed."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command

from bouts.models import Bundle, User
from bouts.rules import Judge
from judging import steps
from tests.judging.rejudging.making import preview, propose

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(300)]


def printed(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_every_sample_match_replays_and_is_rejudged_to_the_same_and_its_base_model_is_spread(
    operator: User,
) -> None:
    call_command("sample", verbosity=0)
    # In the order in which they came: who is copied from is there before who copied.
    bundles = list(Bundle.objects.filter(is_live=True).order_by("pk"))
    for bundle in bundles:
        steps.run_steps(bundle)
    replayed = printed("replay", "--all")
    print(replayed)
    lines = replayed.splitlines()
    assert len(lines) == len(bundles) >= 20
    assert all(line.endswith(": equal") for line in lines)
    rejudging = preview(propose(operator, judges=tuple(Judge), since="2000-01-01"))
    rows = list(rejudging.matches.all())
    assert len(rows) == len(bundles)
    assert {(row.state, row.outcome) for row in rows} == {("done", "unchanged")}
    for name in ("verdicts", "findings", "ended_verdicts", "ended_findings", "moves"):
        assert [row.match.slug for row in rows if row.candidate[name]] == []
    spread = printed("spread")
    print(spread)
    assert len(spread.splitlines()) >= 3
    assert "±" in spread
