"""The leads' figures: summed in the database, equal to what a count by hand gives."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from fractions import Fraction

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from adjudication import actions, figures
from adjudication.actions import Decision, correct_ruling, declare_conflict
from adjudication.figures import Asked, Scope
from adjudication.models import BlindScore, Case, Claim, Ruling
from bouts.models import Bundle, Challenge, User
from judging.models import Scorecard, Verdict
from judging.scoring.agreement import Standing, agreement
from judging.scoring.panel import settle
from judging.scoring.policy import CURRENT
from tests.adjudication.making import (
    AGREEING,
    DISAGREEING,
    GOOD_LEVELS,
    case_of,
    make_match,
)
from tests.factories import make_user

pytestmark = pytest.mark.django_db
SignedIn = Callable[[User], Client]
Kind = Ruling.Kind


def scope_of(user: User, **asked: object) -> Scope:
    return Scope(user, Asked(**asked), timezone.now())


def rule(case: Case, by: User, **decision: object) -> Ruling:
    actions.claim_case(case.pk, by=by)
    actions.commit_score(case.pk, by=by, levels=GOOD_LEVELS, reason="Sound.")
    case.refresh_from_db()
    made = {"kind": Kind.AVERAGE, "public_reason": "They each see a part.", **decision}
    return actions.rule(case.pk, Decision(**made), by=by, version=case.version)


def many_cases(
    like: Case, scores: Iterable[tuple[str, str, bool]], by: User
) -> list[tuple[Fraction, Fraction]]:
    """Make decided cases with a blind score and one vote each: (blind, vote, drawn at random)."""
    made = []
    for at, (blind, vote, is_drawn) in enumerate(scores):
        match = like.match
        match.pk, match._state.adding, match.slug = None, True, f"copy-{at}"
        match.save(force_insert=True)
        bundle = Bundle.objects.get(pk=like.bundle_id)
        bundle.pk, bundle._state.adding, bundle.match = None, True, match
        bundle.save(force_insert=True)
        card = Scorecard.objects.get(pk=like.scorecard_id)
        card.pk, card._state.adding, card.match, card.bundle = None, True, match, bundle
        card.save(force_insert=True)
        Verdict.objects.create(
            bundle=bundle, judge="strategy", seat="openai", source="uploaded", score=Fraction(vote)
        )
        case = Case.objects.create(
            match=match,
            challenge=like.challenge,
            team=like.team,
            bundle=bundle,
            scorecard=card,
            reason="random_audit" if is_drawn else "panel_disagreement",
            blocking=not is_drawn,
            evidence_digest=like.evidence_digest,
            stakes="standard",
            state="decided",
            opened_at=timezone.now() - timedelta(hours=at + 1),
            closed_at=timezone.now(),
        )
        BlindScore.objects.create(
            case=case, reviewer=by, levels={}, score=Fraction(blind), reason="so"
        )
        made.append((Fraction(blind), Fraction(vote)))
    return made


@pytest.fixture
def case(db: None) -> Case:
    return case_of(make_match())


SCORES = [(f"{400 + 37 * at}/7", f"{50 + 3 * at}", at % 2 == 0) for at in range(12)]


def test_agreement_with_the_panel_is_that_of_the_matrix(
    case: Case, lead: User, reviewer: User
) -> None:
    pairs = many_cases(case, SCORES, reviewer)
    drawn, everything, _ = figures.agreements(scope_of(lead))
    expected = agreement(list(zip(*pairs, strict=True)), CURRENT)
    found = everything.measured
    assert (found.units, found.pairable, found.within) == (12, 24, expected.within)
    for name in ("alpha_interval", "icc_a1", "icc_ak", "error_points"):
        assert float(getattr(found, name)) == pytest.approx(
            float(getattr(expected, name)), abs=1e-9
        )
    assert (everything.flagged, everything.why_not, everything.is_indicative) == (6, "", True)
    assert drawn.measured.units == 6
    assert "under 10 units" in drawn.why_not


def test_flagged_cases_alone_are_never_printed(case: Case, lead: User, reviewer: User) -> None:
    many_cases(case, [(blind, vote, False) for blind, vote, _ in SCORES], reviewer)
    drawn, everything, _ = figures.agreements(scope_of(lead))
    assert everything.measured.units == everything.flagged == 12
    assert "biased sample" in everything.why_not
    assert drawn.measured.units == 0


def test_what_does_not_vary_is_undefined(case: Case, lead: User, reviewer: User) -> None:
    many_cases(case, [("50", "50", True)] * 11, reviewer)
    drawn, _, _ = figures.agreements(scope_of(lead))
    assert dict(drawn.coefficients)["Alpha, interval"] == "undefined"
    assert dict(drawn.coefficients)["Raw, within 15"] == "1.0000"


def test_reviewers_with_one_another_make_a_gappy_matrix(
    case: Case, lead: User, reviewer: User
) -> None:
    second, third = (make_user(name, User.Role.REVIEWER) for name in ("silas", "tove"))
    many_cases(case, SCORES[:5], reviewer)
    matrix: dict[User, list[Fraction | None]] = {
        reviewer: [Fraction(blind) for blind, _, _ in SCORES[:5]],
        second: [None] * 5,
        third: [None] * 5,
    }
    for at, one in enumerate(Case.objects.filter(state="decided").order_by("pk")):
        for person in (second, third)[: at % 3]:
            score = Fraction(40 + 9 * at, 3)
            matrix[person][at] = score
            BlindScore.objects.create(
                case=one, reviewer=person, levels={}, score=score, reason="so"
            )
    expected = agreement(list(matrix.values()), CURRENT)
    found = figures.agreements(scope_of(lead))[2].measured
    assert (found.units, found.pairable, found.within) == (3, 7, expected.within)
    assert float(found.alpha_interval) == pytest.approx(float(expected.alpha_interval), abs=1e-9)
    assert found.icc_a1 is expected.icc_a1 is None
    assert found.standing is Standing.WITHHELD


VOTES = [
    (60, 76, 92),
    (60, 70, 80),
    (20, 70, 75),
    (70, 72, 95),
    (70, 71, 72),
    (55, 70, 86),
    (50, 65, 65),
]


def test_a_seat_is_discarded_as_the_rule_says(lead: User, competitor: User) -> None:
    expected = dict.fromkeys(CURRENT.panel.seats, 0)
    for at, votes in enumerate(VOTES):
        panel = dict(zip(("openai", "anthropic", "google"), votes, strict=True))
        make_match(f"m-{at}", votes=panel)
        outcome = settle({seat: Fraction(vote) for seat, vote in panel.items()}, CURRENT)
        if outcome.discarded:
            expected[outcome.discarded] += 1
    operator = make_user("olga", User.Role.OPS)
    found = figures.seats(scope_of(operator))
    assert {row.seat: row.discarded for row in found} == expected
    assert sum(expected.values()) == 3
    assert {row.votes for row in found} == {len(VOTES)}


def test_a_ruling_upholds_the_seats_that_lie_near_it(
    case: Case, lead: User, reviewer: User
) -> None:
    rule(case, reviewer, kind=Kind.ADOPT, seat="google")  # 76, beside 60 and 92
    found = {row.seat: row for row in figures.seats(scope_of(make_user("olga", User.Role.OPS)))}
    assert (found["google"].ruled, found["google"].upheld, found["google"].adopted) == (1, 1, 1)
    assert (found["openai"].ruled, found["openai"].upheld, found["openai"].adopted) == (1, 0, 0)


def test_only_the_live_decision_counts(
    case: Case, lead: User, reviewer: User, client_of: SignedIn
) -> None:
    first = rule(case, reviewer, kind=Kind.ADOPT, seat="google")
    case.refresh_from_db()
    second = correct_ruling(
        first.pk,
        Decision(kind=Kind.SET, score=Fraction(61), public_reason="Too kind."),
        by=reviewer,
        version=case.version,
    )
    scope = scope_of(lead)
    assert [row.rulings for row in figures.reviewers(scope) if row.reviewer == "rosa"] == [1]
    assert {row.adopted for row in figures.seats(scope)} == {0}
    rows = read(client_of(lead).get("/figures/decisions.csv"))
    assert [row["ruling"] for row in rows] == [str(second.pk)]
    assert "Too kind." in client_of(lead).get("/figures/").content.decode()
    assert "They each see" not in client_of(lead).get("/figures/").content.decode()


def read(response: object) -> list[dict[str, str]]:
    text = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(text)))


def test_the_file_names_match_judge_version_reviewer_and_ruling(
    case: Case, lead: User, reviewer: User, client_of: SignedIn
) -> None:
    ruling = rule(case, reviewer, public_reason='=HYPERLINK("x")')
    response = client_of(lead).get("/figures/decisions.csv")
    assert response.streaming
    (row,) = read(response)
    assert (row["match"], row["judge"], row["judge_version"]) == ("m-1", "strategy", "2026.1")
    assert (row["reviewer"], row["ruling"], row["case"]) == ("rosa", str(ruling.pk), str(case))
    assert row["score"] == "76.00"
    assert row["public_reason"].startswith("'=")
    page = client_of(lead).get("/figures/").content.decode()
    for words in (str(case), "rosa", "76.00", "=HYPERLINK(&quot;x&quot;)"):
        assert words in page


def test_filters_stand_in_the_address_and_narrow_everything(
    case: Case, lead: User, reviewer: User, client_of: SignedIn
) -> None:
    rule(case, reviewer)
    rule(case_of(make_match("m-2", challenge="other-work")), reviewer)
    client = client_of(lead)
    assert len(read(client.get("/figures/decisions.csv"))) == 2
    (row,) = read(client.get("/figures/decisions.csv?challenge=other-work"))
    assert row["match"] == "m-2"
    tomorrow = date.today() + timedelta(days=2)
    assert read(client.get(f"/figures/decisions.csv?since={tomorrow}")) == []
    page = client.get("/figures/?challenge=other-work").content.decode()
    assert "/figures/decisions.csv?challenge=other-work" in page
    assert client.get("/figures/?challenge=nowhere&since=never").status_code == 200
    other = scope_of(lead, challenge=Challenge.objects.get(slug="other-work"))
    assert figures.times(other).decided == 1


def test_time_is_from_opening_to_ruling(case: Case, lead: User, reviewer: User) -> None:
    many_cases(case, SCORES[:3], reviewer)  # opened one, two and three hours before
    found = figures.times(scope_of(lead))
    assert found.decided == 3
    assert round(found.median.total_seconds()) == 2 * 3600
    assert round(found.p90.total_seconds() / 360) == 28
    assert (found.within_target, found.within_limit) == (3, 3)
    (week,) = figures.weeks(scope_of(lead))
    assert (week.decided, week.starts.weekday()) == (3, 0)


def test_overdue_cases_and_held_ones_are_counted(case: Case, lead: User, reviewer: User) -> None:
    actions.claim_case(case.pk, by=reviewer)
    Case.objects.update(opened_at=timezone.now() - timedelta(hours=30))
    found = figures.overdue(scope_of(lead))
    assert (found.unsettled, found.past_target, found.past_limit) == (1, 1, 0)
    Case.objects.update(opened_at=timezone.now() - timedelta(hours=50))
    found = figures.overdue(scope_of(lead))
    assert (found.past_target, found.past_limit) == (0, 1)
    held = {row.reviewer: row.held for row in figures.reviewers(scope_of(lead))}
    assert held == {"rosa": 1, "lena": 0}
    Claim.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    row = figures.reviewers(scope_of(lead))[1]
    assert (row.reviewer, row.held, row.lapsed) == ("rosa", 0, 1)


def test_a_conflict_takes_cases_out_of_every_figure(
    case: Case, lead: User, reviewer: User, client_of: SignedIn
) -> None:
    rule(case, reviewer)
    declare_conflict(by=lead, team=case.team)
    scope = scope_of(lead)
    assert figures.times(scope).decided == 0
    assert sum(row.rulings for row in figures.reviewers(scope)) == 0
    assert {row.votes for row in figures.seats(scope)} == {0}
    assert read(client_of(lead).get("/figures/decisions.csv")) == []
    assert "m-1" not in client_of(lead).get("/figures/").content.decode()


def test_a_lead_who_owes_a_blind_score_reads_no_score_here(
    case: Case, lead: User, reviewer: User, client_of: SignedIn
) -> None:
    rule(case, reviewer)
    other = Case.objects.get(pk=case.pk)
    other.pk, other._state.adding = None, True
    other.reason, other.state, other.closed_at = "integrity_review", "open", None
    other.finding_key = "f" * 64
    other.save(force_insert=True)
    client = client_of(lead)
    assert read(client.get("/figures/decisions.csv")) == []
    assert "m-1" not in client.get("/figures/").content.decode()
    assert {row.votes for row in figures.seats(scope_of(lead))} == {0}


def test_leads_and_operators_alone_see_them(
    client_of: SignedIn, competitor: User, reviewer: User, lead: User, operator: User, admin: User
) -> None:
    for address in ("/figures/", "/figures/decisions.csv"):
        codes = {
            user.username: client_of(user).get(address).status_code
            for user in (competitor, reviewer, lead, operator, admin)
        }
        assert codes == {"ines": 404, "rosa": 403, "lena": 200, "tomas": 200, "ada": 200}
        assert Client().get(address).status_code == 302


def test_it_asks_as_often_for_many_cases(
    case: Case, lead: User, reviewer: User, client_of: SignedIn
) -> None:
    client = client_of(lead)

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/figures/").status_code == 200
        return len(queries)

    before = asked()
    many_cases(case, SCORES, reviewer)
    assert asked() == before <= 14


def test_pictures_hold_what_their_tables_hold(
    case: Case, lead: User, reviewer: User, client_of: SignedIn
) -> None:
    rule(case, reviewer)
    make_match("m-2", votes=AGREEING)
    make_match("m-3", votes={**DISAGREEING, "anthropic": 77})
    page = client_of(lead).get("/figures/").content.decode()
    for name in ("time-picture", "load-picture", "seat-picture"):
        start = page.index(f'<script id="{name}" type="application/json">')
        picture = json.loads(page[page.index(">", start) + 1 : page.index("</script>", start)])
        assert picture["data"] and all(trace["y"] for trace in picture["data"])
    assert page.count("<table") == 5
