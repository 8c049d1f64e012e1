"""Whatever judges, reviewers and ops do, the boards are what a recount from scratch gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import transaction
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bouts.models import Match, User
from bouts.rules import Judge
from judging import actions, narrow, standings, steps
from judging.models import Finding, Standing
from judging.rejudging import actions as rejudgings
from tests import matches
from tests.judging.rejudging.making import apply, mend, preview, propose

pytestmark = pytest.mark.django_db

FINDING = matches.found("plagiarism", "final.diff", "diff:refunds.py:1", confidence="high")
TWO_JUDGES = {"judges": ["objective", "strategy", "integrity"], "family": "money"}
COLUMNS = [
    field.attname
    for field in Standing._meta.fields
    if field.attname not in {"id", "updated_at", "awaits_narrow"}
]

DEEDS = (
    "score", "rule", "take back", "apply", "dismiss", "reopen", "exclude", "withdraw", "restore",
    "judge again", "upload again", "drop a rejudging", "rejudge",
)  # fmt: skip
deeds = st.tuples(st.sampled_from(("Heron", "Wren")), st.sampled_from(DEEDS))


def rows() -> set[tuple[str, ...]]:
    return {tuple(map(str, row)) for row in Standing.objects.values_list(*COLUMNS)}


def test_after_any_deeds_the_kept_boards_are_those_made_from_scratch(
    tmp_path: Path, reviewer: User, operator: User
) -> None:
    for name in ("Heron", "Wren"):
        play(tmp_path, name)

    @given(st.lists(deeds, min_size=1, max_size=5))
    @example([("Heron", deed) for deed in DEEDS])
    @settings(max_examples=6, deadline=None)
    def holds(done: list[tuple[str, str]]) -> None:
        with transaction.atomic():
            for name, deed in done:
                do(tmp_path, name, deed, reviewer, operator)
            standings.settle_bands()
            narrow.settle()
            kept = rows()
            # Nobody may have fought the newest version yet: then no family has a board.
            assert {row[COLUMNS.index("family")] for row in kept} <= {"", "money"}
            Standing.objects.all().delete()
            call_command("recount", verbosity=0)
            assert rows() == kept
            transaction.set_rollback(True)

    holds()


def play(folder: Path, name: str, **changes: object) -> None:
    number = len(list(folder.iterdir()))
    matches.judge(
        folder / str(number), match=name.lower(), agent={"name": name}, findings=[FINDING],
        challenge=TWO_JUDGES, **{"verdicts": matches.panel(60, 76, 92), **changes},
    )  # fmt: skip


def do(folder: Path, name: str, deed: str, reviewer: User, operator: User) -> None:
    """Do one thing to the match of an agent, as the pages would."""
    match = Match.objects.get(slug=name.lower())
    bundle = match.bundles.get(is_live=True)
    finding = Finding.objects.get(bundle=bundle, is_live=True, trigger="plagiarism")
    why = {"by": reviewer, "reason": "so it is"}
    match deed:
        case "score":
            actions.rule_strategy(bundle, 35, **why)
        case "rule":
            actions.rule_strategy(bundle, None, **why)
        case "take back":
            actions.withdraw_ruling(bundle, **why, cause="corrected")
        case "apply":
            actions.decide_finding(bundle, finding.key, status="applied", **why)
        case "dismiss":
            actions.decide_finding(bundle, finding.key, status="dismissed", **why)
        case "reopen":
            actions.reopen_finding(bundle, finding.key, **why, cause="corrected")
        case "exclude" | "withdraw" | "restore":
            state = {"exclude": "excluded", "withdraw": "withdrawn", "restore": ""}[deed]
            actions.exclude_match(match, state, by=operator, reason="so it is")
        case "judge again":
            steps.judge_again(bundle, by=operator, reason="so it is")
            steps.run_steps(bundle)
        case "upload again":
            play(folder, name, verdicts=matches.panel(20, 25, bundle.number))
        case "drop a rejudging" | "rejudge":
            rejudge(folder, match, operator, is_dropped=deed != "rejudge")


def rejudge(folder: Path, match: Match, operator: User, *, is_dropped: bool) -> None:
    """Mend the challenge, and rejudge under it all that there is: what is shown is what comes."""
    versions = match.challenge.versions.count()
    mend(folder / "mended", ("medium", "critical")[versions % 2], family="money")
    before = rows()
    rejudging = preview(propose(operator, judges=tuple(Judge)))
    assert rows() == before
    if is_dropped:
        rejudgings.drop(rejudging.pk, by=operator)
        assert rows() == before
        return
    apply(rejudging, operator)
    for row in rejudging.matches.all():
        card = row.match.scorecards.get(is_live=True)
        assert (row.state, str(card.total)) == ("done", row.candidate["card"]["total"] or "None")


def test_the_command_says_how_many_agents_it_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play(tmp_path, "Heron")
    Standing.objects.update(spread={}, matches=77)  # as rows from before a column existed
    call_command("recount")
    assert capsys.readouterr().out == f"1 agent, {Standing.objects.count()} rows\n"
    assert not Standing.objects.filter(matches=77).exists()
    call_command("recount")
    assert capsys.readouterr().out == f"1 agent, {Standing.objects.count()} rows\n"
