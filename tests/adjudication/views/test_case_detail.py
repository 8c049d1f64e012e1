from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from adjudication import actions
from adjudication.models import BlindScore, Case, Claim, Draft, Ruling
from bouts.models import AuditEntry, Challenge, User
from tests.adjudication.conftest import lapse
from tests.adjudication.making import (
    AGREEING,
    EVENTS,
    GOOD_LEVELS,
    case_of,
    finding,
    make_match,
    verdicts,
)
from tests.factories import make_user

BECAUSE = "The three votes together say it fairly."


def text_of(response: Any) -> str:
    return html.unescape(response.content.decode())


def address(case: Case, more: str = "") -> str:
    return f"/cases/{case.pk}/{more}"


def commit(client: Client, case: Case, **changes: Any) -> Any:
    client.post(address(case, "claim/"))
    own = {"opinion": "dismiss"} if case.is_on_finding else GOOD_LEVELS
    data = {**own, "reason": "A clean second idea.", **changes}
    return client.post(address(case, "commit/"), data, follow=True)


def sign(client: Client, case: Case, ruling: str, **changes: Any) -> Any:
    case.refresh_from_db()
    data = {"version": case.version, "ruling": ruling, "public_reason": BECAUSE, **changes}
    return client.post(address(case, "rule/"), data, follow="next" not in changes)


# Who sees it


def test_a_competitor_and_a_conflicted_reviewer_get_404(
    case: Case, competitor: User, client_of
) -> None:
    member = make_user("nils", User.Role.REVIEWER, teams=("northbank",))
    for person in (competitor, member):
        client = client_of(person)
        assert client.get(address(case)).status_code == 404
        for change in ("claim/", "draft/", "release/", "decline/", "commit/", "rule/", "preview/"):
            assert client.post(address(case, change)).status_code == 404, change


def test_whoever_is_not_signed_in_is_sent_to_sign_in(case: Case) -> None:
    assert Client().get(address(case))["Location"].startswith("/sign-in/")


def test_ops_read_everything_and_change_nothing(case: Case, operator: User, client_of) -> None:
    client = client_of(operator)
    page = text_of(client.get(address(case)))
    assert "Heron 2.3" in page
    assert "claude-sonnet-4-5-20250929" in page
    for change in ("claim/", "commit/", "rule/", "release/", "decline/", "take-over/"):
        assert client.post(address(case, change)).status_code == 403, change


# The blind half


def test_the_blind_half_shows_what_the_panel_saw(case: Case, reviewer: User, client_of) -> None:
    client = client_of(reviewer)
    page = text_of(client.get(address(case)))
    assert "Reproduce first, then find where the key is lost" in page
    assert "0 of 1 tests pass" in page
    assert "back to earlier content" in page
    assert page.count('class="seat-letter"') == 3
    assert "with lock(key):" in text_of(client.get(address(case), {"tab": "diff"}))
    assert "1 of 1 pass: pytest -q" in text_of(client.get(address(case), {"tab": "runs"}))
    assert "The lock is per key." in text_of(client.get(address(case), {"tab": "writing"}))


def test_htmx_gets_the_evidence_alone(case: Case, reviewer: User, client_of) -> None:
    page = text_of(
        client_of(reviewer).get(address(case), {"tab": "diff"}, headers={"HX-Request": "true"})
    )
    assert page.lstrip().startswith('<section class="stack" id="evidence"')
    assert "<html" not in page


def test_an_evidence_link_opens_the_page_with_its_place_marked(
    case: Case, reviewer: User, client_of
) -> None:
    client = client_of(reviewer)
    page = text_of(client.get(address(case)))
    query = re.search(r'\?(tab=diff&at=[^#"]+)#at', page)[1]
    marked = text_of(client.get(f"{address(case)}?{query}"))
    assert re.search(r'id="at" class="add is-target">.*with lock\(key\)', marked)


def test_markup_in_uploaded_texts_is_shown_and_not_run(reviewer: User, client_of) -> None:
    script = "<script>alert(1)</script>"
    case = case_of(make_match(rationales={"openai": script}, files={"NOTES.md": script.encode()}))
    client = client_of(reviewer)
    for tab in ("path", "diff", "runs", "writing"):
        assert script not in client.get(address(case), {"tab": tab}).content.decode()
    assert script in text_of(client.get(address(case), {"tab": "writing"}))


def test_a_long_timeline_is_shown_page_by_page_at_a_fixed_cost(reviewer: User, client_of) -> None:
    from bouts.formats.types import Event, EventKind

    plans = [Event(n, EventKind.PLAN, t=float(n), text=f"Plan {n}") for n in range(10, 3000)]
    small, large = case_of(make_match()), case_of(make_match("m-2", events=[*EVENTS, *plans]))
    client = client_of(reviewer)
    costs = []
    for case in (small, large):
        client.get(address(case))
        with CaptureQueriesContext(connection) as queries:
            page = text_of(client.get(address(case)))
        costs.append(len(queries))
    assert costs[0] == costs[1]
    assert "Page 1 of 75" in page
    assert "Plan 49" not in page
    assert "Plan 2999" in text_of(client.get(address(large), {"tab": "path", "page": "75"}))
    assert "Plan 1500" in text_of(client.get(address(large), {"tab": "path", "at": "event:1500"}))


def test_a_tab_opened_without_script_leaves_the_form_beside_it(
    case: Case, reviewer: User, client_of
) -> None:
    client = client_of(reviewer)
    client.post(address(case, "claim/"))
    client.post(address(case, "draft/"), {"reason": "Half a thought"})
    assert "Half a thought" in text_of(client.get(address(case), {"tab": "diff"}))


# The own score


def test_an_own_score_is_committed_and_the_page_repeats_what_was_stored(
    case: Case, reviewer: User, client_of
) -> None:
    page = text_of(commit(client_of(reviewer), case, search=3))
    assert "Committed: 71.43" in page
    assert BlindScore.objects.get().levels["search"] == 3
    assert "Revealed: Heron 2.3, Northbank" in page


def test_a_form_with_gaps_keeps_what_was_chosen_and_typed(
    case: Case, reviewer: User, client_of
) -> None:
    client = client_of(reviewer)
    client.post(address(case, "claim/"))
    data = {**GOOD_LEVELS, "reason": "Half a thought"}
    del data["search"]
    response = client.post(address(case, "commit/"), data)
    page = text_of(response)
    assert response.status_code == 422
    assert "Choose a level." in page
    assert "Half a thought" in page
    assert len(re.findall(r'data-short="[^"]*" checked', page)) == 6
    assert not BlindScore.objects.exists()


def test_an_empty_reason_is_refused_by_the_server_too(
    case: Case, reviewer: User, client_of
) -> None:
    response = commit(client_of(reviewer), case, reason="  ")
    assert response.status_code == 422
    assert not BlindScore.objects.exists()


def test_a_draft_is_restored_where_it_was_left(case: Case, reviewer: User, client_of) -> None:
    client = client_of(reviewer)
    client.post(address(case, "claim/"))
    saved = client.post(address(case, "draft/"), {"search": "5", "reason": "The lock came"})
    assert "expires_at" in saved.json()
    page = text_of(client_of(reviewer).get(address(case)))
    assert "The lock came" in page
    assert re.search(r'name="search" value="5" required[^>]* checked', page)


def test_a_draft_is_kept_although_the_lease_has_lapsed(
    case: Case, reviewer: User, client_of
) -> None:
    client = client_of(reviewer)
    client.post(address(case, "claim/"))
    lapse(Claim.objects.get())
    answer = client.post(address(case, "draft/"), {"reason": "Too late"})
    assert (answer.status_code, answer.json()["code"]) == (409, "claim_lapsed")
    assert Draft.objects.get().fields["reason"] == "Too late"


def test_a_second_reviewers_page_holds_nothing_of_the_first(
    reviewer: User, second: User, client_of
) -> None:
    case = case_of(make_match(stakes="high"))
    first = client_of(reviewer)
    commit(first, case, reason="QUINCE was here")
    sign(first, case, "set", score="12.34", public_reason="QUINCE thinks so", private_note="QUINCE")
    other = client_of(second)
    for page in (
        text_of(other.get(address(case))),
        text_of(commit(other, case)),
        text_of(other.get("/queue/")),
        text_of(other.get(f"/api/cases/{case.pk}/")),
    ):
        assert "QUINCE" not in page
        assert "12.34" not in page


# The ruling


def test_each_ruling_shows_the_total_that_it_gives(case: Case, reviewer: User, client_of) -> None:
    page = text_of(commit(client_of(reviewer), case))
    for label in (
        "Uphold the rule’s number",
        "Average the votes",
        "Adopt seat A",
        "Adopt seat B",
        "Adopt seat C",
        "Set a score",
        "Escalate to a second reviewer",
    ):
        assert label in page
    assert page.count('<span class="note">rank 1</span>') == 6


def test_signing_shows_the_effect_before_and_after(case: Case, reviewer: User, client_of) -> None:
    client = client_of(reviewer)
    commit(client, case)
    page = text_of(sign(client, case, "average"))
    ruling = Ruling.objects.get()
    assert f"Average the votes, 76.00. The total is now {ruling.after.total}" in page
    assert "Effect of the ruling: revision 1 to 2" in page
    assert BECAUSE in page


def test_the_live_preview_is_what_signing_then_does(case: Case, reviewer: User, client_of) -> None:
    client = client_of(reviewer)
    commit(client, case)
    case.refresh_from_db()
    form = {"version": case.version, "ruling": "set", "score": "33.30"}
    preview = client.post(address(case, "preview/"), form, headers={"HX-Request": "true"})
    shown = text_of(preview)
    assert shown.lstrip().startswith('<div id="preview"')
    assert not Ruling.objects.exists()
    sign(client, case, "set", score="33.30")
    after = Ruling.objects.get().after
    assert f'<strong class="pen">{after.total}</strong>' in shown
    assert '<strong class="pen">33.30</strong>' in shown


def test_without_script_the_preview_is_a_page_that_keeps_what_was_typed(
    case: Case, reviewer: User, client_of
) -> None:
    client = client_of(reviewer)
    commit(client, case)
    case.refresh_from_db()
    page = text_of(
        client.post(
            address(case, "preview/"),
            {"version": case.version, "ruling": "average", "public_reason": "Half a"},
        )
    )
    assert "If you sign: Average the votes" in page
    assert "Half a" in page
    assert "<html" in page


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"public_reason": " "}, "Give a reason that the competitor can read."),
        ({"ruling": "set", "score": "101"}, "less than or equal to 100"),
        ({"ruling": "set", "score": "x"}, "Enter a number"),
        ({"ruling": "ask"}, "not one of the available choices"),
        ({"ruling": "adopt:mistral"}, "not one of the available choices"),
    ],
)
def test_a_ruling_that_does_not_hold_is_shown_again(
    case: Case, reviewer: User, client_of, changes: dict[str, str], message: str
) -> None:
    client = client_of(reviewer)
    commit(client, case)
    case.refresh_from_db()
    data = {"version": case.version, "ruling": "average", "public_reason": BECAUSE, **changes}
    response = client.post(address(case, "rule/"), data)
    assert response.status_code == 422
    assert message in text_of(response)
    assert not Ruling.objects.exists()


def test_sign_and_next_opens_the_next_case(case: Case, reviewer: User, client_of) -> None:
    following = case_of(make_match("m-2"))
    client = client_of(reviewer)
    commit(client, case)
    assert sign(client, case, "average", next="1")["Location"] == address(following)


def test_a_stale_form_gets_409_and_what_was_written_is_kept(
    reviewer: User, second: User, client_of
) -> None:
    match = make_match(findings=[finding()])
    panel, review = case_of(match), case_of(match, "integrity_review")
    client = client_of(reviewer)
    commit(client, panel)
    stale = panel.version
    other = client_of(second)
    commit(other, review)
    sign(other, review, "confirm")
    form = {"version": stale, "ruling": "average", "public_reason": "A long thought."}
    response = client.post(address(panel, "rule/"), form)
    page = text_of(response)
    assert response.status_code == 409
    assert "new score since you opened this form" in page
    assert "A long thought." in page
    assert "A long thought." in text_of(client.get(address(panel)))
    assert not panel.rulings.exists()


def test_a_lapsed_claim_gets_409_and_claiming_again_gives_the_text_back(
    case: Case, reviewer: User, client_of
) -> None:
    client = client_of(reviewer)
    commit(client, case)
    lapse(Claim.objects.get())
    response = sign(client, case, "average")
    assert response.status_code == 409
    assert "Claim it again" in text_of(response)
    client.post(address(case, "claim/"))
    page = text_of(client.get(address(case)))
    assert BECAUSE in page
    assert re.search(r'value="average" required checked', page)


def test_a_lapsed_claim_keeps_a_half_filled_form_too(case: Case, reviewer: User, client_of) -> None:
    client = client_of(reviewer)
    client.post(address(case, "claim/"))
    lapse(Claim.objects.get())
    response = client.post(address(case, "commit/"), {"reason": "Half a thought"})
    assert response.status_code == 409
    assert "Half a thought" in text_of(response)


def test_a_frozen_challenge_says_so_and_takes_no_ruling(
    case: Case, reviewer: User, client_of
) -> None:
    client = client_of(reviewer)
    commit(client, case)
    Challenge.objects.update(state=Challenge.State.FROZEN)
    assert "This challenge is frozen" in text_of(client.get(address(case)))
    response = sign(client, case, "average")
    assert response.status_code == 409
    assert "frozen" in text_of(response)


def test_where_nothing_can_be_said_of_a_claim_no_empty_notice_stands(
    case: Case, reviewer: User, client_of
) -> None:
    client = client_of(reviewer)
    assert 'aria-label="Claim"' in text_of(client.get(address(case)))
    Challenge.objects.update(state=Challenge.State.FROZEN)
    page = text_of(client.get(address(case)))
    assert "This challenge is frozen" in page
    assert 'aria-label="Claim"' not in page


def test_points_of_process_abuse_are_amended_with_or_without_the_minus(
    reviewer: User, client_of
) -> None:
    match = make_match(votes=AGREEING, findings=[finding("process_abuse", points=-4)])
    case = case_of(match, "integrity_review")
    client = client_of(reviewer)
    commit(client, case)
    sign(client, case, "amend", points="7")
    assert Ruling.objects.get().points == -7


def test_forms_of_another_phase_are_refused_and_not_misread(
    case: Case, reviewer: User, client_of
) -> None:
    client = client_of(reviewer)
    client.post(address(case, "claim/"))
    assert sign(client, case, "average", public_reason="").status_code == 409
    preview = client.post(address(case, "preview/"), {"ruling": "average"})
    assert preview["Location"] == address(case)
    commit(client, case)
    again = client.post(address(case, "commit/"), {"reason": "Half of another"})
    assert again.status_code == 409
    assert "stays as it is" in text_of(again)
    assert BlindScore.objects.count() == 1
    assert not Ruling.objects.exists()


def test_the_reveal_sets_ones_own_levels_beside_those_of_the_seats(
    reviewer: User, client_of
) -> None:
    by_seat = {"anthropic": 5, "openai": 1, "google": 3}
    told = verdicts(dict.fromkeys(by_seat, 0), {}, [])
    for entry in told["verdicts"]:
        del entry["score"]
        entry["levels"] = dict.fromkeys(GOOD_LEVELS, by_seat[entry["seat"]])
    case = case_of(make_match(files={"verdicts.json": json.dumps(told).encode()}))
    client = client_of(reviewer)
    client.post(address(case, "claim/"))
    assert "Table of levels" not in text_of(client.get(address(case)))
    page = text_of(commit(client, case))
    (table,) = re.findall(r'aria-label="Table of levels".*?</table>', page, re.DOTALL)
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', table)
    assert len(rows) == len(GOOD_LEVELS)
    for row in rows:
        *said, own = re.findall(r'<td class="num.*?>(?:<strong>)?(\d)<', row)
        assert (sorted(said), own) == (["1", "3", "5"], "4")


def test_the_first_tab_that_holds_something_is_open(reviewer: User, client_of) -> None:
    page = text_of(client_of(reviewer).get(address(case_of(make_match(events=())))))
    assert re.search(r'aria-current="page">Diff ', page)
    assert 'aria-label="Diff of refunds/store.py"' in page


def test_a_lead_may_take_over_a_slot_also_where_another_is_free(
    reviewer: User, lead: User, client_of
) -> None:
    case = case_of(make_match(stakes="high"))
    claim = actions.claim_case(case.pk, by=reviewer)
    client = client_of(lead)
    page = text_of(client.get(address(case)))
    assert "rosa holds a slot of this case" in page
    assert 'data-key="c"' in page
    client.post(address(case, "take-over/"), {"claim": claim.pk, "reason": "Away today."})
    assert [live.reviewer for live in case.claims.live()] == [lead]


# Another question about the same match stays blind


def test_while_another_question_is_open_the_match_stays_dark(reviewer: User, client_of) -> None:
    match = make_match(findings=[finding()])
    panel, review = case_of(match), case_of(match, "integrity_review")
    client = client_of(reviewer)
    page = text_of(commit(client, panel))
    assert "claude-sonnet" in page  # its own matter is revealed,
    for hidden in ("Heron", "Northbank", "rank 1", str(match.scorecards.get().total)):
        assert hidden not in page  # the rest is not
    assert str(review) in page
    page = text_of(sign(client, panel, "average"))
    for hidden in ("Heron", "Northbank", str(match.scorecards.live().get().total)):
        assert hidden not in page
    commit(client, review)
    assert "Heron" in text_of(client.get(address(panel)))


# Stepping aside, taking over, correcting


def test_declining_frees_the_case(case: Case, reviewer: User, client_of) -> None:
    client = client_of(reviewer)
    client.post(address(case, "claim/"))
    page = text_of(client.post(address(case, "decline/"), {"reason": "Mine."}, follow=True))
    assert "is not offered to you again" in page
    assert not case.claims.live().exists()
    assert "You declined this case" in text_of(client.get(address(case)))


def test_a_conflict_with_the_match_can_be_declared_while_it_is_hidden(
    case: Case, reviewer: User, client_of
) -> None:
    client = client_of(reviewer)
    client.post(address(case, "claim/"))
    client.post(address(case, "conflict/"))
    assert client.get(address(case)).status_code == 404
    assert "Heron" not in text_of(client.get("/conflicts/"))


def test_a_lead_takes_over_with_a_reason(case: Case, reviewer: User, lead: User, client_of) -> None:
    claim = actions.claim_case(case.pk, by=reviewer)
    client = client_of(lead)
    assert "Take it over" in text_of(client.get(address(case)))
    assert "Take it over" not in text_of(client_of(reviewer).get(address(case)))
    client.post(address(case, "take-over/"), {"claim": claim.pk, "reason": ""})
    assert case.claim_of(reviewer)
    client.post(address(case, "take-over/"), {"claim": claim.pk, "reason": "Asleep."})
    assert case.claim_of(lead)
    assert AuditEntry.objects.filter(action="take_over", actor=lead).exists()
    response = client_of(reviewer).post(address(case, "commit/"), {"reason": "But I"})
    assert response.status_code == 409


def test_a_ruling_is_corrected_by_a_new_one(case: Case, reviewer: User, client_of) -> None:
    client = client_of(reviewer)
    commit(client, case)
    sign(client, case, "average")
    first = Ruling.objects.get()
    page = text_of(client.get(address(case, f"rulings/{first.pk}/correction/")))
    assert "A ruling in place of rosa" in page
    assert "Escalate" not in page
    case.refresh_from_db()
    form = {
        "version": case.version,
        "ruling": "adopt:openai",
        "public_reason": "Seat B read it right.",
    }
    page = text_of(client.post(address(case, f"rulings/{first.pk}/correct/"), form, follow=True))
    assert "in place of" in page
    assert Ruling.objects.latest("pk").supersedes == first


def test_others_do_not_correct(case: Case, reviewer: User, second: User, client_of) -> None:
    client = client_of(reviewer)
    commit(client, case)
    sign(client, case, "average")
    first = Ruling.objects.get()
    case.refresh_from_db()
    form = {"version": case.version, "ruling": "uphold", "public_reason": BECAUSE}
    other = client_of(second)
    assert other.get(address(case, f"rulings/{first.pk}/correction/")).status_code == 403
    assert other.post(address(case, f"rulings/{first.pk}/correct/"), form).status_code == 403
    assert "Correct" not in text_of(other.get(address(case)))


def test_a_correction_shows_nothing_to_whoever_still_owes_the_match_a_blind_score(
    reviewer: User, second: User, client_of
) -> None:
    match = make_match(findings=[finding()])
    case = case_of(match)
    other_case = match.cases.exclude(pk=case.pk).get()
    client = client_of(reviewer)
    commit(client, case)
    sign(client, case, "average")
    first = Ruling.objects.get()
    case.refresh_from_db()
    assert not other_case.is_settled
    blind = client_of(second)
    form = {"correcting": first.pk, "version": case.version, "ruling": "uphold"}
    answers = [
        blind.get(address(case, f"rulings/{first.pk}/correction/")),
        blind.post(address(case, "preview/"), form),
        blind.post(address(case, f"rulings/{first.pk}/correct/"), form),
    ]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert not any("openai" in text_of(answer) for answer in answers)


def test_nul_characters_cost_nobody_what_they_typed(case: Case, reviewer: User, client_of) -> None:
    client = client_of(reviewer)
    client.post(address(case, "claim/"))
    answer = client.post(address(case, "draft/"), {"reason": "before\0after"})
    assert answer.status_code < 400
    assert Draft.objects.get().fields["reason"] == "before␀after"


def test_the_cost_of_a_page_does_not_grow_with_its_rulings(
    case: Case, reviewer: User, client_of
) -> None:
    client = client_of(reviewer)
    commit(client, case)
    sign(client, case, "average")
    costs = []
    for kind in ("uphold", "set"):
        with CaptureQueriesContext(connection) as queries:
            client.get(address(case))
        costs.append(len(queries))
        case.refresh_from_db()
        last = Ruling.objects.latest("pk")
        actions.correct_ruling(
            last.pk, actions.Decision(kind, BECAUSE), by=reviewer, version=case.version
        )
    assert costs[0] == costs[1]
