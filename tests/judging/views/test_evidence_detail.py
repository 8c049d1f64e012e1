from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.test import Client

from bouts.models import Artifact, Bundle, User
from judging.showing import lines
from tests import matches
from tests.judging.views.making import (
    BUILD_LOG,
    FILES,
    STATIC_FAILURE,
    plain,
    rich,
    step,
    trajectory,
)
from tests.judging.views.test_match_detail import text_of

HTMX = {"HX-Request": "true"}


def at(bundle: Bundle, path: str, place: str = "") -> str:
    digest = Artifact.objects.get(bundle=bundle, path=path).blob_id
    query = f"?{urlencode({'at': place})}" if place else ""
    return f"/matches/{bundle.match.slug}/evidence/{digest}/{query}"


def said(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return text_of(response.content.decode())


# Each kind of place


def test_a_test_shows_every_run_with_message_and_log(bundle: Bundle, as_team: Client) -> None:
    text = said(as_team, at(bundle, "static-1.xml", "test:static/tests.test_a::test_twice"))
    assert "Run 1: failed" in text and "Run 2: failed" in text
    assert STATIC_FAILURE in text
    assert "printed by test_twice" in text
    assert "static, medium, requirement R2" in text


def test_an_event_shows_what_was_said_run_and_printed_with_those_around_it(
    bundle: Bundle, as_team: Client
) -> None:
    text = said(as_team, at(bundle, "telemetry.json", "event:5"))
    assert "Run them." in text
    assert "python -m pytest tests -q -rA" in text
    assert "1 failed, 1 passed" in text
    assert "1 of 2 passed" in text
    assert "#4 3:00 Edit refunds/store.py" in text  # the event before


def test_an_event_leads_to_its_record_as_the_tool_wrote_it(
    bundle: Bundle, as_team: Client, as_staff: Client
) -> None:
    address = at(bundle, "telemetry.json", "event:5")
    page = as_staff.get(address).content.decode()
    (record,) = re.findall(r'<a class="mono" href="([^"]*at=json[^"]*)">(/steps/[^<]*)</a>', page)
    text = said(as_staff, unescape(record[0]))
    assert f"At {record[1]}" in text
    assert "python -m pytest tests -q -rA" in text
    # To whom the file as a whole is not open it is not offered.
    assert "at=json" not in as_team.get(address).content.decode()


def test_an_event_that_quotes_a_hidden_test_is_withheld_whole_and_its_neighbours_are_not(
    bundle: Bundle, as_team: Client, as_staff: Client
) -> None:
    """The output holds no name of a hidden test; it belongs to a command that does."""
    address = at(bundle, "telemetry.json", "event:3")
    text = said(as_team, address)
    assert "What was said and done here quotes a hidden test and is withheld." in text
    assert "kumquat" not in text
    assert "What is there?" in text or "ls" in text
    assert "assert kumquat-expected == 2" in said(as_staff, address)


def test_a_line_of_a_diff_is_marked_and_coloured(bundle: Bundle, as_team: Client) -> None:
    html = as_team.get(at(bundle, "final.diff", "diff:refunds/store.py:3")).content.decode()
    assert html.count("is-target") == 1
    target = html.partition("is-target")[2].partition("</tr>")[0]
    assert '<span class="k">return</span>' in target
    old = as_team.get(at(bundle, "final.diff", "diff:refunds/store.py:-2")).content.decode()
    assert 'class="del is-target"' in old


def test_a_file_of_a_diff_that_quotes_is_withheld_whole(bundle: Bundle, as_team: Client) -> None:
    text = said(as_team, at(bundle, "final.diff", "diff:notes/peek.py:2"))
    assert "Withheld: it would tell of a hidden test." in text


def test_lines_of_a_log_come_by_range(bundle: Bundle, as_team: Client) -> None:
    html = as_team.get(at(bundle, "build.log", "lines:201-400")).content.decode()
    assert "line 201 of the build" in html and "line 400 of the build" in html
    assert "line 200 of the build" not in html and "line 401 of the build" not in html
    assert urlencode({"at": "lines:1-200"}) in html
    assert urlencode({"at": "lines:401-600"}) in html
    assert "201 to 400 of 450" in text_of(html)


def test_more_lines_than_a_page_has_are_cut_to_a_page(bundle: Bundle, as_team: Client) -> None:
    html = as_team.get(at(bundle, "build.log", "lines:1-999999")).content.decode()
    assert "line 200 of the build" in html
    assert "line 201 of the build" not in html


def test_one_line_stands_among_its_neighbours(bundle: Bundle, as_team: Client) -> None:
    html = as_team.get(at(bundle, "build.log", "line:100")).content.decode()
    assert html.count('class="is-target"') == 1
    assert "line 92 of the build" in html and "line 108 of the build" in html


def test_a_line_of_a_sandbox_log_shows_what_was_read_off_it(
    bundle: Bundle, as_team: Client, as_staff: Client
) -> None:
    text = said(as_team, at(bundle, "sandbox.log", "line:4"))
    assert "connect" in text and "203.0.113.7:443" in text and "refused" in text
    hidden = at(bundle, "sandbox.log", "line:2")
    assert "withheld" in said(as_team, hidden)
    assert "zanzibar" not in said(as_team, hidden)
    assert "/grader/hidden/test_zanzibar.py" in said(as_staff, hidden)


def test_a_json_pointer_shows_the_value(bundle: Bundle, as_team: Client) -> None:
    text = said(as_team, at(bundle, "claims.json", "json:/claims/2"))
    assert "withheld" in text.lower()  # the file quotes a hidden test elsewhere


def test_a_json_pointer_into_a_clean_file_shows_the_value(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    claims = [{"statement": "A key is paid once.", "confidence": 0.9, "about": "R1"}]
    bundle = plain(tmp_path, claims=claims)
    text = said(client_of(competitor), at(bundle, "claims.json", "json:/claims/0"))
    assert "A key is paid once." in text and "/claims/0" in text


def test_a_file_without_a_place_opens_at_its_first_lines(bundle: Bundle, as_team: Client) -> None:
    assert "line 1 of the build" in said(as_team, at(bundle, "build.log"))


# In place, by itself, later


def test_htmx_gets_the_panel_alone(bundle: Bundle, as_team: Client) -> None:
    part = as_team.get(at(bundle, "build.log", "line:3"), headers=HTMX).content.decode()
    assert "<html" not in part
    assert "Open as a page" in part and "data-close" in part


def test_an_address_outlives_a_new_upload_and_says_that_it_is_superseded(
    bundle: Bundle, as_team: Client, tmp_path: Path
) -> None:
    address = at(bundle, "final.diff", "diff:refunds/store.py:3")
    kept = at(bundle, "build.log", "line:3")
    rich(tmp_path / "again", diff="", verdicts=[], findings=[])
    text = said(as_team, address)
    assert "Superseded." in text and "belongs to bundle 1" in text
    assert "Superseded." not in said(as_team, kept)  # the new bundle has the same file


@pytest.mark.parametrize(
    ("path", "place", "told"),
    [
        ("static-1.xml", "test:static/tests.test_a::test_twice", "expected one refund, got two"),
        ("telemetry.json", "event:4", "Lock first."),
        ("final.diff", "diff:refunds/store.py:2", "with lock ( key )"),
        ("sandbox.log", "line:1", "/work/refunds/store.py"),
    ],
)
def test_a_place_in_any_part_is_read_as_it_was_after_a_new_upload(
    bundle: Bundle, as_team: Client, tmp_path: Path, path: str, place: str, told: str
) -> None:
    """By digest and place: the new bundle says other things at the same place of the same file."""
    address = at(bundle, path, place)
    before = said(as_team, address)
    assert told in before and "Superseded." not in before
    others = {
        "telemetry.json": ("telemetry", trajectory([step(1, "Anew.")])),
        "sandbox.log": ("sandbox", ""),
    }
    rich(
        tmp_path / "again", static=[matches.STATIC], diff=matches.DIFF, verdicts=[], findings=[],
        files={**FILES, **others},
    )  # fmt: skip
    text = said(as_team, address)
    assert told in text and "Superseded." in text


def test_what_two_files_share_is_withheld_where_one_of_them_must_be(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    """A visible file with the content of a hidden run's log does not open the log."""
    bundle = plain(
        tmp_path,
        hidden_log="AssertionError: seven\n",
        files={"copy.log": ("log", "run 1 of hidden\nAssertionError: seven\n")},
    )
    text = said(client_of(competitor), at(bundle, "copy.log", "line:2"))
    assert "Withheld" in text and "seven" not in text


def test_an_anchor_into_an_unreadable_file_is_unresolved_and_not_missing(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    bundle = plain(
        tmp_path,
        files={"telemetry.json": ("telemetry", '{"schema_version": "ATIF-v1.8", "steps": ')},
    )
    text = said(client_of(competitor), at(bundle, "telemetry.json", "event:3"))
    assert "This place cannot be shown: the file could not be read." in text


@pytest.mark.parametrize(
    "place", ["event:999", "line:9999", "diff:no.py:1", "test:static/none", "json:/nothing"]
)
def test_a_place_where_nothing_is_says_so_without_repeating_it(
    bundle: Bundle, as_team: Client, place: str
) -> None:
    file = {"e": "telemetry.json", "l": "build.log", "d": "final.diff", "t": "static-1.xml"}
    address = at(bundle, file.get(place[0], "NOTES.md"), place)
    text = said(as_team, address)
    assert "There is nothing at this place." in text
    assert place.partition(":")[2] not in text


def test_what_is_no_place_or_no_file_is_not_found(bundle: Bundle, as_team: Client) -> None:
    assert as_team.get(at(bundle, "build.log", "page:3")).status_code == 404
    assert as_team.get(f"/matches/m-1/evidence/{'0' * 64}/").status_code == 404
    assert as_team.get("/matches/m-1/evidence/abc/").status_code == 404


# Whom it is for


def test_nobody_else_opens_evidence(bundle: Bundle, as_rival: Client, as_blind: Client) -> None:
    address = at(bundle, "build.log", "line:3")
    assert as_rival.get(address).status_code == 404
    assert as_blind.get(address).status_code == 404
    assert Client().get(address).status_code == 302


def test_a_file_of_another_match_is_not_opened_through_ones_own(
    bundle: Bundle, tmp_path: Path, rival: User, client_of: Callable[[User], Client]
) -> None:
    own = plain(tmp_path / "hal", match="hal-1", agent={"team": "halyard", "name": "Topsail"})
    digest = Artifact.objects.get(bundle=bundle, path="NOTES.md").blob_id
    client = client_of(rival)
    assert client.get(f"/matches/{own.match.slug}/evidence/{digest}/").status_code == 404
    assert client.get(f"/matches/{own.match.slug}/evidence/{digest}/raw/").status_code == 404


def test_a_place_asks_little(bundle: Bundle, as_team: Client, at_most: Callable) -> None:
    for path, place in (
        ("telemetry.json", "event:5"),
        ("final.diff", "diff:refunds/store.py:3"),
        ("build.log", "line:3"),
        ("static-1.xml", "test:static/tests.test_a::test_twice"),
    ):
        with at_most(6):
            as_team.get(at(bundle, path, place))


def test_a_long_log_is_read_by_window_and_never_sent_whole(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    long_log = (BUILD_LOG * 2_000) + "x" * 3_000_000 + "\n"
    bundle = plain(tmp_path, files={"long.log": ("log", long_log)})
    client = client_of(competitor)
    answer = client.get(at(bundle, "long.log", "lines:899901-900100"))
    assert "899901" in answer.content.decode()
    assert len(answer.content) < 200_000
    last = client.get(at(bundle, "long.log", "line:900001"))
    assert "2,998,000 more characters" in last.content.decode()
    assert len(last.content) < 50_000


# Looking through a file


def test_a_search_gives_lines_with_their_addresses(bundle: Bundle, as_team: Client) -> None:
    address = at(bundle, "build.log")
    html = as_team.get(address, {"find": "LINE 44"}).content.decode()
    numbers = re.findall(r'at=line:(\d+)">', html)
    assert numbers == ["44", *(str(number) for number in range(440, 450))]
    assert "<mark>line 44</mark>9 of the build" in html
    assert "11 lines hold “LINE 44” as this page shows it; that is all." in text_of(html)
    assert "No line holds" in said(as_team, f"{address}?find=nothing+like+it")


def test_a_search_looks_at_so_much_and_says_where_it_stopped(
    bundle: Bundle, as_team: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MOST_LOOKED_AT", 2_000)
    html = as_team.get(at(bundle, "build.log"), {"find": "line 449"}).content.decode()
    for _ in range(20):
        assert re.search(r"No line from line \d+ to \d+ holds", text_of(html))
        assert "what follows was not looked at" in text_of(html)
        html = as_team.get(unescape(re.search(r'rel="next" href="([^"]+)"', html)[1]))
        html = html.content.decode()
        if "<mark>" in html:
            break
    assert "<mark>line 449</mark>" in html


def test_a_search_with_many_hits_goes_on_where_it_stopped(bundle: Bundle, as_team: Client) -> None:
    address = at(bundle, "build.log")
    html = as_team.get(address, {"find": "of the build"}).content.decode()
    further = re.search(r'rel="next" href="([^"]+)"', html)
    assert further and "Go on from line 101" in html
    rest = as_team.get(unescape(further[1])).content.decode()
    assert "at=line:101" in rest and "at=line:200" in rest and 'at=line:100"' not in rest


def test_a_search_sees_what_the_page_shows_and_nothing_behind_it(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIBVQsecretbody\n-----END PRIVATE KEY-----\n"
    log = f"\x1b[31mERR\x1b[0mOR: İstanbul ß\ntoken ghp_{'a1B2' * 10}\n{key}<b>bold</b>\n"
    bundle = plain(tmp_path, files={"odd.log": ("log", log)})
    client = client_of(competitor)
    address = at(bundle, "odd.log")

    def found(wanted: str) -> list[str]:
        body = client.get(address, {"find": wanted}).content.decode()
        return re.findall(r'at=line:(\d+)">', body)

    assert found("error: ") == ["1"]  # across an escape sequence
    assert found("ß") == ["1"]
    assert found("token") == ["2"]
    assert found("a1B2a1B2a1B2") == []  # masked
    assert found("secretbody") == []
    assert "<mark>&lt;b&gt;</mark>bold" in client.get(address, {"find": "<b>"}).content.decode()


def test_a_file_that_is_withheld_is_not_looked_through(bundle: Bundle, as_team: Client) -> None:
    answers = [
        text_of(as_team.get(at(bundle, "PEEKED.md"), {"find": wanted}).content.decode())
        for wanted in ("zanzibar", "guess")
    ]
    assert answers[0] == answers[1]
    assert "Withheld: it would tell of a hidden test." in answers[0]


def test_one_goes_to_a_line_by_its_number(bundle: Bundle, as_team: Client) -> None:
    html = as_team.get(at(bundle, "build.log"), {"go": "321"}).content.decode()
    assert 'class="is-target" id="l-321"' in html
    for odd in ("0", "-3", "x", "9" * 40):
        assert as_team.get(at(bundle, "build.log"), {"go": odd}).status_code == 200
