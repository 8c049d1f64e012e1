"""Counts: the six states sum to the total, and each agrees with its list."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise
from uuid import uuid4

import pytest
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudication import actions, tallies
from adjudication.census import census
from adjudication.forms import QueueFilter
from adjudication.models import Case, Claim, Conflict, Ruling, Tally
from adjudication.queue import UNSETTLED, listed, narrowed
from adjudication.refusals import BadDecision, Refused
from adjudication.urgency import Spot, everything, stretch
from bouts.models import Match, User
from tests.adjudication.conftest import counted_anew, kept
from tests.adjudication.making import (
    AGREEING,
    DISAGREEING,
    GOOD_LEVELS,
    finding,
    make_match,
    upload,
)

NOW = timezone.now()
LEASES = st.none() | st.integers(-30, 30).map(lambda minutes: NOW + timedelta(minutes=minutes))
CHIP = re.compile(r'class="chip".*?>([A-Za-z ]+) <span class="count">(\d+)<')
BADGE = re.compile(r'/queue/"[^>]*>Queue <span class="count">(\d+)<')
STORED = [state for state in Case.State if state != Case.State.CLAIMED]


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[str, object, object]]:
    return draw(st.lists(st.tuples(st.sampled_from(STORED), LEASES, st.integers(0, 72))))


@pytest.fixture
def match(db: None) -> Match:
    return make_match(votes=AGREEING)


@pytest.fixture
def halyards(db: None) -> Match:
    return make_match("m-2", team="halyard", agent="Gull", votes=AGREEING)


def put(
    match: Match, made: list[tuple[str, object, object]], *, elsewhere: Match | None = None
) -> None:
    """Put cases in the place of those there are; each third is on another match, if one is given."""
    Case.objects.all().delete()
    of_match = [match, match, elsewhere or match]
    bundles = {each.pk: (each.bundles.get(), each.scorecards.get()) for each in of_match}
    Case.objects.bulk_create(
        Case(
            match=on,
            challenge=on.challenge,
            team=on.agent.team,
            bundle=bundles[on.pk][0],
            scorecard=bundles[on.pk][1],
            reason="integrity_review",
            blocking=bool(age % 2),
            finding_key=str(number),
            evidence_digest=str(number),
            stakes="standard",
            state=state,
            held_until=lease,
            opened_at=NOW - timedelta(hours=age),
            closed_at=NOW if state in Case.SETTLED else None,
        )
        for number, (state, lease, age) in enumerate(made)
        for on in [of_match[number % 3]]
    )
    tallies.recount()


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows())
def test_the_counts_of_the_six_states_sum_to_the_total_and_agree_with_their_lists(
    admin: User, match: Match, made: list[tuple[str, object, object]]
) -> None:
    put(match, made)
    seen = Case.objects.visible_to(admin)
    counted = census(admin, NOW)
    assert list(counted.by_state) == Case.State.values
    whole = [case for part in everything(seen, admin, NOW, 7) for case in part]
    assert counted.total == len(made) == len(whole) == len({case.pk for case in whole})
    for state, count in counted.by_state.items():
        found = list(seen.in_state(state, NOW))
        assert len(found) == count
        assert {case.state_at(NOW) for case in found} <= {state}
    assert counted.unsettled == seen.unsettled().count() == len(listed(seen, UNSETTLED, NOW))
    for overdue, count in (("limit", counted.over_limit), ("target", counted.past_target)):
        assert len(narrowed(seen, {"overdue": overdue}, admin, NOW)) == count


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows(), st.integers(1, 4))
def test_pages_follow_each_other_forwards_and_back_in_one_order(
    reviewer: User, match: Match, made: list[tuple[str, object, object]], size: int
) -> None:
    put(match, made)
    seen = Case.objects.visible_to(reviewer)
    whole = [case.pk for part in everything(seen, reviewer, NOW, 1000) for case in part]
    pages, after = [], None
    while True:
        part = stretch(seen, reviewer, NOW, size=size, after=after)
        pages.append(part)
        if not part.after:
            break
        # Time goes by between two pages, and the order stays that of the first.
        after = Spot.read(part.after)
    assert [case.pk for part in pages for case in part.cases] == whole
    assert not pages[0].before
    for earlier, later in pairwise(pages):
        back = stretch(seen, reviewer, NOW, size=size, before=Spot.read(later.before))
        assert back.cases == earlier.cases
        assert bool(back.before) == bool(earlier.before)


def test_the_list_is_as_urgent_as_it_says(match: Match, reviewer: User) -> None:
    made = [(Case.State.OPEN, None, age) for age in (1, 30, 60, 2, 31, 61)]
    put(match, [*made, (Case.State.DECIDED, None, 99), (Case.State.VOID, None, 98)])
    Case.objects.filter(opened_at=NOW - timedelta(hours=2)).update(stakes="high")
    part = stretch(Case.objects.all(), reviewer, NOW, size=50)
    ages = [round((NOW - case.opened_at) / timedelta(hours=1)) for case in part.cases]
    # Odd ages are blocking.
    assert ages == [61, 60, 31, 30, 1, 2, 99, 98]


@pytest.mark.parametrize("token", ["", "x", "1-99-1-1", "1-1-1", "9" * 17 + "-1-1-1", "0-1-1-a"])
def test_an_odd_place_in_an_address_is_no_place(token: str) -> None:
    spot = Spot.read(token)
    assert spot is None or spot.rung == 1


def test_what_one_holds_comes_first(match: Match, reviewer: User) -> None:
    put(match, [(Case.State.OPEN, None, age) for age in (60, 50, 1)])
    youngest = Case.objects.order_by("opened_at").last()
    actions.claim_case(youngest.pk, by=reviewer)
    part = stretch(Case.objects.all(), reviewer, timezone.now(), size=2)
    assert part.cases[0] == youngest
    rest = stretch(Case.objects.all(), reviewer, NOW, size=2, after=Spot.read(part.after))
    assert len(rest.cases) == 1


@pytest.mark.parametrize("role", ["reviewer", "lead"])
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    rows(),
    st.sampled_from(
        [
            {},
            {"stakes": "standard"},
            {"stakes": "high"},
            {"holder": "nobody"},
            {"holder": "me"},
            {"overdue": "limit"},
            {"overdue": "target", "challenge": "retry-safe-refunds"},
            {"reason": "integrity_review"},
            {"reason": "random_audit"},
        ]
    ),
    st.booleans(),
)
def test_list_badge_api_and_csv_count_alike(
    request: pytest.FixtureRequest,
    role: str,
    match: Match,
    halyards: Match,
    client_of: Callable[[User], Client],
    made: list[tuple[str, object, object]],
    query: dict[str, str],
    has_conflict: bool,
) -> None:
    person = request.getfixturevalue(role)
    put(match, made, elsewhere=halyards)
    Conflict.objects.all().delete()
    if has_conflict:
        actions.declare_conflict(by=person, match=halyards)
    seen = Case.objects.exclude(match=halyards) if has_conflict else Case.objects.all()
    client = client_of(person)
    page = client.get("/queue/", query).content.decode()
    shown = {label.strip(): int(count) for label, count in CHIP.findall(page)}
    api = client.get("/api/cases/counts/", query).json()
    total = api.pop("total")
    assert sum(api.values()) == total == shown["All"]
    assert total == narrowed(seen, asked_for(query), person, timezone.now()).count()
    assert {Case.State(state).label: n for state, n in api.items()} == {
        label: count for label, count in shown.items() if label not in {"All", "Unsettled"}
    }
    unsettled = seen.unsettled().count()
    for elsewhere in (page, client.get("/conflicts/").content.decode()):
        badge = BADGE.search(elsewhere)
        assert (int(badge[1]) if badge else 0) == unsettled
    for state, count in [*api.items(), ("unsettled", shown["Unsettled"]), ("", total)]:
        asked = {**query, "state": state}
        assert client.get("/api/cases/", {**asked, "page_size": 1}).json()["count"] == count
        lines = b"".join(client.get("/queue/cases.csv", asked).streaming_content)
        assert len(list(csv.reader(io.StringIO(lines.decode())))) == count + 1


def asked_for(query: dict[str, str]) -> dict[str, object]:
    form = QueueFilter(query)
    assert form.is_valid()
    return form.cleaned_data


def test_who_is_yours_is_counted_by_live_claims(match: Match, reviewer: User) -> None:
    case = Case.objects.create(
        match=match,
        challenge=match.challenge,
        team=match.agent.team,
        bundle=match.bundles.get(),
        scorecard=match.scorecards.get(),
        reason="integrity_review",
        blocking=False,
        finding_key="x",
        evidence_digest="x",
        stakes="standard",
    )
    claim = Claim.objects.create(
        case=case, slot=1, reviewer=reviewer, expires_at=NOW + timedelta(minutes=5)
    )
    assert Case.objects.held_by(reviewer, NOW).count() == 1
    Claim.objects.filter(pk=claim.pk).update(expires_at=NOW - timedelta(minutes=5))
    assert Case.objects.held_by(reviewer, NOW).count() == 0


def test_adding_up_and_counting_anew_change_no_number(match: Match, halyards: Match) -> None:
    made = [(state, None, age) for age in range(4) for state in STORED]
    put(match, made, elsewhere=halyards)
    assert kept() == counted_anew()
    case = Case.objects.filter(state=Case.State.DECIDED).first()
    for number in (-1, 1, 1, -1):
        tallies.count(case, number)
    tallies.add_up()
    assert kept() == counted_anew()
    assert Tally.objects.count() == len(kept())
    Tally.objects.update(number=7)
    call_command("recount_cases")
    assert kept() == counted_anew()


ACTS = ("rule", "escalate", "correct", "upload", "same")


@settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.sampled_from(ACTS), min_size=1, max_size=4))
def test_what_is_kept_is_what_there_is_after_whatever_was_done(
    reviewer: User, lead: User, second: User, acts: list[str]
) -> None:
    slug = f"m-{uuid4().hex[:8]}"
    make_match(slug, findings=[finding("reward_hacking")])
    assert Case.objects.filter(match__slug=slug).count() == 2
    for number, act in enumerate(acts):
        do(act, slug, [reviewer, lead, second], number)
        assert kept() == counted_anew()
    total = census(reviewer, timezone.now())
    assert total.total == Case.objects.count()


def do(act: str, slug: str, people: list[User], number: int) -> None:
    """Do something to the first case of a match that allows it; where none does, nothing."""
    if act in ("upload", "same"):
        votes = DISAGREEING if act == "same" else {**DISAGREEING, "google": 70 + number}
        upload(slug, votes=votes, files={"NOTES.md": f"# Take {number}\n".encode()})
        return
    match = Match.objects.get(slug=slug)
    if act == "correct":
        ruling = Ruling.objects.in_force().filter(case__match=match).first()
        if ruling is not None:
            with suppress(Refused, BadDecision, PermissionDenied):
                kind = "dismiss" if ruling.case.is_on_finding else "average"
                decision = actions.Decision(kind, "On second thoughts.")
                version = ruling.case.version
                actions.correct_ruling(ruling.pk, decision, by=ruling.reviewer, version=version)
        return
    for case in Case.objects.filter(match=match).unsettled():
        for person in people:
            with suppress(Refused, BadDecision, PermissionDenied):
                actions.claim_case(case.pk, by=person)
                own = {"opinion": "confirm"} if case.is_on_finding else {"levels": GOOD_LEVELS}
                actions.commit_score(case.pk, by=person, reason="So.", **own)
                kind = "confirm" if case.is_on_finding else "uphold"
                kind = "escalate" if act == "escalate" else kind
                decision = actions.Decision(kind, "So it is.")
                actions.rule(case.pk, decision, by=person, version=case.version)
                return
