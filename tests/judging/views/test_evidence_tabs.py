from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from bouts.formats.atif import AtifReader
from bouts.models import Bundle, User
from tests.judging.views.making import (
    DIFF,
    PYTEST,
    STATIC_RESULTS,
    many_tests,
    plain,
    rich,
    sarif,
    scanned,
    step,
    trajectory,
)
from tests.judging.views.test_match_detail import text_of
from tests.judging.views.test_uploads import row_of

TABS = ("tests", "timeline", "diff", "logs", "deliverables", "sandbox", "scan", "files")


def tab(client: Client, name: str, query: str = "", match: str = "m-1") -> str:
    response = client.get(f"/matches/{match}/evidence/{name}/{query}")
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("name", TABS)
def test_each_tab_is_a_page_and_a_part_for_the_team_and_nobody_else(
    bundle: Bundle,
    as_team: Client,
    as_rival: Client,
    as_blind: Client,
    at_most: Callable,
    name: str,
) -> None:
    address = f"/matches/m-1/evidence/{name}/"
    with at_most(14):
        whole = as_team.get(address).content.decode()
    part = as_team.get(address, headers={"HX-Request": "true"}).content.decode()
    assert whole.startswith("<!doctype html>") and 'aria-current="page"' in whole
    assert part.lstrip().startswith('<div class="stack" id="evidence-tab" data-in-place>')
    assert "data-in-place" not in whole
    assert as_rival.get(address).status_code == 404
    assert as_blind.get(address).status_code == 404
    assert Client().get(address).status_code == 302


def test_evidence_without_a_tab_leads_to_the_tests(bundle: Bundle, as_team: Client) -> None:
    assert as_team.get("/matches/m-1/evidence/").url == "/matches/m-1/evidence/tests/"


# Tests


def test_failures_come_first_and_hidden_tests_are_counts(bundle: Bundle, as_team: Client) -> None:
    html = tab(as_team, "tests")
    names = re.findall(r">(tests\.test_a::\w+)<", html)
    assert names == ["tests.test_a::test_twice", "tests.test_a::test_once"]
    said = text_of(html)
    assert "2 tests, visible ones, 1 of them failing; failures first" in said
    assert "2 hidden tests and invariants: how many pass in every run, by severity" in said
    assert "Names, messages, logs and timing of hidden tests are withheld." in said


def test_staff_see_hidden_tests_by_name(bundle: Bundle, as_staff: Client) -> None:
    assert "hidden.t::test_zanzibar_key" in tab(as_staff, "tests")
    assert "zanzibar" not in tab(as_staff, "tests", "?as=team")


def test_many_tests_come_by_the_page(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    listed, results = many_tests(1_000)
    plain(tmp_path, static=[results], challenge={"tests": listed}, hidden=[])
    client = client_of(competitor)
    html = tab(client, "tests")
    assert "1,000 tests" in html
    assert "test_00900" in html and "test_00901" not in html  # ten fail, of each hundred the first
    assert len(html) < 100_000
    assert "test_00999" in tab(client, "tests", "?page=20")


def test_a_test_that_the_submission_changed_says_why_it_counts_as_failed(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    changed = "--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-x\n+y\n"
    plain(tmp_path, diff=changed)
    assert "Counts as failed: the submission changed its file" in tab(
        client_of(competitor), "tests"
    )


# Timeline


def test_the_timeline_is_a_picture_and_a_table_of_events(bundle: Bundle, as_team: Client) -> None:
    html = tab(as_team, "timeline")
    assert '<svg class="chart" height="294" role="group" aria-label="Timeline of' in html
    assert "2 test runs, from 1 of 2 to 2 of 2 passing" in html
    assert html.count("<tr id=") == 8
    assert "zanzibar" not in html
    assert ">withheld<" in html


def test_a_record_without_a_clock_says_so_and_is_drawn_by_order(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    steps = [{**step(at, "Look.", "ls"), "timestamp": None} for at in range(1, 6)]
    for one in steps:
        del one["timestamp"]
    plain(tmp_path, files={"telemetry.json": ("telemetry", trajectory(steps))})
    html = tab(client_of(competitor), "timeline")
    assert "the record has no clock" in html
    assert "No clock: events stand by their order" in html
    assert "0:00" not in html


def test_a_long_run_is_drawn_in_bins_and_read_by_the_page(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    steps = [step(at, f"Step {at}.", "ls") for at in range(1, 1_501)]
    plain(tmp_path, files={"telemetry.json": ("telemetry", trajectory(steps))})
    client = client_of(competitor)
    html = tab(client, "timeline")
    assert "Many events: the height of a mark is their number" in html
    assert html.count("<tr id=") == 50
    assert html.count('<rect class="bin') <= 160 * 5
    assert len(html) < 300_000
    at_event = tab(client, "timeline", "?at=1234")
    assert 'id="e-1234" class="is-target"' in at_event
    assert "Events 1201 to 1250 of 1500" in at_event


def test_an_unreadable_record_is_a_state_with_its_reason(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    plain(
        tmp_path,
        files={"telemetry.json": ("telemetry", '{"schema_version": "ATIF-v1.8", "steps": ')},
    )
    assert "telemetry.json could not be read." in tab(client_of(competitor), "timeline")


def test_no_record_is_said(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    plain(tmp_path)
    assert "No telemetry" in tab(client_of(competitor), "timeline")


# Diff, logs, deliverables, sandbox, scan, files


def test_a_diff_comes_file_by_file_and_a_quoting_one_is_withheld(
    bundle: Bundle, as_team: Client
) -> None:
    html = tab(as_team, "diff")
    assert "refunds/store.py" in html and "notes/peek.py" in html
    assert "Withheld: this file quotes a hidden test." in html
    assert "kumquat" not in html


def test_a_long_file_of_a_diff_goes_on_where_it_was_cut(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    lines = "".join(f"+line {number}\n" for number in range(1, 1_501))
    diff = f"--- /dev/null\n+++ b/long.txt\n@@ -0,0 +1,1500 @@\n{lines}"
    plain(tmp_path, diff=diff)
    client = client_of(competitor)
    html = tab(client, "diff")
    assert "+line 600<" in html and "+line 601<" not in html
    more = re.search(r'href="([^"]+only=1[^"]*from=601)"', html)
    assert more
    rest = client.get(more[1].replace("&amp;", "&")).content.decode()
    assert "+line 601<" in rest and "+line 1200<" in rest and "+line 600<" not in rest


def test_logs_of_hidden_runs_are_not_even_counted(bundle: Bundle, as_team: Client) -> None:
    html = tab(as_team, "logs")
    assert "static-1.log" in html and "build.log" in html
    assert "hidden" not in html.partition("<tbody>")[2].partition("</tbody>")[0]
    assert "run 1 of the visible tests" in html
    assert "3 logs" in html


def test_deliverables_are_rendered_with_their_source_beside(
    bundle: Bundle, as_team: Client
) -> None:
    html = tab(as_team, "deliverables")
    assert "<strong>before</strong>" in html
    assert "The lock is taken **before** the key is read." in html
    assert "PEEKED.md quotes a hidden test and is withheld." in html


def test_accesses_of_a_finding_are_marked_and_a_hidden_target_is_withheld(
    bundle: Bundle, as_team: Client
) -> None:
    html = tab(as_team, "sandbox")
    assert "203.0.113.7:443" in html and "✕ refused" in html
    marked = re.findall(r'class="is-target".*?</tr>', html, re.DOTALL)
    assert ["Network escape" in row for row in marked] == [True, False]  # what was refused is first
    assert "Test suite access" in marked[1] and ">withheld<" in marked[1]


def test_a_finding_of_the_scanner_that_quotes_is_withheld(bundle: Bundle, as_team: Client) -> None:
    html = tab(as_team, "scan")
    assert "assert used" in html
    assert "zanzibar" not in html


def test_a_clean_scan_says_so(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    plain(tmp_path, files={"scan.sarif": ("scan", sarif())})
    assert "The scanner found nothing." in tab(client_of(competitor), "scan")


def test_files_are_listed_with_how_each_was_read(bundle: Bundle, as_team: Client) -> None:
    html = tab(as_team, "files")
    assert "telemetry.json" in html and "atif" in html and "zoned" in html
    assert "hidden-1.xml" not in html and "verdicts.json" not in html
    assert text_of(html).count("Save") >= 5
    row = row_of(html, "telemetry.json")
    assert (row[1], row[4], row[6]) == ("telemetry", "Read", "zoned")
    assert row[5] == f"atif 1.8 reader {AtifReader.version}"
    bundle.artifacts.filter(format="atif").update(reader_version=1)
    row = row_of(tab(as_team, "files"), "telemetry.json")
    assert f"reader 1, now {AtifReader.version}: upload it again" in row[5]
    assert row[7].startswith("events ")
    assert row_of(html, "static-1.xml")[3] == "Save static-1.xml"


def test_several_scans_are_chosen_between(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    rich(
        tmp_path,
        files={
            "a.sarif": ("scan", sarif(scanned("first report"))),
            "b.sarif": ("scan", sarif(scanned("second report"))),
        },
        verdicts=[],
        findings=[],
        build={"ok": True},
    )
    client = client_of(competitor)
    html = tab(client, "scan")
    assert "first report" in html and "second report" not in html
    other = re.search(r'data-part href="(\?file=\w+)">b\.sarif', html)
    assert other
    assert "second report" in tab(client, "scan", other[1])


def test_the_diff_lists_its_files_with_what_goes_beyond_the_scope(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    changed = "--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-x\n+y\n"
    rich(tmp_path, diff=DIFF + changed)
    html = tab(client_of(competitor), "diff")
    listed = html.partition('aria-label="Files of the diff"')[2].partition("</table>")[0]
    rows = [text_of(f"<main>{row}</main>") for row in listed.split("<tr>")[2:]]
    assert "refunds/store.py" in rows[0] and "1 line" in rows[0]
    assert "notes/peek.py" in rows[1] and "withheld" in rows[1] and "line" not in rows[1][-10:]
    assert "visible test: its tests count as failed" in rows[2]
    assert "3 files, +5 −2" in text_of(html)


def test_a_file_first_touched_after_an_error_is_marked(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    steps = [
        step(1, "Go.", "sed -i s/pay/lock/ refunds/store.py"),
        step(2, "Run.", PYTEST, "PASSED tests/test_a.py::test_once\n1 passed in 0.1s"),
        step(3, "On.", "sed -i s/lock/hold/ refunds/store.py"),
        step(4, "Run.", PYTEST, "FAILED tests/test_a.py::test_once - x\n1 failed in 0.1s"),
        step(5, "Elsewhere.", "sed -i s/a/b/ refunds/other.py"),
    ]
    diff = DIFF.partition("diff --git a/notes")[0]
    other = diff.replace("store.py", "other.py")
    files = {"telemetry.json": ("telemetry", trajectory(steps))}
    plain(tmp_path, diff=diff + other, files=files)
    html = tab(client_of(competitor), "diff")
    marked = re.findall(r"<summary>(refunds/\w+\.py)[^\n]*?first touched after an error", html)
    assert marked == ["refunds/other.py"]


def test_a_cited_line_says_who_rests_on_it_and_is_opened_by_its_address(
    bundle: Bundle, as_team: Client, as_staff: Client
) -> None:
    html = tab(as_team, "diff", "?line=diff:refunds/store.py:2")
    row = html.partition('id="at"')[2].partition("</tr>")[0]
    assert "is-cited" in html.partition(' id="at"')[0][-60:]
    assert '<a class="cite" href="/matches/m-1/#strategy">Strategy</a>' in row
    assert "#finding-" in tab(as_staff, "diff")
    assert "#finding-" not in html  # the finding's line is in a file that is withheld


def test_a_line_far_down_a_long_diff_has_its_page(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    small = "".join(
        f"--- /dev/null\n+++ b/f{at:02}.txt\n@@ -0,0 +1 @@\n+small\n" for at in range(12)
    )
    lines = "".join(f"+line {number}\n" for number in range(1, 1_501))
    plain(tmp_path, diff=f"{small}--- /dev/null\n+++ b/long.txt\n@@ -0,0 +1,1500 @@\n{lines}")
    html = tab(client_of(competitor), "diff", "?line=diff:long.txt:700")
    assert "+line 700<" in html.partition('id="at"')[2].partition("</tr>")[0]
    assert "f11.txt" in html and "+line 600<" not in html
    nowhere = tab(client_of(competitor), "diff", "?line=diff:none.txt:7")
    assert 'id="at"' not in nowhere and "f00.txt" in nowhere


def test_events_are_kept_to_a_kind_a_phase_and_a_window(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    steps = [step(at, f"Step {at}.", "ls") for at in range(1, 901)]
    steps[499] = step(500, "Run.", PYTEST, "PASSED tests/test_a.py::test_once\n1 passed in 0.1s")
    plain(tmp_path, files={"telemetry.json": ("telemetry", trajectory(steps))})
    client = client_of(competitor)
    whole = tab(client, "timeline")
    assert "Event by event, window 1 of 3" in whole
    tests = tab(client, "timeline", "?kind=test")
    assert re.findall(r'<tr id="e-(\d+)"', tests) == ["500"]
    second = tab(client, "timeline", "?window=2")
    assert "window 2 of 3" in second and '<rect class="bin' not in second
    assert 'id="e-401"' in second and "Of those chosen, events 1 to 50 of 400" in second
    assert 'id="e-500" class="is-target"' in tab(client, "timeline", "?window=2&at=500")
    for odd in ("?kind=none", "?window=99", "?window=x", "?phase=4", "?kind=test&page=9"):
        assert "<tr id=" in tab(client, "timeline", odd)


def test_an_event_tells_who_cites_it(bundle: Bundle, as_team: Client) -> None:
    html = tab(as_team, "timeline")
    row = html.partition('<tr id="e-5"')[2].partition("</tr>")[0]
    assert '<a class="cite" href="/matches/m-1/#process">Process</a>' in row


def test_tests_are_kept_to_a_result_or_a_severity_with_their_runs_side_by_side(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    second = STATIC_RESULTS.replace("<failure", "<!-- <failure").replace(
        "</failure>", "</failure> -->"
    )
    rich(tmp_path, static=[STATIC_RESULTS, second])
    client = client_of(competitor)
    html = tab(client, "tests")
    assert 'class="run">Run 1</th>' in html and 'class="run">Run 2</th>' in html
    assert "passes sometimes" in html.partition("test_twice")[2].partition("</tr>")[0]
    for show, names in (
        ("flaky", ["test_twice"]),
        ("failing", ["test_twice"]),
        ("critical", ["test_once"]),
        ("none", ["test_twice", "test_once"]),
    ):
        shown = tab(client, "tests", f"?show={show}")
        assert re.findall(r">tests\.test_a::(\w+)<", shown) == names
    assert "zanzibar" not in tab(client, "tests", "?show=high")


def test_what_was_refused_stands_apart_from_what_was_allowed(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    opened = 'openat(AT_FDCWD, "/work/refunds/f{at}.py", O_RDONLY) = {end}'
    lines = [
        f"11 17960421{at:02}.1 " + opened.format(at=at, end="3" if at % 2 else "-1 EACCES (No)")
        for at in range(130)
    ]
    plain(tmp_path, files={"sandbox.log": ("sandbox", "\n".join(lines) + "\n")})
    client = client_of(competitor)
    html = tab(client, "sandbox")
    refused, _, allowed = html.partition('id="accesses-allowed"')
    assert "f0.py" in refused and "f1.py" not in refused
    assert "f1.py" in allowed and "f0.py" not in allowed
    assert "50 of 65 are shown; go on" in refused
    rest = tab(client, "sandbox", "?show=refused&page=2")
    assert "f128.py" in rest and "f0.py" not in rest and "f129.py" not in rest
