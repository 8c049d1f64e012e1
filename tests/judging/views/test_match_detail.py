from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from bouts.models import Bundle, Match, User
from judging import sight, steps
from judging.actions import decide_finding, rule_strategy
from judging.models import Scorecard, Step
from judging.scoring.policy import CURRENT
from news.models import Notice
from tests.judging.views.making import (
    FILES,
    FINDINGS,
    STEPS,
    many_tests,
    plain,
    retire,
    rich,
    step,
    trajectory,
)
from tests.matches import found, store
from tests.pages import TOKEN, without_tokens

PAGE = "/matches/m-1/"
AtMost = Callable[[int], AbstractContextManager[None]]


def text_of(html: str) -> str:
    """Return what a page says, without its markup."""
    bare = re.sub(r"<[^>]+>", " ", html.partition("<main")[2].partition("</main>")[0])
    return re.sub(r"\s+", " ", bare)


def page(client: Client, address: str = PAGE) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


# Who sees what


def test_the_team_reads_its_card_and_follows_it_to_evidence(as_team: Client) -> None:
    html = page(as_team)
    said = text_of(html)
    assert "Heron 2.3 on Retry-safe refunds" in said
    for heading in ("Integrity", "Judges", "Adjudication", "Evidence", "Revisions"):
        assert f">{heading}</h2>" in html
    assert "The strategy panel disagrees; a reviewer rules." in said
    assert "Models are named when the case is decided." in said
    assert 'class="ev" href="/matches/m-1/evidence/' in html


def test_another_team_reads_totals_and_applied_findings_alone(as_rival: Client) -> None:
    html = page(as_rival)
    said = text_of(html)
    total = Scorecard.objects.live().get().total
    assert str(total) in said
    assert "Test suite access" in said
    for nothing in (
        "Reward hacking",
        "Acknowledged uncertainty",
        "A key is paid once",
        "/evidence/",
    ):
        assert nothing not in html
    assert "This is what other teams see." in said


def test_a_reviewer_who_may_be_asked_sees_only_the_challenge(as_blind: Client) -> None:
    html = page(as_blind)
    said = text_of(html)
    assert "Nothing of this match is shown to you yet." in said
    assert "Retry-safe refunds" in said
    for nothing in (
        "Heron",
        "Northbank",
        "northbank",
        "quill-4",
        str(Scorecard.objects.get().total),
    ):
        assert nothing not in html


def test_a_stranger_is_sent_to_sign_in(bundle: Bundle) -> None:
    response = Client().get(PAGE)
    assert response.status_code == 302
    assert response.url == f"{reverse('bouts:sign_in')}?next={PAGE}"


def test_a_match_that_is_not_there_is_not_found(as_team: Client) -> None:
    assert as_team.get("/matches/m-2/").status_code == 404


@pytest.mark.parametrize("look", ["team", "others"])
def test_staff_look_through_the_eyes_of_competitors(
    as_staff: Client, as_team: Client, as_rival: Client, look: str
) -> None:
    seen = page(as_staff, f"{PAGE}?as={look}")
    theirs = page(as_team if look == "team" else as_rival)
    card = re.compile(r'<article class="scorecard".*</section>', re.DOTALL)
    own = card.search(theirs)
    through = card.search(seen)
    assert own and through
    assert re.sub(r"[?&](amp;)?as=\w+", "", through[0]) == own[0]
    assert "You look through the eyes of" in text_of(seen)
    # Every link to evidence keeps to it.
    links = re.findall(r'class="ev" href="([^"]+)"', through[0])
    assert all(f"as={look}" in link for link in links)
    assert bool(links) is (look == "team")


def test_nobody_but_staff_can_look_through_other_eyes(as_rival: Client) -> None:
    html = page(as_rival, f"{PAGE}?as=team")
    assert "/evidence/" not in html
    assert "View as" not in html


# What the card says


def test_the_ledger_on_the_page_adds_up_to_the_total(as_team: Client) -> None:
    html = page(as_team)
    ledger = html.partition('<table class="ledger">')[2].partition("</table>")[0]
    figures = [
        Decimal(figure.replace("−", "-").replace("+", ""))
        for figure in re.findall(r'class="num points[^"]*">([^<]+)<', ledger)
        if figure != "–"
    ]
    *rows, total = figures
    base = sum(rows[:4])
    assert rows[4] == base
    assert sum(rows[5:], base) == total == Scorecard.objects.live().get().total


def test_what_can_still_change_is_in_pencil_with_its_range(as_team: Client) -> None:
    html = page(as_team)
    reach = Scorecard.objects.live().get().breakdown["range"]
    assert 'class="total-number pencil"' in html
    assert f"Can still change: {reach['low']} to {reach['high']}" in text_of(html)


def test_a_final_card_is_in_ink(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    plain(tmp_path)
    html = page(client_of(competitor))
    assert Scorecard.objects.get().status != "provisional"
    assert (
        "pencil" not in html.partition('<article class="scorecard"')[2].partition("</article>")[0]
    )
    # A bundle without a trajectory: what could not be searched was not "not found".
    said = text_of(html)
    assert "Nothing found in what could be searched. No bonus was earned" in said
    looked_for = said.partition("Looked for and not found: ")[2].partition(".")[0]
    assert "reward hacking" in looked_for and "process abuse" not in looked_for
    assert "Process abuse – Not searched – no trajectory" in said


def test_an_anchored_score_shows_raw_struck_and_counted_with_the_reason(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    plain(
        tmp_path,
        hidden=[{"hidden.t::test_zanzibar_key": False, "hidden.t::test_zanzibar_lock": False}],
    )
    said = page(client_of(competitor))
    objective = Scorecard.objects.get().breakdown["judges"]["objective"]["counted"]
    assert '<s class="was">75.00</s>' in said
    assert f"no judge counts more than Objective {objective} + 25" in said


def test_the_margin_of_an_anchor_is_that_of_the_policy_it_was_scored_under(
    tmp_path: Path,
    competitor: User,
    client_of: Callable[[User], Client],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain(tmp_path, hidden=[{"hidden.t::test_zanzibar_key": False}])
    wider = replace(CURRENT, anchor_margin=31)
    monkeypatch.setattr(sight, "POLICIES", {CURRENT.version: wider})
    said = text_of(page(client_of(competitor)))
    assert " + 31 = " in said
    assert " + 25 = " not in said


def test_a_judge_without_a_score_says_why(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    plain(tmp_path)
    said = text_of(page(client_of(competitor)))
    assert "No telemetry" in said
    assert "Model half: not evaluated: no model" in said or "not evaluated" in said


def test_tests_that_errored_stay_in_the_count_on_page_api_and_file(
    tmp_path: Path, operator: User, client_of: Callable[[User], Client]
) -> None:
    names = [f"tests.test_b::test_{number}" for number in range(10)]
    listed = [{"id": name, "suite": "static", "severity": "medium"} for name in names]
    broken = '<error message="fixture is gone"/>'
    cases = "".join(
        f'<testcase classname="tests.test_b" name="test_{number}">{broken if number < 2 else ""}</testcase>'
        for number in range(10)
    )
    plain(
        tmp_path, challenge={"tests": listed}, static=[f"<testsuite>{cases}</testsuite>"], hidden=[]
    )  # fmt: skip
    client = client_of(operator)
    objective = client.get("/api/matches/m-1/breakdown/").json()["judges"]["objective"]
    outcomes = [test["outcomes"] for test in objective["evidence"]["tests"]]
    assert (outcomes.count(["errored"]), outcomes.count(["passed"])) == (2, 8)
    assert objective["raw"] == "80.00"
    html = client.get(PAGE).content.decode()
    assert ">8 of 10</td>" in html and "2 tests errored: counted, and not as passed." in html
    (row,) = json.loads(client.get("/matches.json").getvalue())["rows"]
    assert row["objective"] == "80.00"


def test_a_clock_that_runs_backwards_is_said_and_never_scored(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    """Order is by number, time gives durations alone: a length below nothing is no length."""
    told = [dict(one) for one in STEPS]
    told[6]["timestamp"] = "2026-03-12T14:03:00Z"  # the passing run, before the failing one
    files = {**FILES, "telemetry.json": ("telemetry", trajectory(told))}
    rich(tmp_path, verdicts=[], findings=[], files=files)
    client = client_of(competitor)
    judges = client.get("/api/matches/m-1/breakdown/").json()["judges"]
    ratio, progress = judges["process"]["metrics"], judges["recovery"]["metrics"]
    assert (ratio["first_fix_ratio"]["value"], ratio["first_fix_ratio"]["reason"]) == (
        None,
        "degraded",
    )
    assert (
        progress["score_trajectory"]["score"] == "100.00"
    )  # the failing run came first all the same
    html = client.get(PAGE).content.decode()
    assert "A time that this needs is missing or runs backwards" in html
    assert "The clock of the record has gaps or runs backwards" in html
    timeline = client.get(f"{PAGE}evidence/timeline/").content.decode()
    assert "Time runs backwards; it is left as it is written" in timeline


def test_a_match_without_objective_has_no_total_and_a_reason(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    plain(tmp_path, static=["<broken"], hidden=["<broken"])
    html = page(client_of(competitor))
    assert "No total" in text_of(html)
    assert '<span class="total-number na">n/a</span>' in html
    assert "Objective has no score: a file that it needs is absent or cannot be read." in html
    assert "so this total is shown" not in html
    assert "0.00" not in html.partition('<table class="ledger">')[2].partition("</table>")[0]


def test_a_refused_seat_is_shown_with_its_state(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    seats = [
        {
            "judge": "strategy",
            "seat": "anthropic",
            "state": "refused",
            "reason": "the model declined",
        },
        {"judge": "strategy", "seat": "openai", "score": 60, "rationale": "So."},
        {"judge": "strategy", "seat": "google", "score": 64, "rationale": "So too."},
    ]
    plain(tmp_path, verdicts=seats)
    said = text_of(page(client_of(competitor)))
    assert "2 votes of 3." in said
    assert "No vote: the model declined." in said


def test_withdrawn_matches_say_so_with_the_reason(
    as_team: Client, bundle: Bundle, operator: User
) -> None:
    Match.objects.update(exclusion="withdrawn", exclusion_reason="The agent was the wrong build.")
    said = text_of(page(as_team))
    assert "Withdrawn: this match counts on no leaderboard." in said
    assert "The agent was the wrong build." in said


def test_a_ruling_is_told_with_before_and_after_and_nobody_is_named(
    as_team: Client, bundle: Bundle, lead: User
) -> None:
    before = Scorecard.objects.live().get().total
    card = rule_strategy(bundle, None, by=lead, reason="The order of steps is what counts.")
    html = page(as_team)
    assert f"{before} before, {card.total} after." in text_of(html)
    assert "“The order of steps is what counts.”" in text_of(html)
    assert "lena" not in html
    assert "gpt-4o-2024-11-20" in html  # decided: the models are named


def test_a_public_reason_that_quotes_a_hidden_test_is_withheld(
    as_team: Client, bundle: Bundle, lead: User
) -> None:
    key = bundle.findings.get(trigger="acknowledged_uncertainty").key
    decide_finding(
        bundle, key, status="applied", by=lead, reason="It doubts test_zanzibar_key, rightly."
    )
    html = page(as_team)
    assert "zanzibar" not in html.lower()
    assert "The reason quotes a hidden test and is withheld." in text_of(html)


# While the judges work


def test_while_judges_work_their_progress_is_shown_and_followed(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    store(tmp_path)
    html = page(client_of(competitor))
    assert "Judging: 0 of 6 steps" in text_of(html)
    assert 'hx-get="/matches/m-1/progress/"' in html
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in html


def test_the_part_that_follows_the_work_asks_for_the_page_once_it_is_done(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    bundle = store(tmp_path)
    client = client_of(competitor)
    part = client.get("/matches/m-1/progress/", headers={"HX-Request": "true"})
    assert part.content.decode().lstrip().startswith('<section id="progress"')
    steps.run_steps(bundle)
    done = client.get("/matches/m-1/progress/", headers={"HX-Request": "true"})
    assert done.headers["HX-Refresh"] == "true"


def test_work_that_broke_off_says_so_and_only_staff_read_the_error(
    tmp_path: Path, competitor: User, operator: User, client_of: Callable[[User], Client]
) -> None:
    store(tmp_path)
    Step.objects.update(state=Step.State.FAILED, reason="KeyError('hidden.t::test_zanzibar_key')")
    html = page(client_of(competitor))
    assert "The work broke off" in text_of(html)
    assert "KeyError" not in html
    assert "KeyError" in page(client_of(operator))


def test_an_old_card_stands_while_a_new_bundle_is_judged(
    as_team: Client, bundle: Bundle, tmp_path: Path
) -> None:
    store(tmp_path / "again", challenge=_challenge(bundle), diff="")
    said = text_of(page(as_team))
    assert "A new bundle is being judged." in said
    assert str(Scorecard.objects.live().get().total) in said


def _challenge(bundle: Bundle) -> dict[str, object]:
    document = dict(bundle.challenge_version.document)
    return {key: value for key, value in document.items() if key not in {"schema", "slug", "title"}}


# Speed


def test_a_page_asks_little_and_a_cached_one_less_whoever_looks(
    bundle: Bundle,
    competitor: User,
    rival: User,
    reviewer: User,
    operator: User,
    client_of: Callable[[User], Client],
    at_most: AtMost,
) -> None:
    for user in (competitor, rival, reviewer, operator):
        cache.clear()
        client = client_of(user)
        with at_most(8):
            page(client)
        with at_most(3):
            page(client)


def test_a_match_ten_times_as_large_asks_no_more(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client], at_most: AtMost
) -> None:
    listed, results = many_tests(1_000)
    long_run = [step(at, f"Step {at}.", "ls", "a\nb") for at in range(1, 2_001)]
    rich(
        tmp_path,
        static=[results] * 3,
        challenge={"tests": listed},
        files={"telemetry.json": ("telemetry", trajectory(long_run))},
        verdicts=[],
        findings=[
            found("acknowledged_uncertainty", "telemetry.json", f"event:{at}")
            for at in range(2, 40)
        ],
        claims=[],
        build={"ok": True},
    )
    client = client_of(competitor)
    with at_most(8):
        html = page(client)
    with at_most(3):
        page(client)
    assert len(html) < 300_000


def test_the_cached_card_holds_nothing_of_the_viewer(
    bundle: Bundle, competitor: User, client_of: Callable[[User], Client]
) -> None:
    competitor.first_name = "Ines of Northbank"
    competitor.save()
    page(client_of(competitor))
    cached = [value for key, value in _cached() if ":card:" in key]
    assert len(cached) == 1
    for mine in ("Ines", "ines", "csrf", "Sign out"):
        assert mine.encode() not in cached[0].html


def _cached() -> list[tuple[str, Any]]:
    return [(key, cache.get(key.partition(":")[2].partition(":")[2])) for key in list(cache._cache)]


def test_a_frame_that_is_kept_is_for_one_person_and_holds_no_token(
    bundle: Bundle,
    competitor: User,
    rival: User,
    operator: User,
    client_of: Callable[[User], Client],
) -> None:
    for user in (competitor, rival, operator):
        fresh = page(client_of(user))
        assert user.username in fresh
        first, again = (client_of(user).get(PAGE) for _ in range(2))
        assert again.content.decode().count(str(user)) == fresh.count(str(user))
        tokens = [set(TOKEN.findall(one.content.decode())) for one in (first, again)]
        assert [len(one) for one in tokens] == [1, 1]
        assert tokens[0] != tokens[1]
    frames = [repr(value) for key, value in _cached() if ":frame:" in key]
    assert len(frames) == 3
    assert not any(TOKEN.search(frame) for frame in frames)


def test_the_token_of_a_kept_frame_is_taken_and_what_the_masthead_says_is_not_kept(
    bundle: Bundle, competitor: User
) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(competitor)
    strict.get(PAGE)
    html = page(strict)
    token = TOKEN.search(html)[0]
    unread = Notice.objects.filter(user=competitor).count()
    Notice.objects.create(user=competitor, kind=Notice.Kind.SCORED, text="A total.")
    assert f"{unread + 1} new" not in html
    assert f"{unread + 1} new" in page(strict)
    assert (
        strict.post(reverse("bouts:sign_out"), {"csrfmiddlewaretoken": "x" * 64}).status_code == 403
    )
    assert strict.post(reverse("bouts:sign_out"), {"csrfmiddlewaretoken": token}).status_code == 302


@pytest.mark.parametrize("accepts", ["gzip", "br, gzip;q=0.5", "identity", ""])
def test_a_page_with_a_compressed_part_is_the_page(as_team: Client, accepts: str) -> None:
    as_team.get(PAGE)
    plain = as_team.get(PAGE)
    packed = as_team.get(PAGE, headers={"Accept-Encoding": accepts})
    assert "Accept-Encoding" in packed.headers["Vary"]
    if "gzip" in accepts:
        assert packed.headers["Content-Encoding"] == "gzip"
        assert len(packed.content) < len(plain.content) / 4
        content = gzip.decompress(packed.content)
    else:
        assert "Content-Encoding" not in packed.headers
        content = packed.content
    assert packed.headers["Content-Length"] == str(len(packed.content))
    without = [without_tokens(one.decode()) for one in (plain.content, content)]
    assert without[0] == without[1]


def test_an_unchanged_page_is_answered_with_304_to_the_same_person_only(
    bundle: Bundle, competitor: User, rival: User, lead: User, client_of: Callable[[User], Client]
) -> None:
    client = client_of(competitor)
    etag = client.get(PAGE).headers["ETag"]
    again = client.get(PAGE, headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert client_of(rival).get(PAGE, headers={"If-None-Match": etag}).status_code == 200
    rule_strategy(bundle, None, by=lead, reason="So.")
    assert client.get(PAGE, headers={"If-None-Match": etag}).status_code == 200


def test_opening_the_disclosure_changes_the_page(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    rich(tmp_path, disclosure="open")
    client = client_of(competitor)
    closed = client.get(PAGE)
    assert "zanzibar" not in closed.content.decode()
    retire()
    opened = client.get(PAGE, headers={"If-None-Match": closed.headers["ETag"]})
    assert opened.status_code == 200
    assert "test_zanzibar" in opened.content.decode()


def test_pages_about_a_match_stay_out_of_shared_caches(as_team: Client) -> None:
    response = as_team.get(PAGE)
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert "Cookie" in response.headers["Vary"]


def test_page_and_api_say_the_same_numbers(as_team: Client) -> None:
    told = as_team.get("/api/matches/m-1/breakdown/").json()
    html = page(as_team)
    assert told["total"] in html
    for judge in told["judges"].values():
        if judge["counted"] is not None:
            assert judge["counted"] in html


def test_findings_without_anything_proven_are_rows_of_no_points(as_team: Client) -> None:
    assert len(FINDINGS) == 3
    html = page(as_team)
    own = 2  # the connection in the sandbox log, and the certain claim that is refuted
    assert html.count('<article class="finding') == len(FINDINGS) + own
    assert "proposed, −15 if confirmed" in html


def test_no_page_of_a_match_weighs_more_than_a_page_may(bundle: Bundle, as_team: Client) -> None:
    """DESIGN.md, "How fast": 60 kB compressed, without what a chart needs to be drawn."""
    tabs = ("tests", "timeline", "diff", "logs", "deliverables", "sandbox", "scan", "files")
    for address in (PAGE, *(f"{PAGE}evidence/{tab}/" for tab in tabs)):
        body = as_team.get(address).content
        linked = {
            name
            for name in re.findall(rb'(?:href|src)="/static/([^"]+)"', body)
            if name.endswith((b".css", b".js"))
        }
        assert linked
        # Styles and scripts are sent once and kept; they count to the first page all the same.
        files = [finders.find(_unhashed(name.decode())) for name in linked]
        assert all(files)
        parts = [body, *(Path(file).read_bytes() for file in files)]
        weight = sum(len(gzip.compress(part, 6)) for part in parts)
        assert weight <= 60_000, (address, weight)


def _unhashed(name: str) -> str:
    return re.sub(r"\.[0-9a-f]{12}(?=\.\w+$)", "", name)
