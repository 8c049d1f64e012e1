"""Steps are done once, whatever happens to the worker."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from threading import Thread

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from bouts.actions import uploads
from bouts.models import AuditEntry, Bundle, User
from judging import steps
from judging.actions import rule_strategy
from judging.models import Scorecard, Step, Verdict
from tests import matches
from tests.matches import judge, store

pytestmark = pytest.mark.django_db

LAPSED = timedelta(seconds=-1)


def live(bundle: Bundle) -> Scorecard:
    return Scorecard.objects.live().get(bundle=bundle)


def states(bundle: Bundle) -> set[str]:
    return set(bundle.steps.values_list("state", flat=True))


def lease(bundle: Bundle, until: timedelta) -> None:
    """Put a bundle's steps into the hands of a worker who said no more."""
    bundle.steps.update(
        state=Step.State.RUNNING, attempts=1, lease_expires_at=timezone.now() + until
    )


def test_objective_is_stored_before_any_other_judge_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for name, do in list(steps.DOING.items()):

        def watched(work: steps.Work, name: str = name, do: object = do) -> None:
            seen.append((name, Verdict.objects.filter(judge="objective").exists()))
            do(work)  # type: ignore[operator]

        monkeypatch.setitem(steps.DOING, name, watched)
    judge(tmp_path)
    assert seen[0] == ("objective", False)
    assert [stored for _, stored in seen[1:]] == [True] * 5
    assert seen[-1][0] == "scorecard"


def test_work_delivered_twice_writes_once(tmp_path: Path) -> None:
    bundle = judge(tmp_path)
    verdicts, cards = Verdict.objects.count(), Scorecard.objects.count()
    assert steps.work_on(bundle.pk) is False
    assert (Verdict.objects.count(), Scorecard.objects.count()) == (verdicts, cards)
    assert bundle.steps.filter(attempts=1).count() == 6


def test_work_in_other_hands_is_left_alone_until_the_lease_lapses(tmp_path: Path) -> None:
    bundle = store(tmp_path)
    lease(bundle, timedelta(minutes=1))
    assert steps.work_on(bundle.pk) is False
    assert bundle.pk not in steps.stranded_bundles()
    lease(bundle, LAPSED)
    assert bundle.pk in steps.stranded_bundles()
    steps.work_on(bundle.pk)
    assert states(bundle) == {Step.State.DONE}
    assert set(bundle.steps.values_list("attempts", flat=True)) == {2}


def test_work_whose_message_was_lost_is_found_by_the_sweep(tmp_path: Path) -> None:
    bundle = store(tmp_path)
    assert bundle.pk not in steps.stranded_bundles()
    bundle.steps.update(created_at=timezone.now() - timedelta(hours=1))
    assert bundle.pk in steps.stranded_bundles()


def test_a_worker_that_lost_its_lease_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = store(tmp_path)
    honest = steps._take

    def slow(bundle_id: int) -> list[Step]:
        taken = honest(bundle_id)
        Step.objects.filter(bundle=bundle_id).update(attempts=2)  # somebody took it over
        return taken

    monkeypatch.setattr(steps, "_take", slow)
    steps.work_on(bundle.pk)
    assert not Verdict.objects.exists()
    assert states(bundle) == {Step.State.RUNNING}


def test_a_worker_that_dies_each_time_ends_as_failed_with_its_reason(tmp_path: Path) -> None:
    bundle = store(tmp_path)
    for _ in range(3):
        steps._take(bundle.pk)  # and then the process is gone
        bundle.steps.update(lease_expires_at=timezone.now() + LAPSED)
    steps.run_steps(bundle)
    assert states(bundle) == {Step.State.FAILED}
    assert bundle.steps.first().reason == "the worker died each time"


def test_a_judge_that_fails_is_tried_again_then_left_out_and_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(work: steps.Work) -> None:
        raise ZeroDivisionError("no telemetry for you")

    monkeypatch.setitem(steps.DOING, Step.Name.PROCESS, broken)
    bundle = store(tmp_path)
    assert steps.work_on(bundle.pk) is True
    assert not Scorecard.objects.exists()
    steps.run_steps(bundle)
    step = bundle.steps.get(name="process")
    assert (step.state, step.attempts) == (Step.State.FAILED, 3)
    assert "no telemetry for you" in step.reason
    scorecard = live(bundle)
    assert "incomplete" in scorecard.marks
    assert scorecard.breakdown["judges"]["process"]["reason"] == "failed"
    assert scorecard.total is not None


def test_a_failed_objective_leaves_no_total_and_says_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(steps.DOING, Step.Name.OBJECTIVE, lambda work: 1 / 0)
    scorecard = live(judge(tmp_path))
    assert (scorecard.status, scorecard.total) == (Scorecard.Status.FAILED, None)
    told = {name: scorecard.breakdown[name] for name in ("status", "total", "reason")}
    assert told == {"status": "failed", "total": None, "reason": "failed"}


def test_requeueing_a_failed_judge_completes_the_scorecard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operator: User
) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(steps.DOING, Step.Name.PROCESS, lambda work: 1 / 0)
        bundle = judge(tmp_path)
    steps.requeue(bundle.steps.get(name="process").pk, by=operator, reason="mended")
    steps.run_steps(bundle)
    assert live(bundle).number == 2
    assert live(bundle).breakdown["judges"]["process"]["reason"] == "no_telemetry"
    assert AuditEntry.objects.get(action="requeue_step").reason == "mended"


def test_judging_again_adds_verdicts_beside_the_old(tmp_path: Path, operator: User) -> None:
    bundle = judge(tmp_path)
    steps.requeue(bundle.steps.get(name="objective").pk, by=operator, reason="again")
    steps.run_steps(bundle)
    verdicts = Verdict.objects.filter(bundle=bundle, judge="objective")
    assert sorted(verdicts.values_list("is_live", flat=True)) == [False, True]
    assert live(bundle).number == 1  # it says the same


def test_a_bundle_superseded_while_it_was_judged_does_not_come_back(tmp_path: Path) -> None:
    first = store(tmp_path / "1")
    second = judge(tmp_path / "2", static=[{**matches.STATIC, "tests.test_a::test_twice": False}])
    steps.run_steps(first)
    assert live(second).is_live
    assert Scorecard.objects.live().count() == 1


@pytest.mark.django_db(transaction=True)
def test_eight_workers_at_once_write_each_verdict_and_scorecard_once(tmp_path: Path) -> None:
    bundle = store(tmp_path)

    def work() -> None:
        steps.run_steps(bundle)
        connection.close()

    def joined(threads: list[Thread]) -> Iterator[Thread]:
        for thread in threads:
            thread.start()
        yield from threads

    for thread in joined([Thread(target=work) for _ in range(8)]):
        thread.join()
    assert states(bundle) == {Step.State.DONE}
    assert Scorecard.objects.count() == 1
    seats = list(Verdict.objects.values_list("judge", "seat"))
    assert len(seats) == len(set(seats)) == 8


def test_a_match_takes_so_many_queries_however_much_is_in_it(
    tmp_path: Path, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    store(tmp_path)  # and with it the challenge, the team and the agent
    for match, runs in (("short", 1), ("long", 4)):
        static, hidden = [matches.STATIC] * runs, [matches.HIDDEN] * runs
        logs = {f"{number}.log": ("log", "done\n") for number in range(10 * runs)}
        folder = tmp_path / match
        matches.write_bundle(folder, match=match, static=static, hidden=hidden, files=logs)
        with django_assert_max_num_queries(15):
            bundle = uploads.upload(folder, name=match, by=None).bundle
        assert bundle is not None
        with django_assert_max_num_queries(40):
            steps.run_steps(bundle)
        assert states(bundle) == {Step.State.DONE}


def test_what_others_did_together_with_one_that_fails_is_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = steps.DOING[Step.Name.INTEGRITY]

    def broken(work: steps.Work) -> None:
        honest(work)
        raise ZeroDivisionError

    monkeypatch.setitem(steps.DOING, Step.Name.INTEGRITY, broken)
    bundle = judge(tmp_path)
    verdicts = Verdict.objects.filter(bundle=bundle)
    judges = sorted(verdicts.filter(seat="").values_list("judge", flat=True))
    assert judges == ["objective", "process", "recovery", "strategy"]
    assert bundle.steps.get(name="process").attempts == 1
    assert bundle.steps.get(name="integrity").attempts == 3


def test_judged_again_a_later_ruling_is_not_undone_by_the_one_that_carried_over(
    tmp_path: Path, reviewer: User, operator: User
) -> None:
    first = judge(tmp_path / "1")
    rule_strategy(first, Fraction(40), by=reviewer, reason="Read it.")
    second = judge(tmp_path / "2", claims=[{"statement": "All pass."}])
    assert live(second).breakdown["judges"]["strategy"]["raw"] == "40.00"
    rule_strategy(second, Fraction(60), by=reviewer, reason="Read it again.")
    steps.judge_again(second, by=operator, reason="to be sure")
    steps.run_steps(second)
    assert live(second).breakdown["judges"]["strategy"]["raw"] == "60.00"
