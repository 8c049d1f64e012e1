"""Messages through the real broker, to a real worker: nothing is lost when one dies.

They come at least once: where a machine takes longer than their two seconds, once more.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import Popen

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from tests import live
from tests.broker.app import QUEUE, app, note

pytestmark = pytest.mark.django_db(transaction=True)


def worker(folder: Path) -> AbstractContextManager[Popen[bytes]]:
    command = ["celery", "--app", "tests.broker.app", "worker", "--queues", QUEUE]
    command += ["--concurrency", "1", "--without-gossip", "--without-mingle"]
    return live.running(*command, log=folder / "worker.log", env=live.environment())


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def messages() -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM pgmq.q_{QUEUE}")
        return cursor.fetchone()[0]


def test_a_task_reaches_the_worker_and_its_message_goes_when_it_is_done(tmp_path: Path) -> None:
    file = tmp_path / "note"
    note.apply_async((str(file),), queue=QUEUE)
    assert messages() == 1
    with worker(tmp_path):
        live.wait_until(lambda: "finished" in lines(file), "the task's end")
        live.wait_until(lambda: messages() == 0, "the acknowledgement")
    assert lines(file)[:2] == ["started", "finished"]


def test_the_message_of_a_killed_worker_comes_back_to_the_next(tmp_path: Path) -> None:
    file, gate = tmp_path / "note", tmp_path / "gate"
    note.apply_async((str(file), str(gate)), queue=QUEUE)
    with worker(tmp_path) as first:
        live.wait_until(lambda: lines(file), "the task's start")
        live.kill(first)
    assert lines(file) == ["started"]
    assert messages() == 1
    gate.touch()
    with worker(tmp_path):
        live.wait_until(lambda: "finished" in lines(file), "the second try")
        live.wait_until(lambda: messages() == 0, "the acknowledgement")
    assert lines(file)[:3] == ["started", "started", "finished"]


def test_a_worker_that_stands_still_keeps_nobody_from_putting_work_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note.apply_async((str(tmp_path / "note"),), queue=QUEUE)
    monkeypatch.setenv("PGOPTIONS", "-c lock_timeout=5s")  # so that it fails rather than hangs
    address = settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"]
    with psycopg.connect(address) as worker, app.connection_for_write() as another:
        worker.execute("SELECT * FROM pgmq.read(%s, 0, 1)", [QUEUE])  # in a transaction left open
        note.apply_async((str(tmp_path / "note"),), queue=QUEUE, connection=another)
    assert messages() == 2
    with connection.cursor() as cursor:
        cursor.execute("SELECT pgmq.purge_queue(%s)", [QUEUE])
