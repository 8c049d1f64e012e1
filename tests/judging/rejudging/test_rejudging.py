"""A rejudging shows what it would come to, and then does just that, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bouts.formats.junit import JUnitReader
from bouts.formats.types import Outcome
from bouts.models import AuditEntry, Challenge, Match, User
from judging import narrow, standings
from judging.actions import decide_finding, rule_strategy
from judging.judges.integrity import IntegrityJudge
from judging.judges.objective import ObjectiveJudge
from judging.models import RejudgedMatch, Rejudging, Scorecard, Standing, Verdict
from judging.rejudging import actions, work
from judging.rejudging.choice import Choice
from judging.replay import replay
from judging.verdicts import VERSIONS
from tests import matches
from tests.judging.rejudging.making import (
    LOCK,
    TWO_JUDGES,
    apply,
    make_match,
    make_mended,
    mend,
    preview,
    propose,
    total_of,
)

pytestmark = pytest.mark.django_db

# What a rejudging writes for itself, and what is counted or logged beside it.
OWN = {"judging_rejudging", "judging_rejudgedmatch", "bouts_auditentry", "django_session"}


def everything() -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables, but for those of rejudgings themselves."""
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)} - OWN
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f'SELECT row::text FROM "{table}" row ORDER BY 1')
            found[table] = cursor.fetchall()
    return found


def boards() -> set[tuple[str, ...]]:
    fields = [f.attname for f in Standing._meta.fields if f.attname not in {"id", "updated_at"}]
    return {tuple(map(str, row)) for row in Standing.objects.values_list(*fields)}


@pytest.fixture
def mended(tmp_path: Path) -> None:
    make_mended(tmp_path)


@pytest.fixture
def rejudging(mended: None, operator: User) -> Rejudging:
    return preview(propose(operator))


def row_of(rejudging: Rejudging, match: str) -> RejudgedMatch:
    return rejudging.matches.get(match__slug=match)


def test_a_preview_says_what_would_move_and_counts_for_nothing(
    mended: None, operator: User
) -> None:
    before = everything()
    rejudging = preview(propose(operator))
    assert everything() == before
    row = row_of(rejudging, "m-1")
    # The critical key passes, the lock fails: 3 of 5 parts of Objective's hidden suite, now 3 of 4.
    assert (row.state, row.outcome) == ("done", "up")
    # Two thirds of 15 points of Objective, at 45 of 65 parts.
    assert row.moved == Decimal("6.92")
    (move,) = row.candidate["moves"]
    assert move["row"] == "objective"
    assert move["counted"] == ["73.33", "83.33"]
    assert move["why"].endswith("hidden tests 75")
    assert row.candidate["challenge_version"] == [1, 2]
    # Nothing moves but the board that it stands on: that is a change too.
    assert row_of(rejudging, "m-2").outcome == "changed"


def test_applied_it_is_what_it_said_and_what_a_fresh_judging_says(
    rejudging: Rejudging, operator: User, tmp_path: Path
) -> None:
    row = row_of(rejudging, "m-1")
    applied = apply(rejudging, operator)
    assert applied.state == Rejudging.State.APPLIED
    row.refresh_from_db()
    card = Match.objects.get(slug="m-1").scorecards.get(is_live=True)
    assert row.applied == card
    assert (card.number, card.cause, card.reason) == (2, "rejudge", "The lock was graded too high.")
    assert card.by == operator
    assert str(card.total) == row.candidate["card"]["total"]
    assert card.challenge_version.number == 2
    assert row.before.number == 1
    assert not Scorecard.objects.get(pk=row.before_id).is_live

    fresh = make_match(tmp_path, "m-9", name="Kite", challenge=mended_challenge())
    other = Match.objects.get(slug="m-9").scorecards.get(is_live=True)
    assert other.challenge_version == card.challenge_version
    assert fresh.number == 1
    for name in ("ledger", "judges", "total", "status", "marks", "integrity", "policy"):
        assert other.breakdown[name] == card.breakdown[name], name


def mended_challenge() -> dict[str, Any]:
    return Challenge.objects.get().versions.get(is_live=True).document


def test_boards_equal_a_recount_and_the_ranks_that_were_shown(
    rejudging: Rejudging, operator: User
) -> None:
    shown = {board["version"]: board for board in rejudging.ranks}
    assert {row["agent"]: row["rank"] for row in shown[2]["rows"]} == {
        "Wren 2.3": [None, 1],
        "Heron 2.3": [None, 2],
    }
    assert {row["agent"]: row["rank"] for row in shown[1]["rows"]} == {
        "Wren 2.3": [1, None],
        "Heron 2.3": [2, None],
    }
    apply(rejudging, operator)
    version = Challenge.objects.get().versions.get(number=2)
    ranked = standings.ranked_rows(version)
    assert {str(row.agent): standings.rank_of(row.rounded, ranked) for row in ranked} == {
        "Wren 2.3": 1,
        "Heron 2.3": 2,
    }
    standings.settle_bands()
    narrow.settle()
    kept = boards()
    narrow.recount()
    assert boards() == kept


def test_dropped_it_changes_nothing_and_stays_on_record(mended: None, operator: User) -> None:
    before = everything()
    rejudging = preview(propose(operator))
    actions.drop(rejudging.pk, by=operator)
    actions.drop(rejudging.pk, by=operator)
    assert everything() == before
    rejudging.refresh_from_db()
    assert rejudging.state == Rejudging.State.DROPPED
    assert row_of(rejudging, "m-1").candidate["card"]["total"]
    assert AuditEntry.objects.filter(action="drop_rejudging").count() == 1
    with pytest.raises(actions.Settled):
        actions.ask_to_apply(rejudging.pk, seen=rejudging.ranked_at, by=operator)
    assert not actions.apply(rejudging.pk)


def test_applied_twice_it_counts_once(rejudging: Rejudging, operator: User) -> None:
    apply(rejudging, operator)
    before = everything()
    actions.ask_to_apply(rejudging.pk, seen=rejudging.ranked_at, by=operator)
    assert not actions.apply(rejudging.pk)
    assert everything() == before
    with pytest.raises(actions.Settled):
        actions.drop(rejudging.pk, by=operator)


def test_what_was_uploaded_since_is_left_out(
    rejudging: Rejudging, operator: User, tmp_path: Path
) -> None:
    matches.judge(
        tmp_path / "again",
        match="m-1",
        agent={"name": "Heron"},
        hidden=[{**matches.HIDDEN}],
        challenge=mended_challenge(),
    )
    assert [row.match.slug for row in rejudging.matches.changed_since()] == ["m-1"]
    total = total_of("m-1")
    apply(rejudging, operator)
    row = row_of(rejudging, "m-1")
    assert (row.state, row.reason) == ("left out", actions.CHANGED)
    assert total_of("m-1") == total
    assert row_of(rejudging, "m-2").applied is not None


def test_what_was_ruled_since_is_previewed_anew_and_the_ruling_carries_over(
    rejudging: Rejudging, operator: User, reviewer: User
) -> None:
    bundle = Match.objects.get(slug="m-1").bundles.get()
    rule_strategy(bundle, Fraction(50), by=reviewer, reason="Read it.")
    assert actions.preview_anew(rejudging.pk, by=operator) == 1
    rejudging.refresh_from_db()
    assert rejudging.ranks is None
    with pytest.raises(actions.NotReady):
        actions.ask_to_apply(rejudging.pk, seen=rejudging.ranked_at, by=operator)
    preview(rejudging)
    assert row_of(rejudging, "m-1").candidate["rulings"] == {"carried": ["strategy"], "fallen": []}
    apply(rejudging, operator)
    card = Match.objects.get(slug="m-1").scorecards.get(is_live=True)
    assert card.breakdown["judges"]["strategy"]["raw"] == "50.00"


def test_two_rejudgings_of_one_match_do_not_overwrite_each_other(
    mended: None, operator: User
) -> None:
    first, second = preview(propose(operator)), preview(propose(operator))
    apply(first, operator)
    apply(second, operator)
    assert {row.state for row in second.matches.all()} == {"left out"}
    assert Match.objects.get(slug="m-1").scorecards.count() == 2


def test_a_frozen_challenge_is_refused_also_when_it_was_frozen_since(
    rejudging: Rejudging, operator: User
) -> None:
    Challenge.objects.update(state=Challenge.State.FROZEN)
    with pytest.raises(actions.ChallengeFrozen):
        propose(operator)
    apply(rejudging, operator)
    assert {row.reason for row in rejudging.matches.all()} == {"Its challenge is frozen."}
    assert Scorecard.objects.filter(cause="rejudge").count() == 0


def test_a_match_that_is_still_being_judged_is_left_out(
    mended: None, operator: User, tmp_path: Path
) -> None:
    matches.store(tmp_path / "m-3", match="m-3", challenge=mended_challenge())
    rejudging = preview(propose(operator))
    row = row_of(rejudging, "m-3")
    assert (row.state, row.reason) == ("left out", "Its judges are still at work.")


def test_a_judge_that_fails_fails_its_match_alone_and_may_be_tried_again(
    mended: None, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = ObjectiveJudge.judge

    def fails(self: ObjectiveJudge, dossier: Any, policy: Any) -> Any:
        if dossier.names()[2] == "Heron":
            raise ValueError("no such number")
        return judge(self, dossier, policy)

    with monkeypatch.context() as patch:
        patch.setattr(ObjectiveJudge, "judge", fails)
        rejudging = preview(propose(operator))
    row = row_of(rejudging, "m-1")
    assert (row.state, row.attempts, row.reason) == ("failed", 3, "ValueError('no such number')")
    assert row_of(rejudging, "m-2").state == "done"
    assert actions.preview_anew(rejudging.pk, by=operator) == 1
    assert row_of(preview(rejudging), "m-1").outcome == "up"


def test_a_newer_judge_finds_what_older_ones_have_judged(
    tmp_path: Path, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_match(tmp_path, "m-1")
    with pytest.raises(actions.NothingChosen):
        propose(operator, older=True)
    monkeypatch.setitem(VERSIONS, "objective", 2)
    rejudging = preview(propose(operator, older=True))
    row = row_of(rejudging, "m-1")
    assert row.outcome == "unchanged"
    assert row.candidate["judge_versions"] == {"objective": [1, 2]}
    apply(rejudging, operator)
    # It says the same, and so there is no new scorecard; but it is judged by the newer one now.
    assert Scorecard.objects.count() == 1
    assert Verdict.objects.get(judge="objective", is_live=True).judge_version == 2
    with pytest.raises(actions.NothingChosen):
        propose(operator, older=True)


def test_a_newer_reader_reads_the_files_anew(
    tmp_path: Path, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = make_match(tmp_path, "m-1")
    read = JUnitReader.read

    def reads_all_as_passed(self: JUnitReader, *arguments: Any) -> Iterator[Any]:
        for result in read(self, *arguments):
            yield replace(result, outcome=Outcome.PASSED)

    monkeypatch.setattr(JUnitReader, "read", reads_all_as_passed)
    monkeypatch.setattr(JUnitReader, "version", JUnitReader.version + 1)
    before = everything()
    rejudging = preview(propose(operator, older=True))
    assert everything() == before
    row = row_of(rejudging, "m-1")
    assert row.candidate["reads"] is True
    assert row.candidate["moves"][0]["counted"] == ["73.33", "100.00"]
    apply(rejudging, operator)
    file = bundle.artifacts.get(path="hidden-1.xml")
    assert file.reader_version == JUnitReader.version
    assert set(file.test_results.values_list("outcome", flat=True)) == {"passed"}
    assert replay(bundle.match).is_equal
    with pytest.raises(actions.NothingChosen):
        propose(operator, older=True)


def test_a_finding_that_is_not_found_again_falls_with_what_was_decided_of_it(
    tmp_path: Path, operator: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = matches.found("plagiarism", "final.diff", "diff:refunds.py:1", confidence="high")
    bundle = make_match(tmp_path, "m-1", findings=[finding])
    key = bundle.findings.get().key
    decide_finding(bundle, key, status="applied", by=reviewer, reason="It is copied.")
    assert "flagged" in Scorecard.objects.get(is_live=True).marks
    judge = IntegrityJudge.judge

    def finds_nothing(self: IntegrityJudge, *args: Any) -> Any:
        return replace(judge(self, *args), found=())

    monkeypatch.setattr(IntegrityJudge, "judge", finds_nothing)
    rejudging = preview(propose(operator))
    row = row_of(rejudging, "m-1")
    assert row.candidate["rulings"] == {"carried": [], "fallen": ["plagiarism"]}
    assert row.outcome == "up"
    assert [move["row"] for move in row.candidate["moves"] if move["is_finding"]] == ["plagiarism"]
    apply(rejudging, operator)
    assert bundle.findings.filter(is_live=True).count() == 0
    assert bundle.findings.count() == 2  # found, decided: both stay


def test_a_decision_holds_where_the_finding_has_joined_another(
    tmp_path: Path, operator: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = make_match(tmp_path, "m-1", findings=[FINDING])
    key = bundle.findings.get().key
    decide_finding(bundle, key, status="applied", by=reviewer, reason="It is copied.")
    judge = IntegrityJudge.judge

    def finds_more(self: IntegrityJudge, *args: Any) -> Any:
        integrity = judge(self, *args)
        joined = (replace(one, key="f" * 64, also_known_as=(one.key,)) for one in integrity.found)
        return replace(integrity, found=tuple(joined))

    monkeypatch.setattr(IntegrityJudge, "judge", finds_more)
    rejudging = preview(propose(operator))
    row = row_of(rejudging, "m-1")
    assert row.candidate["rulings"] == {"carried": ["plagiarism"], "fallen": []}
    apply(rejudging, operator)
    row.refresh_from_db()
    assert (row.state, row.reason) == ("done", "")
    live = bundle.findings.get(is_live=True)
    assert (live.key, live.status, live.decided_by) == ("f" * 64, "applied", reviewer)


def test_a_decision_on_a_finding_that_is_found_again_stands(
    tmp_path: Path, operator: User, reviewer: User
) -> None:
    finding = matches.found("plagiarism", "final.diff", "diff:refunds.py:1", confidence="high")
    bundle = make_match(tmp_path, "m-1", findings=[finding])
    key = bundle.findings.get().key
    decide_finding(bundle, key, status="dismissed", by=reviewer, reason="It is not.")
    mend(tmp_path / "mended")
    rejudging = preview(propose(operator))
    assert row_of(rejudging, "m-1").candidate["rulings"]["carried"] == ["plagiarism"]
    apply(rejudging, operator)
    live = bundle.findings.get(is_live=True)
    assert (live.status, live.decided_by, live.reason) == ("dismissed", reviewer, "It is not.")


def test_a_replay_comes_out_equal_and_notes_what_was_superseded(
    rejudging: Rejudging, operator: User
) -> None:
    apply(rejudging, operator)
    replayed = replay(Match.objects.get(slug="m-1"))
    assert replayed.is_equal, replayed.differences
    assert replayed.scorecards == 2
    assert any("objective" in note for note in replayed.notes)
    assert not any("scorecard 2" in note for note in replayed.notes)


def test_what_a_new_version_hides_is_hidden_and_what_was_hidden_stays_so(
    tmp_path: Path, operator: User
) -> None:
    make_match(tmp_path, "m-1")
    before = set(Match.objects.get().bundles.get().hidden_words)
    tests = [
        *matches.CHALLENGE["tests"][:3],
        {
            "id": "hidden.t::test_pemba",
            "suite": "hidden",
            "severity": "high",
            "path": "hidden/t.py",
        },
    ]
    matches.store_challenge(
        tmp_path / "mended", judges=["objective", "strategy", "integrity"], tests=tests
    )
    apply(preview(propose(operator)), operator)
    bundle = Match.objects.get().bundles.get()
    assert before < set(bundle.hidden_words)
    assert any("pemba" in word for word in bundle.hidden_words)
    assert bundle.artifacts.get(path="hidden-1.xml").facts["quotes_hidden"] is True
    assert bundle.artifacts.get(path="final.diff").facts["quotes_hidden"] is False


def test_nobody_is_told_of_a_hidden_test_by_the_reason(mended: None, operator: User) -> None:
    with pytest.raises(actions.TellsOfHidden):
        propose(operator, challenge="refunds", reason=f"{matches.CANARY}_lock was too grave.")
    assert not Rejudging.objects.exists()


def test_nobody_is_told_of_a_hidden_test_that_only_the_newest_version_has(
    mended: None, operator: User, tmp_path: Path
) -> None:
    """It would stand on matches of other challenges, to which it is no secret."""
    added = {"id": "hidden.t::test_pomegranate", "suite": "hidden"}
    tests = [*matches.CHALLENGE["tests"], added]
    matches.store_challenge(tmp_path / "added", judges=TWO_JUDGES, tests=tests)
    reason = "Without test_pomegranate it was too easy."
    with pytest.raises(actions.TellsOfHidden):
        propose(operator, reason=reason)
    assert propose(operator, reason=reason, to_newest=False, challenge="refunds")


def test_days_are_those_of_utc_and_both_included(mended: None) -> None:
    """The matches began on 2026-03-12 at 14:00 UTC."""

    def found(**days: str) -> int:
        return Choice(**days).matches().count()

    assert found(since="2026-03-12", until="2026-03-12") == 2
    assert found(since="2026-03-13") == found(until="2026-03-11") == 0
    assert found(since="0001-01-01", until="9999-12-31") == 2


def test_a_worker_that_died_leaves_its_match_to_the_next_one(mended: None, operator: User) -> None:
    rejudging = propose(operator)
    taken = work._take(rejudging.pk)
    assert taken is not None
    assert work.stranded() == []
    RejudgedMatch.objects.update(lease_expires_at="2026-01-01T00:00Z")
    RejudgedMatch.objects.filter(state="waiting").update(lease_expires_at=None)
    assert work.stranded() == [rejudging.pk]
    preview(rejudging)
    assert {row.state for row in rejudging.matches.all()} == {"done"}
    # What the dead one would have written comes too late.
    work._finish(taken, state="failed", reason="late")
    assert row_of(rejudging, taken.match.slug).state == "done"


def test_a_message_that_was_lost_is_sent_again_and_one_at_work_is_left(
    mended: None, operator: User
) -> None:
    rejudging = propose(operator)
    assert work.stranded() == []
    Rejudging.objects.update(created_at="2026-01-01T00:00Z")
    assert work.stranded() == [rejudging.pk]
    assert work.work_on(rejudging.pk)  # one is done just now: whoever did it goes on
    assert work.stranded() == []
    RejudgedMatch.objects.filter(state="done").update(finished_at="2026-01-01T00:00Z")
    assert work.stranded() == [rejudging.pk]
    preview(rejudging)
    assert work.stranded() == []


def test_an_apply_that_fails_leaves_nothing_and_opens_it_again(
    rejudging: Rejudging, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(match: Match) -> None:
        raise ValueError("no boards today")

    actions.ask_to_apply(rejudging.pk, seen=rejudging.ranked_at, by=operator)
    before = everything()
    with monkeypatch.context() as patch:
        patch.setattr(standings, "refresh", fails)
        for _ in range(3):
            with pytest.raises(ValueError, match="no boards"):
                actions.apply(rejudging.pk)
    assert everything() == before
    rejudging.refresh_from_db()
    assert (rejudging.state, rejudging.trouble) == ("open", "ValueError('no boards today')")
    apply(rejudging, operator)
    assert rejudging.trouble == ""


SEVERITIES = st.sampled_from(("critical", "high", "medium"))
FINDING = matches.found("plagiarism", "final.diff", "diff:refunds.py:1", confidence="high")


def test_whatever_was_mended_a_drop_changes_nothing_and_an_apply_is_a_fresh_judging_once(
    tmp_path: Path, operator: User
) -> None:
    @given(SEVERITIES, SEVERITIES, st.booleans(), st.booleans())
    @example("medium", "critical", True, True)
    @settings(max_examples=5, deadline=None)
    def holds(before: str, after: str, passes: bool, has_finding: bool) -> None:
        results = [{**matches.HIDDEN, LOCK: passes}]
        findings = [FINDING] if has_finding else []
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        with transaction.atomic():
            mend(folder / "before", before)
            make_match(
                folder, "m-1", hidden=results, findings=findings, challenge=mended_challenge()
            )
            mend(folder / "after", after)
            as_it_was = everything()
            actions.drop(preview(propose(operator)).pk, by=operator)
            assert everything() == as_it_was
            rejudging = apply(preview(propose(operator)), operator)
            applied = everything()
            assert not actions.apply(rejudging.pk)
            apply(preview(propose(operator)), operator)
            assert everything() == applied
            make_match(
                folder, "m-2", hidden=results, findings=findings, challenge=mended_challenge()
            )
            one, fresh = (
                Scorecard.objects.get(match__slug=slug, is_live=True) for slug in ("m-1", "m-2")
            )
            assert one.challenge_version == fresh.challenge_version
            told = {"match", "revision"}
            assert {k: v for k, v in one.breakdown.items() if k not in told} == {
                k: v for k, v in fresh.breakdown.items() if k not in told
            }
            transaction.set_rollback(True)

    holds()


@pytest.fixture(autouse=True)
def nobody_is_drawn(settings: Any) -> Iterator[None]:
    settings.RANDOM_AUDIT_PERCENT = 0
    yield
