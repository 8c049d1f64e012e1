"""A worker that is killed with SIGKILL, in the middle of an upload and of judging.

Real workers on the real queue, with leases of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django.test import Client
from pytest_django.fixtures import Settings

from bouts import tasks as upload_tasks
from bouts.actions import uploads
from bouts.models import Bundle, Match, Upload, User
from judging import tasks
from judging.models import Finding, Scorecard, Step, Verdict
from judging.rejudging import work
from tests import live, matches
from tests.factories import make_team
from tests.faulty import good
from tests.judging.rejudging.making import make_match, mend, propose
from tests.matches import found

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(180)]

LEASE = timedelta(seconds=1)


@contextmanager
def worker() -> Iterator[Callable[[], None]]:
    """Run a worker with short leases, and give what kills it as a power cut would."""
    env = live.environment(BOUTS_STEP_LEASE_S="1", BOUTS_UPLOAD_LEASE_S="1")
    log = live.logs() / "killed-worker.log"
    log.write_bytes(b"")
    command = ["celery", "--app", "bouts", "worker", "--concurrency", "1", "--loglevel", "INFO"]
    with live.running(
        *command, "--without-gossip", "--without-mingle", log=log, env=env
    ) as process:
        live.wait_until(lambda: " ready." in log.read_text(), "the worker")
        yield lambda: live.kill(process)


@contextmanager
def nobody_writes(table: str) -> Iterator[None]:
    """Let everybody who wants to write to a table wait."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
        yield


def is_waited_for(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = %s::regclass AND NOT granted)",
            [table],
        )
        return bool(cursor.fetchone()[0])


@pytest.fixture
def queue() -> Iterator[None]:
    """Empty the queue in the end: what killed workers had taken would come back to others."""
    yield
    live.empty_queues()


@pytest.fixture
def upload(queue: None, settings: Settings, tmp_path: Path, operator: User) -> Upload:
    """A bundle that the web server has received. Its worker shares the folder of this run."""
    settings.STEP_LEASE = settings.UPLOAD_LEASE = LEASE
    make_team()
    matches.store_challenge(tmp_path / "challenge")
    finding = found("plagiarism", "final.diff", "diff:refunds.py:1")
    file = ContentFile(good(tmp_path / "bundle", findings=[finding]), "heron.zip")
    return uploads.receive(file, by=operator, is_check=False)


def test_the_next_worker_finishes_what_a_killed_one_left(
    upload: Upload, operator: User, client_of: Callable[[User], Client]
) -> None:
    client = client_of(operator)

    def page() -> str:
        return client.get(upload.get_absolute_url()).content.decode()

    with worker() as kill, nobody_writes("bouts_match"):
        upload_tasks.ring(str(upload.pk))
        live.wait_until(lambda: is_waited_for("bouts_match"), "the middle of the upload")
        assert 'class="is-now"' in page()
        assert "so far" in page()
        kill()
        live.wait_until(lambda: "its worker is gone" in page(), "the end of the lease")
    assert Upload.objects.get().state == Upload.State.WORKING
    assert not Match.objects.exists()

    with worker() as kill, nobody_writes("judging_verdict"):
        upload_tasks.sweep_uploads()
        live.wait_until(lambda: is_waited_for("judging_verdict"), "the middle of judging")
        assert Upload.objects.get().state == Upload.State.STORED
        assert Upload.objects.get().attempts == 2
        kill()
        live.wait_until(lambda: "its worker is gone" in page(), "the end of the lease")
        assert "Worker gone" in client.get("/work/").content.decode()
    assert set(Step.objects.values_list("state", flat=True)) == {Step.State.RUNNING}
    assert not Scorecard.objects.exists()

    with worker():
        tasks.sweep()
        live.wait_until(Scorecard.objects.exists, "the scorecard")
        live.wait_until(lambda: "All 9 done" in page(), "the end of the work")
    assert Bundle.objects.count() == Scorecard.objects.count() == Finding.objects.count() == 1
    spoken = Verdict.objects.values_list("judge", "seat")
    assert len(spoken) == len(set(spoken)) == 8  # five judges, and three seats of the panel
    assert set(Step.objects.values_list("attempts", flat=True)) == {2}


def test_the_next_worker_goes_on_with_a_rejudging_that_a_killed_one_left(
    queue: None,
    settings: Settings,
    tmp_path: Path,
    operator: User,
    client_of: Callable[[User], Client],
) -> None:
    settings.STEP_LEASE = LEASE
    make_match(tmp_path, "m-1")
    make_match(tmp_path, "m-2", name="Wren")
    mend(tmp_path / "mended")
    rejudging = propose(operator)
    client = client_of(operator)

    def page() -> str:
        return client.get(rejudging.get_absolute_url()).content.decode()

    with worker() as kill, nobody_writes("judging_verdict"):
        tasks.ring_for_rejudging(rejudging.pk)
        live.wait_until(lambda: is_waited_for("judging_verdict"), "the middle of a preview")
        assert "0 of 2 done" in page()
        kill()
    assert Verdict.objects.filter(judge="objective").count() == 2
    with worker():
        live.wait_until(lambda: work.stranded() == [rejudging.pk], "the end of the lease")
        tasks.sweep()
        live.wait_until(lambda: "A preview: nothing of it counts" in page(), "the preview")
        assert rejudging.matches.get(match__slug="m-1").attempts == 2
    rejudging.refresh_from_db()
    client.post(f"{rejudging.get_absolute_url()}apply/", {"seen": rejudging.ranked_at.isoformat()})
    with nobody_writes("judging_verdict"), worker() as kill:
        live.wait_until(lambda: is_waited_for("judging_verdict"), "the middle of applying")
        kill()
    assert not Scorecard.objects.filter(cause="rejudge").exists()
    assert "Being applied" in page()
    with worker():
        live.wait_until(lambda: work.to_be_applied() == [rejudging.pk], "the end of the lease")
        tasks.sweep()
        live.wait_until(lambda: "2 new scorecards" in page(), "the rejudging")
    assert Scorecard.objects.filter(cause="rejudge", is_live=True).count() == 2
    assert Scorecard.objects.count() == 4
