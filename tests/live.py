"""Real processes over the database of the tests: what they are told, and how to wait for them."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, urlencode

from django.conf import settings
from django.db import connection

from bouts import serve

Found = TypeVar("Found")


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a process that shares database, files and sessions with the tests.

    It runs on the real settings: only what differs between machines differs.
    """
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "bouts.settings",
        "DATABASE_URL": database_url(),
        "BOUTS_DATA": str(settings.DATA_DIR),
        "BOUTS_SECRET_KEY": settings.SECRET_KEY,
        "BOUTS_RANDOM_AUDIT_PERCENT": "0",
        "BOUTS_OUTSIDE_QUEUE": settings.OUTSIDE_QUEUE,
        # Receivers of webhooks are on this machine too.
        "BOUTS_WEBHOOK_HTTP": "1",
        "BOUTS_WEBHOOK_PRIVATE": "1",
        **more,
    }


def database_url() -> str:
    """Return the address of the database that the tests are connected to."""
    database = connection.settings_dict
    person = f"{quote(database['USER'])}:{quote(database['PASSWORD'])}"
    port = f":{database['PORT']}" if database["PORT"] else ""
    options = urlencode({"host": database["HOST"], **database["OPTIONS"]}, quote_via=quote)
    return f"postgresql://{person}@{port}/{database['NAME']}?{options}"


@contextmanager
def running(*module: str, log: Path, env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python module beside the tests, and kill it at the end.

    A worker of Celery takes some seconds to end in good order; nobody here needs that.
    """
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *module],
            cwd=settings.BASE_DIR,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        kill(process)


class Server:
    """The site at an address of its own. A test may have it go away and come back there."""

    def __init__(self, env: dict[str, str]) -> None:
        self.env = env
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self._running = ExitStack()

    def start(self) -> None:
        command = [*serve.web(self.address), "--preload"]  # imports once for both workers
        self._running.enter_context(running(*command, log=logs() / "server.log", env=self.env))
        wait_until(self._answers, "an answer of the server", timeout_s=240)

    def stop(self) -> None:
        self._running.close()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Kill the server, and start it again afterwards."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def _answers(self) -> bool:
        with suppress(OSError):
            site = http.client.HTTPConnection(self.address, timeout=10)
            site.request("GET", "/")
            return bool(site.getresponse().status)
        return False


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started at once, as a power cut would."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(check: Callable[[], Found], what: str, *, timeout_s: float = 60) -> Found:
    """Ask until the answer is true, and return it; fail saying what did not come."""
    deadline = time.monotonic() + timeout_s
    while not (found := check()):
        assert time.monotonic() < deadline, f"{what} did not come within {timeout_s} s"
        time.sleep(0.05)
    return found


def logs() -> Path:
    """Return the folder with what the processes of this test run have printed."""
    folder = Path(settings.DATA_DIR) / "log"
    folder.mkdir(exist_ok=True)
    return folder


def drain_queue() -> None:
    """Drop the messages that no worker has begun, and wait for the others to be done."""

    def is_empty() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM pgmq.q_celery WHERE vt <= clock_timestamp()")
            cursor.execute("SELECT NOT EXISTS (SELECT FROM pgmq.q_celery)")
            return bool(cursor.fetchone()[0])

    wait_until(is_empty, "the end of the tasks that the worker has begun")


def empty_queues() -> None:
    """Drop all messages, those too that a killed worker had begun."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pgmq.purge_queue(queue_name) FROM pgmq.meta")
