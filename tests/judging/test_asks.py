"""Models are asked once, outside any transaction, and what they say is stored before it counts."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from bouts import blobs
from bouts.models import AuditEntry, Blob, Bundle, User
from judging import asks, spending, steps
from judging.models import CallAttempt, CallResult, Finding, ModelCall, Scorecard, Step, Verdict
from judging.panel import client
from judging.replay import replay
from tests.judging import asking
from tests.matches import panel
from tests.vendors import replies
from tests.vendors.server import VendorServer

pytestmark = pytest.mark.django_db

SEATS = ("anthropic", "openai", "google")


@pytest.fixture
def vendors(vendor_server: VendorServer) -> VendorServer:
    return vendor_server


@pytest.fixture(autouse=True)
def seated(settings: Settings, vendors: VendorServer, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SEATS = asking.seats(vendors)
    asking.hurry(monkeypatch)


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    return asking.store(tmp_path)


def judged(bundle: Bundle) -> Scorecard:
    steps.run_steps(bundle)
    return Scorecard.objects.live().get(match=bundle.match)


def seat(bundle: Bundle, name: str, judge: str = "strategy") -> Verdict:
    return bundle.verdicts.get(judge=judge, seat=name, is_live=True)


def test_all_five_judges_answer_and_the_total_is_the_rule_s(
    bundle: Bundle, vendors: VendorServer
) -> None:
    for name, level in zip(SEATS, (3, 4, 4), strict=True):
        vendors.play(name, replies.good(level))
    card = judged(bundle)
    # Objective 100; no telemetry, so the reader's level 3 alone for Process and Recovery (50).
    judges = card.breakdown["judges"]
    assert judges["objective"]["raw"] == "100.00"
    assert (judges["process"]["raw"], judges["recovery"]["raw"]) == ("50.00", "50.00")
    assert judges["strategy"]["branch"] == "outlier_low"
    assert judges["strategy"]["raw"] == "75.00"
    # (45·100 + 20·50 + 20·75 + 15·50) / 100
    assert card.value == Fraction(7750, 100)
    assert card.breakdown["judges"]["strategy"]["source"] == "own"
    assert {len(vendors.asked(name)) for name in SEATS} == {4, 1}
    assert set(bundle.steps.values_list("state", flat=True)) == {Step.State.DONE}


def test_objective_is_stored_before_any_model_is_asked(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    honest = client.ask

    def watched(*args: Any, **options: Any) -> client.Call:
        seen.append(bundle.verdicts.filter(judge="objective", is_live=True).exists())
        return honest(*args, **options)

    monkeypatch.setattr(client, "ask", watched)
    judged(bundle)
    assert seen == [True] * 6


@pytest.mark.django_db(transaction=True)
def test_no_lock_is_held_and_no_transaction_open_while_a_model_thinks(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = client.ask

    def watched(*args: Any, **options: Any) -> client.Call:
        assert not connection.in_atomic_block
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype <> 'virtualxid'"
                " AND relation IS DISTINCT FROM 'pg_locks'::regclass AND mode LIKE 'Row%'"
            )
            assert cursor.fetchone() == (0,)
        return honest(*args, **options)

    monkeypatch.setattr(client, "ask", watched)
    judged(bundle)
    assert ModelCall.objects.count() == 6


def test_everything_about_a_call_is_stored_and_replays(
    bundle: Bundle, vendors: VendorServer
) -> None:
    vendors.play("openai", replies.level(9), replies.good(4))
    judged(bundle)
    call = ModelCall.objects.get(judge="strategy", seat="openai")
    asked = vendors.asked("openai")
    assert call.model == "gpt-test-2026-01-01"
    prompt = blobs.whole(call.prompt).decode()
    assert asking.PLAN.split("\n")[2] in prompt
    assert call.evidence_id == seat(bundle, "openai").evidence_digest
    result = call.result
    assert (result.outcome, result.tokens_in, result.tokens_out) == ("answered", 2400, 600)
    assert result.cost_usd == result.least_usd == Decimal("0.054")
    first, second = result.attempts.all()
    assert b'"level": 9' in blobs.whole(first.response) or b"level" in blobs.whole(first.response)
    assert second.remark and len(asked) == 2
    verdict = seat(bundle, "openai")
    assert verdict.call == call and verdict.score == 75
    assert len(verdict.detail["criteria"]) == 7
    assert verdict.evidence[0]["artifact"]
    again = replay(bundle.match)
    assert again.is_equal, again.differences
    assert again.calls == 6


def test_what_is_stored_of_a_call_cannot_be_changed(bundle: Bundle) -> None:
    judged(bundle)
    for rows in (ModelCall, CallResult, CallAttempt):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            rows.objects.update(id=7)
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            rows.objects.all()._raw_delete("default")


def test_one_changed_digit_of_a_response_is_found_by_a_replay(bundle: Bundle) -> None:
    judged(bundle)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE judging_verdict DISABLE TRIGGER USER")
        cursor.execute("UPDATE judging_verdict SET score = '74' WHERE seat = 'google'")
        cursor.execute("ALTER TABLE judging_verdict ENABLE TRIGGER USER")
    (difference, *_) = replay(bundle.match).differences
    assert "strategy, seat google" in difference.where
    assert (difference.field, difference.stored, difference.recomputed) == ("score", 74, 75)


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        (replies.refusal, "refused"),
        (replies.status(500), "unavailable"),
        (replies.wrong_ids, "invalid"),
        (replies.truncated, "invalid"),
        (replies.cut_off, "unavailable"),
    ],
)
def test_judging_goes_on_when_one_vendor_cannot(
    bundle: Bundle, vendors: VendorServer, reply: replies.Reply, state: str
) -> None:
    vendors.play("google", reply)
    card = judged(bundle)
    strategy = card.breakdown["judges"]["strategy"]
    assert (strategy["branch"], strategy["votes"], strategy["configured"]) == ("pair_agree", 2, 3)
    google = next(one for one in strategy["seats"] if one["seat"] == "google")
    assert (google["state"], google["score"]) == (state, None)
    assert google["reason"]
    assert card.status == "final"
    assert replay(bundle.match).is_equal


def test_two_vendors_down_open_a_case(bundle: Bundle, vendors: VendorServer) -> None:
    for name in ("openai", "google"):
        vendors.play(name, replies.status(503))
    card = judged(bundle)
    assert card.status == "provisional"
    assert [case["reason"] for case in card.breakdown["cases"]] == ["panel_incomplete"]


def test_the_same_question_delivered_twice_is_asked_once(
    bundle: Bundle, vendors: VendorServer
) -> None:
    judged(bundle)
    before = ModelCall.objects.count(), Verdict.objects.count(), len(vendors.asked())
    for step in bundle.steps.asks():
        assert asks.put(step.pk) is asks.After.NOTHING
    assert (ModelCall.objects.count(), Verdict.objects.count(), len(vendors.asked())) == before


def test_an_answer_whose_worker_died_is_taken_and_not_paid_for_again(
    bundle: Bundle, vendors: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps.work_on(bundle.pk)
    step = bundle.steps.get(name="strategy", seat="google")
    with monkeypatch.context() as dying:
        dying.setattr(asks, "_conclude", die)
        with pytest.raises(SystemExit):
            asks.put(step.pk)
    lapse(step)
    assert asks.put(step.pk) is asks.After.THE_JUDGES
    assert len(vendors.asked("google")) == ModelCall.objects.count() == 1
    assert seat(bundle, "google").score == 75


def test_an_answer_that_was_lost_is_asked_for_again_and_its_cost_is_unknown(
    bundle: Bundle, vendors: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps.work_on(bundle.pk)
    step = bundle.steps.get(name="strategy", seat="google")
    with monkeypatch.context() as dying:
        dying.setattr(asks, "_store", die)
        with pytest.raises(SystemExit):
            asks.put(step.pk)
    under_way = spending.on_match(bundle.match_id)
    assert under_way.under_way > 0 and under_way.unknown == 0
    lapse(step)
    later = timezone.now() + asks.settings.ASK_LEASE
    assert asks.put(step.pk) is asks.After.THE_JUDGES
    spent = spending.spent(ModelCall.objects.all(), later)
    assert (spent.calls, spent.unknown, spent.lost) == (2, 1, 1)
    assert str(spent) == "≥ $0.03"
    assert bundle.verdicts.filter(seat="google").count() == 1


def test_a_late_answer_is_kept_and_counts_as_spent_but_is_no_verdict(
    bundle: Bundle, vendors: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps.work_on(bundle.pk)
    step = bundle.steps.get(name="strategy", seat="google")
    honest = client.ask

    def slow(*args: Any, **options: Any) -> client.Call:
        call = honest(*args, **options)
        if len(vendors.asked("google")) == 1:
            lapse(step)
            asks.put(step.pk)  # somebody else is quicker
        return call

    monkeypatch.setattr(client, "ask", slow)
    assert asks.put(step.pk) is asks.After.NOTHING
    assert CallResult.objects.count() == 2
    assert bundle.verdicts.get(seat="google").call == ModelCall.objects.last()
    assert spending.on_match(bundle.match_id).least == Decimal("0.054")


def die(*args: Any, **options: Any) -> None:
    raise SystemExit


def lapse(step: Step) -> None:
    Step.objects.filter(pk=step.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))


def test_a_worker_that_dies_each_time_leaves_the_seat_out(bundle: Bundle) -> None:
    steps.work_on(bundle.pk)
    step = bundle.steps.get(name="strategy", seat="google")
    for _ in range(3):
        asks._take(step.pk)
        lapse(step)
    assert asks.put(step.pk) is asks.After.THE_JUDGES
    card = judged(bundle)
    step.refresh_from_db()
    assert step.state == Step.State.FAILED
    google = card.breakdown["judges"]["strategy"]["seats"][2]
    assert (google["state"], google["reason"]) == ("unavailable", asks.DIED)
    assert replay(bundle.match).is_equal


def test_nothing_is_spent_on_a_bundle_that_was_overtaken(
    bundle: Bundle, vendors: VendorServer, tmp_path: Path
) -> None:
    asking.store(tmp_path / "2", static=[{"tests.test_a::test_once": False}])
    steps.run_steps(bundle)
    assert vendors.asked() == []
    assert set(bundle.steps.asks().values_list("state", flat=True)) == {Step.State.HELD}
    assert asks.stranded() == []


# Budgets


def test_over_the_budget_of_the_match_the_seats_wait_and_say_so(
    bundle: Bundle, settings: Settings, vendors: VendorServer
) -> None:
    settings.BUDGET_MATCH_USD = Decimal("0.01")
    card = judged(bundle)
    assert vendors.asked() == []
    assert card.status == "pending"
    assert {wait["judge"] for wait in card.breakdown["waits"]} == {
        "process", "recovery", "integrity", "strategy",
    }  # fmt: skip
    assert card.breakdown["waits"][0]["why"] == "The budget of the match is used up."
    assert card.breakdown["cases"] == []
    held = bundle.steps.filter(state=Step.State.HELD)
    assert held.count() == 6
    assert "Spent $0.00 of $0.01, and this call may cost $0.8" in held[0].reason
    settings.BUDGET_MATCH_USD = Decimal(50)
    released = asks.stranded()
    assert len(released) == 6
    for step_id in released:
        assert asks.put(step_id) is asks.After.THE_JUDGES
    card = judged(bundle)
    assert card.status == "final" and card.breakdown["waits"] == []
    assert replay(bundle.match).is_equal


def test_the_budget_of_the_day_holds_for_all_matches(
    bundle: Bundle, settings: Settings, vendors: VendorServer, tmp_path: Path
) -> None:
    judged(bundle)
    settings.BUDGET_DAY_USD = spending.today().least
    other = asking.store(tmp_path / "2", match="m-2")
    before = len(vendors.asked())
    card = judged(other)
    assert len(vendors.asked()) == before
    assert card.breakdown["waits"][0]["why"] == "The budget of the day is used up."
    assert asks.stranded() == []
    tomorrow = timezone.now() + timedelta(days=1)
    assert spending.today(tomorrow).calls == 0


def test_an_ask_that_waits_for_money_stores_nothing_however_often_it_is_looked_at(
    bundle: Bundle, settings: Settings
) -> None:
    settings.BUDGET_MATCH_USD = Decimal("0.01")
    judged(bundle)
    before = Blob.objects.count()
    released = asks.stranded()
    assert len(released) == 6  # something is left of the budget, though not enough
    for step_id in released:
        assert asks.put(step_id) is asks.After.NOTHING
    assert Blob.objects.count() == before


def test_what_may_have_been_paid_counts_against_the_budget(
    bundle: Bundle, settings: Settings, vendors: VendorServer
) -> None:
    """Whoever writes evidence that models think about until they time out is not free."""
    vendors.play("google", *[replies.status(408)] * 4)
    steps.work_on(bundle.pk)
    step = bundle.steps.get(name="strategy", seat="google")
    asks.put(step.pk)
    assert ModelCall.objects.get().result.outcome == "timeout"
    spent = spending.on_match(bundle.match_id)
    assert (spent.least, str(spent)) == (0, "≥ $0.00")
    assert spent.so_far == ModelCall.objects.get().reserved_usd > Decimal("0.8")
    settings.BUDGET_MATCH_USD = Decimal(1)
    asks.put(bundle.steps.get(name="strategy", seat="openai").pk)
    held = bundle.steps.get(name="strategy", seat="openai")
    assert held.state == Step.State.HELD
    assert "Spent ≥ $0.00 of $1.00, perhaps $0.8" in held.reason


def test_a_vendor_that_cannot_be_reached_uses_up_no_budget(
    bundle: Bundle, settings: Settings, vendors: VendorServer
) -> None:
    vendors.play("google", *[replies.status(503)] * 4)
    steps.work_on(bundle.pk)
    asks.put(bundle.steps.get(name="strategy", seat="google").pk)
    spent = spending.on_match(bundle.match_id)
    assert (spent.unknown, spent.so_far) == (1, 0)


def test_a_cost_that_is_not_known_is_never_nothing(
    bundle: Bundle, settings: Settings, vendors: VendorServer
) -> None:
    settings.SEATS = asking.seats(vendors, google={"price": ""})
    judged(bundle)
    spent = spending.on_match(bundle.match_id)
    assert (spent.calls, spent.unknown) == (6, 1)
    assert str(spent) == "≥ $0.14"


# Whose verdicts count


def test_uploaded_verdicts_count_where_no_seat_is_configured(
    settings: Settings, tmp_path: Path, vendors: VendorServer
) -> None:
    settings.SEATS = {}
    card = judged(asking.store(tmp_path, verdicts=panel(70, 75, 80)))
    assert card.breakdown["judges"]["strategy"]["source"] == "uploaded"
    assert vendors.asked() == []


def test_our_own_seats_count_and_uploaded_verdicts_stay_visible(tmp_path: Path) -> None:
    bundle = asking.store(tmp_path, verdicts=panel(10, 15, 20))
    strategy = judged(bundle).breakdown["judges"]["strategy"]
    assert (strategy["source"], strategy["raw"]) == ("own", "75.00")
    assert [seat["score"] for seat in strategy["uploaded"]] == ["10.00", "15.00", "20.00"]
    assert replay(bundle.match).is_equal


def test_without_keys_and_uploads_strategy_waits_and_opens_no_case(
    settings: Settings, tmp_path: Path
) -> None:
    settings.SEATS = {}
    card = judged(asking.store(tmp_path))
    assert card.status == "pending"
    assert card.breakdown["judges"]["strategy"]["reason"] == "waiting"
    assert card.breakdown["cases"] == []


def test_two_seats_of_one_vendor_are_refused(
    settings: Settings, bundle: Bundle, vendors: VendorServer
) -> None:
    settings.SEATS = asking.seats(vendors, google={"model": "gpt-other", "wire": "openai"})
    card = judged(bundle)
    assert vendors.asked() == []
    assert card.status == "pending"
    held = bundle.steps.filter(state=Step.State.HELD).first()
    assert held is not None and "have one vendor, openai" in held.reason


# Again


def test_judging_again_makes_new_verdicts_beside_the_old(
    bundle: Bundle, vendors: VendorServer, operator: User
) -> None:
    judged(bundle)
    old = seat(bundle, "openai")
    vendors.play("openai", replies.good(5))
    steps.judge_again(bundle, by=operator, reason="The model was moved.")
    card = judged(bundle)
    new = seat(bundle, "openai")
    assert (new.score, new.call.round) == (100, 2)
    old.refresh_from_db()
    assert (old.score, old.is_live, old.call.round) == (75, False, 1)
    assert card.number == 2
    assert AuditEntry.objects.get(action="judge_again").reason == "The model was moved."
    again = replay(bundle.match)
    assert again.is_equal, again.differences
    assert (again.calls, again.scorecards) == (12, 2)


def test_a_match_that_waits_to_be_judged_again_keeps_its_score(
    bundle: Bundle, operator: User, settings: Settings
) -> None:
    before = judged(bundle)
    settings.BUDGET_MATCH_USD = Decimal("0.01")
    steps.judge_again(bundle, by=operator, reason="Once more.")
    assert judged(bundle) == before
    assert bundle.steps.filter(state=Step.State.HELD).count() == 6


def test_what_a_model_proposes_waits_for_a_reviewer(bundle: Bundle, vendors: VendorServer) -> None:
    finding = {"trigger": "reward_hacking", "note": "A case is singled out."}
    vendors.play("anthropic", replies.good(4, findings=[finding]))
    card = judged(bundle)
    row = Finding.objects.get(trigger="reward_hacking")
    assert (row.status, row.source, row.points) == ("proposed", "model", -15)
    assert row.evidence[0]["artifact"]
    assert card.adjustment == 0 and card.status == "provisional"
    assert replay(bundle.match).is_equal
