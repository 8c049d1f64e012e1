"""The upload page and what it tells of an upload, without script and as htmx asks for parts."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client, TestCase
from django.utils import timezone
from django.utils.html import escape
from pytest_django import DjangoAssertNumQueries

from bouts import audit, blobs
from bouts.actions import uploads
from bouts.formats.atif import AtifReader
from bouts.formats.junit import JUnitReader
from bouts.models import Artifact, AuditEntry, Blob, Bundle, ChallengeVersion, Match, Upload, User
from judging import steps
from judging.models import Scorecard, Step
from judging.views import uploads as views
from tests import faulty, matches
from tests.factories import make_team
from tests.faulty import KINDS, good

pytestmark = pytest.mark.django_db
SignedIn = Callable[[User], Client]
PARTIAL = {"HX-Request": "true"}


@pytest.fixture
def ops(client_of: SignedIn, operator: User, storage: Path) -> Client:
    return client_of(operator)


@pytest.fixture
def known(tmp_path: Path) -> None:
    """A team and a challenge that bundles may name."""
    make_team()
    matches.store_challenge(tmp_path / "challenge")


def send(client: Client, *files: tuple[str, bytes], check: bool = False, **headers: str) -> Any:
    named = [io.BytesIO(content) for _, content in files]
    for file, (name, _) in zip(named, files, strict=True):
        file.name = name
    data = {"bundles": named, **({"check": "on"} if check else {})}
    return client.post("/upload/", data, headers=headers)


def work_through(upload: Upload) -> Upload:
    """Do what the workers would do."""
    with TestCase.captureOnCommitCallbacks(execute=True):
        done = uploads.process(str(upload.pk))
    assert done is not None
    if done.bundle:
        steps.run_steps(done.bundle)
    return done


def page_of(client: Client, upload: Upload) -> str:
    return client.get(upload.get_absolute_url()).content.decode()


def row_of(page: str, name: str) -> list[str]:
    """Return what the cells of a file's row say."""
    row = next(row for row in page.split("<tr>") if name in row.partition("</th>")[0])
    cells = re.findall(r"<t[hd][ >].*?</t[hd]>", row, re.DOTALL)
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", cell)).split()) for cell in cells]


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


# Sending


def test_a_sent_bundle_is_received_then_stored_then_scored(
    ops: Client, known: None, tmp_path: Path
) -> None:
    answer = send(ops, ("heron.zip", good(tmp_path / "b")))
    upload = Upload.objects.get()
    assert (answer.status_code, answer.url) == (302, upload.get_absolute_url())
    assert upload.state == Upload.State.RECEIVED
    assert "waits for a worker" in page_of(ops, upload)

    done = work_through(upload)
    assert done.state == Upload.State.STORED
    page = page_of(ops, upload)
    total = Scorecard.objects.get().total
    assert f">{total}<" in page
    assert "All 9 done" in page
    assert Match.objects.get().get_absolute_url() in page


def test_several_files_at_once_are_several_uploads(
    ops: Client, known: None, tmp_path: Path
) -> None:
    files = [(f"{name}.zip", good(tmp_path / name, match=name)) for name in ("m-1", "m-2", "m-3")]
    answer = send(ops, *files)
    assert (answer.status_code, answer.url) == (302, "/upload/")
    assert {work_through(upload).state for upload in Upload.objects.all()} == {"stored"}
    assert Match.objects.count() == 3
    listed = ops.get("/upload/").content.decode()
    assert listed.index("m-3.zip") < listed.index("m-1.zip")


def test_the_script_is_told_the_addresses(ops: Client, tmp_path: Path, known: None) -> None:
    answer = send(ops, ("heron.zip", good(tmp_path / "b")), accept="application/json")
    assert answer.status_code == 202
    assert answer.json() == {"uploads": [Upload.objects.get().get_absolute_url()]}


def test_a_challenge_is_sent_the_same_way(ops: Client) -> None:
    send(ops, ("challenge.json", json.dumps(matches.CHALLENGE).encode()))
    upload = work_through(Upload.objects.get())
    assert ChallengeVersion.objects.get().title == "Retry-safe refunds"
    assert "/challenges/refunds/" in page_of(ops, upload)


def test_the_same_content_again_is_unchanged(ops: Client, known: None, tmp_path: Path) -> None:
    content = good(tmp_path / "b")
    for _ in range(2):
        send(ops, ("heron.zip", content))
    again, first = (work_through(upload) for upload in Upload.objects.order_by("created_at"))
    assert [again.state, first.state] == ["stored", "unchanged"]
    assert "the same content is here already" in page_of(ops, first)
    assert Bundle.objects.count() == 1


def test_what_is_only_checked_stores_nothing(
    ops: Client, known: None, tmp_path: Path, storage: Path
) -> None:
    send(ops, ("heron.zip", good(tmp_path / "b")), check=True)
    upload = work_through(Upload.objects.get())
    assert upload.state == Upload.State.VALID
    assert "valid; nothing was stored" in page_of(ops, upload)
    assert not Match.objects.exists()
    assert files_in(storage) == []


def test_nothing_chosen_is_said(ops: Client) -> None:
    answer = ops.post("/upload/", {})
    assert answer.status_code == 422
    assert b"Choose a file: nothing was sent." in answer.content


def test_what_is_too_large_is_refused_before_it_is_read(ops: Client) -> None:
    answer = ops.post("/upload/", {}, headers={"Content-Length": "600000000"})
    assert answer.status_code == 413
    assert b"At most 512 MB (BOUTS_MAX_BUNDLE_MB)" in answer.content


def test_a_form_from_elsewhere_is_refused(operator: User, storage: Path) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    assert send(client, ("heron.zip", b"x")).status_code == 403
    assert not Upload.objects.exists()


@pytest.mark.parametrize("address", ["/upload/", "/work/"])
def test_only_ops_and_admins_come_in(
    address: str, client_of: SignedIn, competitor: User, reviewer: User, lead: User, admin: User
) -> None:
    for user, status in ((competitor, 403), (reviewer, 403), (lead, 403), (admin, 200)):
        assert client_of(user).get(address).status_code == status, user
    assert Client().get(address).status_code == 302


def test_only_ops_can_send(client_of: SignedIn, competitor: User, storage: Path) -> None:
    assert send(client_of(competitor), ("heron.zip", b"x")).status_code == 403
    assert send(Client(), ("heron.zip", b"x")).status_code == 302
    assert not Upload.objects.exists()
    assert files_in(storage) == []


@pytest.mark.parametrize("page", ["", "faults.json", "retry/"])
def test_only_ops_see_an_upload(
    page: str, client_of: SignedIn, competitor: User, operator: User
) -> None:
    upload = Upload.objects.create(name="a.zip", size=1, by=operator)
    client = client_of(competitor)
    ask = client.post if page == "retry/" else client.get
    assert ask(f"{upload.get_absolute_url()}{page}").status_code == 403


# Refusals


@pytest.mark.parametrize("kind", KINDS)
def test_a_faulty_upload_is_refused_with_its_fault_and_nothing_is_stored(
    kind: str, ops: Client, known: None, tmp_path: Path, storage: Path
) -> None:
    wrong = KINDS[kind](tmp_path / "b")
    versions = ChallengeVersion.objects.count()
    send(ops, (wrong.name, wrong.content))
    upload = work_through(Upload.objects.get())
    assert upload.state == Upload.State.REFUSED
    assert wrong.is_among(upload.faults), upload.faults
    page = page_of(ops, upload)
    for fault in upload.faults:
        assert all(escape(text) in page for text in fault.values())
    assert ops.get(f"{upload.get_absolute_url()}faults.json").json()["faults"] == upload.faults
    assert not any(model.objects.exists() for model in (Match, Bundle, Artifact, Blob))
    assert ChallengeVersion.objects.count() == versions
    assert files_in(storage) == []


def test_all_faults_are_told_at_once(ops: Client, known: None, tmp_path: Path) -> None:
    content = good(
        tmp_path / "b", agent={"team": "northbnk"}, challenge="rebates", finished_at="yesterday"
    )
    send(ops, ("heron.zip", content))
    upload = work_through(Upload.objects.get())
    assert [fault["field"] for fault in upload.faults] == ["agent.team", "challenge", "finished_at"]
    assert "3 faults. Nothing was stored." in page_of(ops, upload)


def test_what_a_fault_quotes_is_text_and_nothing_else(
    ops: Client, known: None, tmp_path: Path
) -> None:
    attack = '<img src=x onerror="alert(1)">'
    document = {"challenge": attack, attack: 1}
    content = faulty.zip_of(
        {}, (f"../{attack}", b"x"), ("match.json", json.dumps(document).encode())
    )
    send(ops, (f"{attack}.zip", content))
    upload = work_through(Upload.objects.get())
    assert upload.state == Upload.State.REFUSED
    assert sum(attack in value for fault in upload.faults for value in fault.values()) >= 3
    for page in (page_of(ops, upload), ops.get("/upload/").content.decode()):
        assert "<img src=x" not in page


# Faults inside an artifact


def test_a_null_byte_and_entities_are_stored_marked_and_score_nothing(
    ops: Client, known: None, tmp_path: Path
) -> None:
    entities = '<?xml version="1.0"?><!DOCTYPE t [<!ENTITY e "x">]><testsuite>&e;</testsuite>'
    log = b"started\x00stopped\n"
    files = {"agent.log": ("log", log)}
    send(ops, ("heron.zip", good(tmp_path / "b", hidden=[entities], files=files)))
    upload = work_through(Upload.objects.get())
    assert upload.state == Upload.State.STORED
    artifact = Artifact.objects.get(path="hidden-1.xml")
    assert artifact.state == Artifact.State.UNREADABLE
    assert artifact.reason in page_of(ops, upload)
    card = Scorecard.objects.get()
    assert (card.status, card.total) == ("unscored", None)
    assert card.breakdown["judges"]["objective"]["reason"] == "unreadable"
    page = page_of(ops, upload)
    assert "Judged, without a total" in page and "Scored" not in page
    kept = Artifact.objects.get(path="agent.log")
    with blobs.opened(kept.blob) as content:
        assert content.read() == log  # as it came
    assert [note["text"] for note in kept.notes] == ["1 NUL bytes, shown as ␀"]


def test_what_readers_note_of_a_file_is_text_and_nothing_else(
    ops: Client, known: None, tmp_path: Path
) -> None:
    attack = "<img src=x onerror=alert(1)>.diff"
    send(ops, ("heron.zip", good(tmp_path / "b", files={attack: ("diff", b"\x00\xff<svg>")})))
    upload = work_through(Upload.objects.get())
    artifact = Artifact.objects.get(path=attack)
    assert artifact.reason or artifact.notes
    page = page_of(ops, upload)
    assert escape(attack) in page
    assert "<img" not in page


def test_how_each_file_was_read_is_told_the_unreadable_ones_first(
    ops: Client, known: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = '<testsuite tests="2"><testcase classname="a" name="b"/></testsuite>'
    cut = b'{"schema_version": "ATIF-v1.6", "steps": ['
    content = good(tmp_path / "b", static=[results], files={"z.json": ("telemetry", cut)})
    send(ops, ("heron.zip", content))
    upload = work_through(Upload.objects.get())
    page = page_of(ops, upload)
    assert row_of(page, "static-1.xml") == [
        "static-1.xml", "tests, static, run 1", "Read", f"junit reader {JUnitReader.version}", "–",
        "cases 1, passed 1, suites 1, errored 0, failed 0, skipped 0",
        "a suite's own numbers differ from its cases, which count: "
        "it says tests=2 where there are 1 (line 1)",
    ]  # fmt: skip
    broken = Artifact.objects.get(path="z.json")
    assert row_of(page, "z.json") == [
        "z.json", "telemetry", "Unreadable", f"atif reader {AtifReader.version}", "–", "–",
        f"{broken.reason} ({broken.place})",
    ]  # fmt: skip
    assert page.index("z.json") < page.index("static-1.xml")
    assert "1 unreadable" in page

    monkeypatch.setattr(views, "FILES_PER_PAGE", 2)
    first, second = (
        ops.get(f"{upload.get_absolute_url()}?page={number}").content.decode() for number in (1, 2)
    )
    assert "z.json" in first and 'rel="next"' in first
    assert "z.json" not in second


# Following the work


def test_a_part_of_the_page_follows_the_work(ops: Client, known: None, tmp_path: Path) -> None:
    send(ops, ("heron.zip", good(tmp_path / "b")))
    upload = Upload.objects.get()
    part = ops.get(upload.get_absolute_url(), headers=PARTIAL)
    assert part.content.decode().lstrip().startswith('<div class="stack is-wide" id="progress"')
    assert 'hx-trigger="every 1s"' in part.content.decode()
    work_through(upload)
    assert "hx-trigger" not in ops.get(upload.get_absolute_url(), headers=PARTIAL).content.decode()
    listed = ops.get("/upload/", headers=PARTIAL).content.decode()
    assert listed.lstrip().startswith('<div class="stack" id="uploads"')
    assert "hx-trigger" not in listed


def test_a_worker_that_is_gone_is_said_with_the_age(ops: Client, operator: User) -> None:
    long_ago = timezone.now() - timedelta(minutes=14)
    upload = Upload.objects.create(
        name="heron.zip",
        size=1,
        by=operator,
        state=Upload.State.WORKING,
        attempts=2,
        lease_expires_at=timezone.now() + timedelta(minutes=1),
        stages=[
            {"stage": "received", "at": long_ago.isoformat(), "detail": "1 B"},
            {"stage": "taken", "at": long_ago.isoformat(), "detail": ""},
        ],
    )
    page = page_of(ops, upload)
    assert "attempt 2 of 3" in page
    assert "14 min" in page
    Upload.objects.update(lease_expires_at=long_ago)
    assert "its worker is gone" in page_of(ops, upload)
    assert "Worker gone" in ops.get("/work/").content.decode()


def test_a_failed_upload_is_tried_again(
    ops: Client, known: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(ops, ("heron.zip", good(tmp_path / "b")))
    with monkeypatch.context() as patched:
        patched.setattr(uploads, "store", lambda *args, **options: 1 / 0)
        upload = work_through(Upload.objects.get())
    assert upload.state == Upload.State.FAILED
    assert "ZeroDivisionError" in page_of(ops, upload)
    assert "Try again" in ops.get("/work/").content.decode()

    ops.post(f"{upload.get_absolute_url()}retry/")
    assert AuditEntry.objects.get().subject == audit.subject_of(upload)
    assert work_through(Upload.objects.get()).state == Upload.State.STORED
    ops.post(f"{upload.get_absolute_url()}retry/")  # what is stored stays as it is
    assert Upload.objects.get().state == Upload.State.STORED


def test_a_superseded_bundle_says_so(ops: Client, known: None, tmp_path: Path) -> None:
    send(ops, ("first.zip", good(tmp_path / "1")))
    send(ops, ("second.zip", good(tmp_path / "2", bout="finals")))
    first, second = (work_through(upload) for upload in Upload.objects.order_by("created_at"))
    assert "Superseded" in page_of(ops, first)
    assert "Superseded" not in page_of(ops, second)


def test_a_step_that_failed_points_to_the_work_page(
    ops: Client, known: None, tmp_path: Path
) -> None:
    send(ops, ("heron.zip", good(tmp_path / "b")))
    upload = work_through(Upload.objects.get())
    Step.objects.filter(name="process").update(state="failed", reason="ValueError('odd')")
    page = page_of(ops, upload)
    assert "8 of 9 done" in page
    assert escape("ValueError('odd')") in page
    assert 'href="/work/"' in page


def test_ten_times_the_uploads_need_no_more_queries(
    ops: Client,
    known: None,
    tmp_path: Path,
    operator: User,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    bundle = matches.judge(tmp_path / "m")

    def add(count: int) -> None:
        for number in range(count):
            Upload.objects.create(
                name=f"{number}.zip", size=1, by=operator, state="stored", bundle=bundle
            )

    add(1)
    with django_assert_num_queries(6):  # session, person, count, uploads, scorecards, steps
        ops.get("/upload/")
    add(15)
    with django_assert_num_queries(6):
        ops.get("/upload/")
