"""Uploads that overlap, and workers that die: each is stored once, and the last sent is live."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from bouts.actions import uploads
from bouts.bundles.errors import Refused
from bouts.models import Artifact, Bundle, Match, Upload, User
from judging import steps
from judging.models import Scorecard
from tests import matches
from tests.factories import make_team, make_user
from tests.faulty import good

pytestmark = pytest.mark.django_db(transaction=True)

HALF = {**matches.HIDDEN, f"hidden.t::{matches.CANARY}_key": False}


@pytest.fixture
def sent(tmp_path: Path, storage: Path) -> Callable[..., Upload]:
    """Return what makes an upload that a web server has received."""
    make_team()
    matches.store_challenge(tmp_path / "challenge")
    operator = make_user("tomas", User.Role.OPS)

    def send(name: str, **options: Any) -> Upload:
        file = ContentFile(good(tmp_path / name, **options), f"{name}.zip")
        return uploads.receive(file, by=operator, is_check=False)

    return send


def in_threads(*calls: Callable[[], object]) -> None:
    """Run calls at the same time, each with a connection of its own; raise what one raises."""
    errors: list[BaseException] = []

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def lapse() -> None:
    Upload.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))


def process(upload: Upload) -> Callable[[], object]:
    return lambda: uploads.process(str(upload.pk))


@pytest.mark.parametrize("quick", ["first", "second"])
def test_of_overlapping_uploads_the_one_sent_last_is_live_whichever_is_done_first(
    quick: str, sent: Callable[..., Upload], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = matches.judge(tmp_path / "alone", match="alone", hidden=[HALF])
    rows = {"first": sent("first"), "second": sent("second", hidden=[HALF])}
    slow = next(row for name, row in rows.items() if name != quick)
    is_done = threading.Event()
    plain = uploads.store

    def store(loaded: Any, *, sent_at: Any, **options: Any) -> uploads.Outcome:
        if sent_at == slow.created_at:  # both are unpacked; this one waits for the other
            assert is_done.wait(20)
        return plain(loaded, sent_at=sent_at, **options)

    def be_quick() -> None:
        uploads.process(str(rows[quick].pk))
        is_done.set()

    monkeypatch.setattr(uploads, "store", store)
    in_threads(process(slow), be_quick)

    first, second = (Upload.objects.get(pk=row.pk) for row in rows.values())
    assert first.state == second.state == Upload.State.STORED
    assert first.bundle and second.bundle
    assert [first.bundle.is_live, second.bundle.is_live] == [False, True]
    steps.run_steps(second.bundle)
    cards = {card.match.slug: card for card in Scorecard.objects.live().select_related("match")}
    assert cards["m-1"].bundle == second.bundle
    assert cards["m-1"].total == cards["alone"].total == alone.scorecards.get().total


def test_many_uploads_of_one_match_at_once_leave_the_last_one_live(
    sent: Callable[..., Upload],
) -> None:
    rows = [sent(f"u{number}", bout=f"round {number}") for number in range(4)]
    in_threads(*map(process, reversed(rows)))
    assert set(Upload.objects.values_list("state", flat=True)) == {Upload.State.STORED}
    assert Bundle.objects.get(is_live=True).manifest["bout"] == "round 3"
    assert sorted(Bundle.objects.values_list("number", flat=True)) == [1, 2, 3, 4]


def test_the_same_content_twice_at_once_is_stored_once(sent: Callable[..., Upload]) -> None:
    rows = [sent("a"), sent("b")]
    in_threads(*map(process, rows))
    assert sorted(Upload.objects.values_list("state", flat=True)) == ["stored", "unchanged"]
    assert Bundle.objects.count() == 1


def test_a_task_delivered_three_times_stores_once(sent: Callable[..., Upload]) -> None:
    row = sent("a")
    in_threads(*[process(row)] * 3)
    assert uploads.process(str(row.pk)) is None
    row.refresh_from_db()
    assert (row.state, row.attempts) == (Upload.State.STORED, 1)
    assert Bundle.objects.count() == 1
    assert Artifact.objects.count() == Bundle.objects.get().artifacts.count()


def test_a_worker_whose_lease_went_to_another_changes_nothing(
    sent: Callable[..., Upload], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = sent("a")
    plain = uploads.store

    def store(*args: Any, **options: Any) -> uploads.Outcome:
        monkeypatch.setattr(uploads, "store", plain)
        in_threads(lapse)
        in_threads(process(row))  # another worker takes over and is quicker
        return plain(*args, **options)

    monkeypatch.setattr(uploads, "store", store)
    assert uploads.process(str(row.pk)) is None
    row.refresh_from_db()
    assert (row.state, row.attempts) == (Upload.State.STORED, 2)
    assert Bundle.objects.count() == Match.objects.count() == 1


def test_an_upload_whose_worker_dies_each_time_fails_at_last(
    sent: Callable[..., Upload], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*args: object, **options: object) -> None:
        raise Killed

    row = sent("a")
    monkeypatch.setattr(uploads, "store", die)
    for _ in range(3):
        with pytest.raises(Killed):
            uploads.process(str(row.pk))
        assert uploads.process(str(row.pk)) is None  # the lease still runs
        lapse()
        assert uploads.stranded() == [row]
    done = uploads.process(str(row.pk))
    assert done is not None
    assert (done.state, done.reason) == (Upload.State.FAILED, "the worker died each time")
    assert not Match.objects.exists()
    assert uploads.stranded() == []


def test_an_upload_that_no_worker_was_told_of_is_found(sent: Callable[..., Upload]) -> None:
    row = sent("a")
    assert uploads.stranded() == []
    Upload.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    assert uploads.stranded() == [row]


def test_the_file_is_kept_until_it_was_worked_on(
    sent: Callable[..., Upload], storage: Path
) -> None:
    row = sent("a")
    waiting = storage / row.storage_name
    assert waiting.stat().st_size == row.size
    uploads.process(str(row.pk))
    assert not waiting.exists()


def test_no_list_of_names_is_read_for_a_bundle_that_names_known_ones(
    tmp_path: Path, sent: Callable[..., Upload]
) -> None:
    file = ContentFile(good(tmp_path / "fine"))
    with CaptureQueriesContext(connection) as asked:
        uploads.upload(file, name="fine.zip", by=None)
    of_names = [
        query["sql"]
        for query in asked.captured_queries
        if 'FROM "bouts_challenge"' in query["sql"] or 'FROM "bouts_team"' in query["sql"]
    ]
    assert of_names
    assert all(" WHERE " in sql for sql in of_names)


@pytest.mark.parametrize("team", ["northbnk", "north\0bank", "north\ud800bank", "Ünterbank"])
def test_a_team_that_is_not_known_is_refused_with_those_that_are(
    tmp_path: Path, sent: Callable[..., Upload], team: str
) -> None:
    known = uploads.known()
    assert team not in known.teams
    assert (len(known.teams), list(known.teams)) == (1, ["northbank"])
    file = ContentFile(good(tmp_path / "odd", agent={"team": team}))
    with pytest.raises(Refused) as refused:
        uploads.upload(file, name="odd.zip", by=None)
    assert any("agent.team" in line for line in refused.value.lines())
