"""Uploading in a real browser, followed by a real worker until the match is scored."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from bouts.models import Bundle, Match, Upload, User
from judging import steps
from judging.models import Step
from tests import faulty, matches
from tests.bouts.formats.reading import call, trajectory
from tests.e2e.conftest import OpenPage, Problems
from tests.factories import make_team
from tests.faulty import good
from tests.judging.cards import make_agent, make_version, record
from tests.matches import judge, panel

Accessible = Callable[[Page], None]
Shoot = Callable[[Page, str], object]

WORK_MS = 60_000  # what the worker may take on a busy machine
TWO_JUDGES = {"judges": ["objective", "strategy", "integrity"]}


@pytest.fixture
def known(transactional_db: None, tmp_path: Path) -> None:
    """A team and a challenge that bundles may name."""
    make_team()
    matches.store_challenge(tmp_path / "challenge", **TWO_JUDGES)


def as_zip(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/zip", "buffer": content}


def choose(page: Page, *files: FilePayload) -> None:
    page.get_by_label("choose files").set_input_files(list(files))
    page.get_by_role("button", name="Upload", exact=True).click()


def drop(page: Page, *files: FilePayload) -> None:
    """Let go of files over the page, as from a file manager."""
    encoded = [[file["name"], base64.b64encode(file["buffer"]).decode()] for file in files]
    transfer = page.evaluate_handle(
        """files => {
          const transfer = new DataTransfer();
          for (const [name, content] of files) {
            const bytes = Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
            transfer.items.add(new File([bytes], name));
          }
          return transfer;
        }""",
        encoded,
    )
    zone = page.locator("#upload")
    zone.dispatch_event("dragover", {"dataTransfer": transfer})
    expect(zone).to_have_class(re.compile("is-over"))
    zone.dispatch_event("drop", {"dataTransfer": transfer})
    expect(zone).not_to_have_class(re.compile("is-over"))


def test_a_chosen_bundle_is_followed_until_it_is_scored(
    page_as: OpenPage, operator: User, known: None, tmp_path: Path
) -> None:
    page = page_as(operator)
    page.goto("/upload/")
    expect(page.get_by_text("Nothing was uploaded yet")).to_be_visible()
    choose(page, as_zip("heron.zip", good(tmp_path / "b")))
    expect(page).to_have_url(re.compile("/upload/[0-9a-f-]{36}/"))
    expect(page.get_by_role("heading", name="Scored")).to_be_visible(timeout=WORK_MS)
    expect(page.locator(".stages .is-done")).to_have_count(9)
    total = str(Match.objects.get().scorecards.get().total)
    expect(page.get_by_text(total)).to_be_visible()
    page.get_by_role("link", name="Open the breakdown").click()
    expect(page.locator(".total-number")).to_have_text(total)
    page.goto("/upload/")
    expect(page.get_by_role("row", name=re.compile("heron.zip"))).to_contain_text(total)


def test_several_files_dropped_at_once_go_their_own_ways(
    page_as: OpenPage, operator: User, known: None, tmp_path: Path
) -> None:
    page = page_as(operator)
    page.goto("/upload/")
    wrong = faulty.unknown_team(tmp_path / "wrong")
    drop(
        page,
        as_zip("m-1.zip", good(tmp_path / "1", match="m-1")),
        as_zip("m-2.zip", good(tmp_path / "2", match="m-2")),
        as_zip(wrong.name, wrong.content),
    )
    for name in ("m-1.zip", "m-2.zip", wrong.name):
        expect(page.get_by_role("status").get_by_text(f"{name}: received")).to_be_visible()
    table = page.get_by_role("table")
    for name in ("m-1.zip", "m-2.zip"):
        expect(table.get_by_role("row", name=re.compile(name))).to_contain_text(
            "Final", timeout=WORK_MS
        )
    expect(table.get_by_role("row", name=re.compile(wrong.name))).to_contain_text(
        "1 fault", timeout=WORK_MS
    )
    assert Match.objects.count() == 2


def test_the_transfer_shows_its_progress(
    page_as: OpenPage, operator: User, known: None, tmp_path: Path
) -> None:
    page = page_as(operator)
    page.goto("/upload/")
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 400_000},
    )
    content = faulty.zip_of({"noise.bin": random.Random(0).randbytes(1_000_000)})
    page.evaluate(
        """() => {
          window.seen = [];
          const look = () => {
            const bar = document.querySelector("#upload-said progress");
            if (bar) window.seen.push(bar.value);
            requestAnimationFrame(look);
          };
          look();
        }"""
    )
    drop(page, as_zip("a.zip", content), as_zip("b.zip", content[:100]))
    expect(page.get_by_role("status").get_by_text("b.zip: received")).to_be_visible(timeout=WORK_MS)
    seen = page.evaluate("window.seen")
    assert seen == sorted(seen)
    assert any(0 < value < 1 for value in seen)


def test_all_faults_are_told_at_once_and_are_text_and_nothing_else(
    page_as: OpenPage, operator: User, known: None, tmp_path: Path, accessible: Accessible
) -> None:
    attack = '<img src=x onerror="document.title=1">'
    page = page_as(operator)
    page.goto("/upload/")
    content = good(tmp_path / "b", agent={"team": attack}, challenge=attack, finished_at=attack)
    choose(page, as_zip(f"{attack}.zip".replace("/", ""), content))
    expect(page.get_by_role("heading", name="Refused")).to_be_visible(timeout=WORK_MS)
    expect(page.get_by_text("3 faults. Nothing was stored.")).to_be_visible()
    faults = page.get_by_role("region", name="Faults").locator("tbody tr")
    expect(faults).to_have_count(3)
    expect(faults.first).to_contain_text(attack)
    assert page.locator("img").count() == 0
    assert page.title() != "1"
    accessible(page)
    assert not Match.objects.exists()


def test_a_check_stores_nothing_and_the_same_again_is_unchanged(
    page_as: OpenPage, operator: User, known: None, tmp_path: Path
) -> None:
    content = good(tmp_path / "b")
    page = page_as(operator)
    for is_check, word in ((True, "valid; nothing was stored"), (False, "m-1, bundle 1")):
        page.goto("/upload/")
        if is_check:
            page.get_by_label("Check only").check()
        choose(page, as_zip("heron.zip", content))
        expect(page.locator(".stages")).to_contain_text(word, timeout=WORK_MS)
        assert Bundle.objects.exists() is not is_check
    page.goto("/upload/")
    choose(page, as_zip("again.zip", content))
    expect(page.locator(".stages")).to_contain_text(
        "the same content is here already", timeout=WORK_MS
    )
    assert Bundle.objects.count() == 1


def test_what_cannot_be_sent_is_said_and_can_be_sent_again(
    page_as: OpenPage, operator: User, known: None, tmp_path: Path, problems: Problems
) -> None:
    page = page_as(operator)
    page.goto("/upload/")
    page.evaluate("document.getElementById('upload').dataset.most = '10'")
    page.reload()
    said = page.get_by_role("status")

    page.route("**/upload/", lambda route: route.abort())
    choose(page, as_zip("heron.zip", good(tmp_path / "b")))
    expect(said.get_by_text("heron.zip: the connection broke.")).to_be_visible()
    problems.expect("ERR_FAILED")
    page.unroute("**/upload/")

    page.context.clear_cookies(name="sessionid")
    choose(page, as_zip("heron.zip", good(tmp_path / "b")))
    expect(said.get_by_text("heron.zip: you are signed out.")).to_be_visible()
    assert not Upload.objects.exists()


def test_a_file_that_is_too_large_is_not_even_sent(page_as: OpenPage, operator: User) -> None:
    page = page_as(operator)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method))
    page.goto("/upload/")
    page.evaluate(
        """() => {
          const file = new File(["x"], "huge.zip");
          Object.defineProperty(file, "size", { value: 600_000_000 });
          const event = new Event("drop");
          event.dataTransfer = { files: [file] };
          document.dispatchEvent(event);
        }"""
    )
    words = "huge.zip: At most 512 MB (BOUTS_MAX_BUNDLE_MB). Not sent."
    expect(page.get_by_role("status").get_by_text(words)).to_be_visible()
    assert "POST" not in asked


def test_it_works_without_script_on_a_telephone(
    page_as: OpenPage, operator: User, known: None, tmp_path: Path
) -> None:
    page = page_as(operator, width=360, java_script_enabled=False)
    page.goto("/upload/")
    expect(page.get_by_text("Drop bundles here")).to_be_hidden()
    choose(page, as_zip("heron.zip", good(tmp_path / "b")))
    expect(page).to_have_url(re.compile("/upload/[0-9a-f-]{36}/"))
    for _ in range(WORK_MS // 250):
        if page.get_by_role("heading", name="Scored").count():
            break
        page.wait_for_timeout(250)
        page.reload()
    expect(page.locator(".stages .is-done")).to_have_count(9)
    files = page.get_by_role("region", name="How each file was read")
    results = files.get_by_role("row", name=re.compile(r"static-1\.xml"))
    for words in ("Read", "junit", "cases 2, passed 2"):
        expect(results).to_contain_text(words)
    for _ in range(2):  # nothing of it lies beyond the edge: not here, not in the list of uploads
        region = page.locator(".scroll")
        expect(region).to_have_count(1)
        assert region.evaluate("region => region.scrollWidth <= region.clientWidth")
        page.goto("/upload/")


def test_a_step_is_started_again_from_the_work_page(
    page_as: OpenPage, operator: User, known: None, tmp_path: Path
) -> None:
    judge(tmp_path / "m", challenge=TWO_JUDGES)
    Step.objects.filter(name="process").update(state="failed", attempts=3, reason="KeyError('t')")
    page = page_as(operator)
    page.goto("/work/")
    expect(page.get_by_text("KeyError('t')")).to_be_visible()
    page.get_by_role("button", name="Requeue Process of m-1").click()
    expect(page.get_by_text("Process of m-1 is queued again.")).to_be_visible()
    expect(page.get_by_text("Nothing waits")).to_be_visible(timeout=WORK_MS)
    assert Step.objects.get(name="process").state == Step.State.DONE


def test_a_match_is_withdrawn_and_put_back(
    page_as: OpenPage, operator: User, tmp_path: Path
) -> None:
    judge(tmp_path, challenge=TWO_JUDGES)
    page = page_as(operator)
    page.goto("/matches/m-1/")
    page.get_by_role("link", name="Withdraw or exclude").click()
    page.get_by_label("Withdrawn: its team asked for it").check()
    page.get_by_label("Public reason").fill("They sent the wrong commit.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Withdrawn: this match counts on no leaderboard.")).to_be_visible()
    expect(page.get_by_text("They sent the wrong commit.")).to_be_visible()
    page.goto("/leaderboard/refunds/")
    expect(page.get_by_role("row", name=re.compile("Heron"))).to_contain_text(
        "One match, withdrawn"
    )
    page.goto("/matches/m-1/exclusion/")
    page.get_by_label("It counts").check()
    page.get_by_label("Public reason").fill("It was the right one.")
    page.get_by_role("button", name="Save").click()
    page.goto("/leaderboard/refunds/")
    expect(page.get_by_role("row", name=re.compile("Heron"))).to_contain_text("Final")


def test_the_board_is_sorted_and_filtered_in_place(page_as: OpenPage, competitor: User) -> None:
    version = make_version()
    record(make_agent("Heron"), version, 90, objective=10)
    record(make_agent("Wren", "halyard"), version, 80, objective=20)
    page = page_as(competitor)
    page.goto("/leaderboard/refunds/")
    # Beside the board stands a table of how far apart the agents of one base model are.
    board = page.get_by_role("region", name="Leaderboard")
    rows = board.locator("tbody tr")
    expect(rows.first).to_contain_text("Heron")
    page.get_by_role("link", name="Objective").click()
    expect(rows.first).to_contain_text("Wren")
    expect(board.get_by_role("columnheader", name="Objective")).to_have_attribute(
        "aria-sort", "descending"
    )
    page.get_by_label("Team", exact=True).select_option("halyard")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("order=-objective"))  # the filter keeps the order
    page.go_back()
    expect(rows).to_have_count(2)


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_every_page_is_accessible_and_fits_its_window(
    width: int,
    color_scheme: str,
    page_as: OpenPage,
    accessible: Accessible,
    shoot: Shoot,
    operator: User,
    tmp_path: Path,
) -> None:
    page = page_as(operator, width=width, color_scheme=color_scheme)

    def look(*addresses: str, when: str) -> None:
        for address in addresses:
            page.goto(address)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
            accessible(page)
            name = re.sub(r"[^a-z0-9]+", "-", address.strip("/"))[:30]
            shoot(page, f"{name}-{when}-{width}-{color_scheme}")

    look("/upload/", "/work/", "/leaderboard/", "/api/", "/schemas/", when="empty")
    files = {  # one that is read with much to note, and one that is not
        "telemetry/of/the/whole/run.json": (
            "telemetry",
            trajectory({}, {"step_id": 9}, call("bash")),
        ),
        "scan.sarif": ("scan", '{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "a"}}'),
    }
    bundle = judge(tmp_path / "1", match="m-1", verdicts=panel(60, 76, 92), files=files)
    version = bundle.challenge_version
    for name, value, status in (
        ("Wren", 80, "final"),
        ("Kite", 80, "final"),
        ("Ibis", None, "unscored"),
    ):
        record(make_agent(name), version, value, status=status, objective=value)
    stored = _uploads(operator, bundle)
    Step.objects.filter(name="process").update(state="failed", reason="KeyError('t')", attempts=3)
    look(
        "/upload/", *stored, "/work/", "/leaderboard/", "/leaderboard/refunds/?q=e",
        "/matches/m-1/evidence/files/", "/matches/m-1/exclusion/", "/challenges/refunds/state/", when="full",
    )  # fmt: skip


def _uploads(operator: User, bundle: Bundle) -> list[str]:
    """Make an upload in each state, and return their addresses."""
    stages = [
        {"stage": "received", "at": "2026-03-12T14:00:00Z", "detail": "38.2 MB"},
        {"stage": "taken", "at": "2026-03-12T14:00:01Z", "detail": ""},
    ]
    fault = {"file": "match.json", "field": "agent.team", "found": "northbnk", "expected": "A team"}
    steps.lay_out(bundle)
    return [
        Upload.objects.create(
            name=f"heron-{state}.tar.zst",
            size=38_200_000,
            by=operator,
            state=state,
            stages=stages,
            bundle=bundle if state in {"stored", "unchanged"} else None,
            faults=[fault] * 3 if state == "refused" else [],
            reason="OSError(28, 'No space left on device')" if state == "failed" else "",
        ).get_absolute_url()
        for state in Upload.State
    ]
