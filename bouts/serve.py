"""Run all of Bouts on this machine: `make up`.

Prepares the database, starts the worker and the web server, adds the samples on the first
start, says where to look, and stops all of it together. What the two print is in the data
folder, under `log/`.
"""

from __future__ import annotations

import ctypes
import fcntl
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import django

from bouts import embedded, env

WEB_WORKERS = 2
# Of each web worker. A sync worker has one, and whoever sends a bundle or takes a file over a slow
# line keeps it until the end: two of them, and nobody else gets a page.
WEB_THREADS = 4
TASK_WORKERS = 2
OUTSIDE_WORKERS = 6  # threads, since all they do is wait: two panels of three may hang at once
# An idle Celery worker takes some 6 s to end. What still works after this many is killed, and its
# steps are taken up at the next start.
PATIENCE_S = 12
START_TIMEOUT_S = 60


class Trouble(Exception):
    """Something that whoever sits at the terminal can mend; the message says how."""


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def near(self) -> Address:
        """The address as seen from this machine, where the server listens on every one."""
        return Address({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host), self.port)

    def refuse_taken(self) -> None:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            socket.create_server((self.host, self.port), family=family).close()
        except OSError as error:
            raise Trouble(
                f"Cannot listen on {self}: {os.strerror(error.errno or 0)}. Choose another port, such as "
                f"`make up PORT={self.port + 1}`."
            ) from error
        except OverflowError as error:
            raise Trouble(f"PORT is {self.port}: {error}") from error


class Child:
    """A process of ours, with its own log; it ends with us even where we are killed."""

    def __init__(self, name: str, *command: str, logs: Path, environment: dict[str, str]) -> None:
        self.name = name
        self.log = logs / f"{name}.log"
        if self.log.exists():
            self.log.replace(logs / f"{name}-before.log")  # what led to this start
        with self.log.open("wb") as log:
            # A session of its own, so that Ctrl-C at the terminal reaches us alone.
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )

    def check(self) -> None:
        """Raise `Trouble` where the process has ended."""
        code = self.process.poll()
        if code is not None:
            last = self.log.read_text(errors="replace").splitlines()[-20:]
            how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            raise Trouble("\n".join([f"The {self.name} {how}.", *last, f"All of it: {self.log}"]))

    def kill(self) -> None:
        """End the process and whatever it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _end_with_parent() -> None:
    pr_set_pdeathsig = 1  # linux/prctl.h
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> int:
    # SIGINT too: a script that starts this with `&` has its shell hand it down ignored.
    for ending in ENDINGS:
        signal.signal(ending, signal.default_int_handler)
    children: list[Child] = []
    try:
        run(children)
    except KeyboardInterrupt:
        return 0
    except (Trouble, env.BadSetting, embedded.UnusableFolder) as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except PermissionError as denied:
        print(f"{denied}. Run as its owner, or set BOUTS_DATA to another folder.", file=sys.stderr)
        return 1
    finally:
        for ending in ENDINGS:
            signal.signal(ending, signal.SIG_IGN)
        if children:
            print("Stopping", flush=True)
        stop(children)


def run(children: list[Child]) -> NoReturn:
    """Start everything, tell where it is, and watch over it until somebody ends it."""
    address = Address(env.text("BOUTS_BIND", "127.0.0.1"), env.whole("PORT", 8000, least=1))
    database_is_ours = not env.text("DATABASE_URL", "")
    os.environ["DJANGO_SETTINGS_MODULE"] = "bouts.settings"
    django.setup()
    from django.conf import settings

    with only_one(settings.DATA_DIR, address):
        address.refuse_taken()
        prepare()
        children.extend(start(address, database_is_ours=database_is_ours))
        if database_is_ours:
            add_samples()
        greeting = greet(address, database_is_ours=database_is_ours)
        wait_for_answer(address, children)
        print(greeting, flush=True)
        while True:
            for child in children:
                child.check()
            time.sleep(0.5)


@contextmanager
def only_one(data: Path, address: Address) -> Iterator[None]:
    """Hold the data folder's lock; raise `Trouble` where another `make up` has it."""
    with (data / "serving").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Trouble(
                f"Bouts is already running from {data}: {lock.read()}. End that one first with "
                f"Ctrl-C, or give this one a folder and a port of its own: "
                f"`BOUTS_DATA=/path/to/folder PORT={address.port + 1} make up`."
            ) from None
        lock.truncate(0)
        lock.write(f"http://{address.near}, process {os.getpid()}")
        lock.flush()
        yield


def prepare() -> None:
    """Bring the database and the static files up to date."""
    from django.core.management import call_command
    from django.db import OperationalError, connection

    print("Preparing the database and the static files", flush=True)
    try:
        connection.ensure_connection()
    except OperationalError as error:
        raise Trouble(f"Cannot reach the database that DATABASE_URL names: {error}") from error
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def start(address: Address, *, database_is_ours: bool) -> Iterator[Child]:
    """Yield each process as soon as it runs, so that none is missed when it is to be ended."""
    from django.conf import settings

    logs = settings.DATA_DIR / "log"
    logs.mkdir(exist_ok=True)
    environment = dict(os.environ)
    if database_is_ours:
        # Known to be running: they need not look for it, nor may they stop it.
        environment["DATABASE_URL"] = embedded.url(settings.DATA_DIR)

    level = settings.LOGGING["root"]["level"]
    for name, command in workers().items():
        yield Child(name, *command, "--loglevel", level, logs=logs, environment=environment)

    yield Child("server", *web(str(address)), logs=logs, environment=environment)


def web(address: str) -> list[str]:
    """Return the command of the web server."""
    return [
        *("gunicorn", "bouts.wsgi", "--bind", address, "--no-control-socket"),
        *("--workers", str(WEB_WORKERS), "--threads", str(WEB_THREADS)),
        *("--graceful-timeout", str(PATIENCE_S // 2)),
    ]


def workers() -> dict[str, list[str]]:
    """Return the commands of the workers by name; one alone where both have the same queue."""
    from django.conf import settings

    celery = ["celery", "--app", "bouts", "worker", "--without-gossip", "--without-mingle"]
    own, outside = settings.CELERY_TASK_DEFAULT_QUEUE, settings.OUTSIDE_QUEUE
    found = {"worker": [*celery, "--queues", own, "--beat", "--concurrency", str(TASK_WORKERS)]}
    if outside != own:
        threads = ["--pool", "threads", "--concurrency", str(OUTSIDE_WORKERS)]
        # What it would take beforehand would wait for what hangs.
        threads += ["--prefetch-multiplier", "1"]
        found["outside"] = [*celery, "--queues", outside, *threads]
    return found


def add_samples() -> None:
    from django.core.management import call_command

    from bouts import samples

    if samples.are_wanted():
        print("Adding the sample matches", flush=True)
        call_command("sample", verbosity=0)


def wait_for_answer(address: Address, children: list[Child]) -> None:
    """Wait until the site answers; raise `Trouble` where it does not come up."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        for child in children:
            child.check()
        with suppress(OSError, http.client.HTTPException):
            site = http.client.HTTPConnection(address.near.host, address.port, timeout=10)
            site.request("GET", "/")
            status = site.getresponse().status
            if status >= 500:
                raise Trouble(f"The site answers with status {status}. See {children[-1].log}.")
            return
        time.sleep(0.1)
    raise Trouble(f"The site has not answered for {START_TIMEOUT_S} s. See {children[-1].log}.")


def greet(address: Address, *, database_is_ours: bool) -> str:
    """Say where it is and who may sign in, a line each."""
    from django.db import connection

    from bouts import samples
    from bouts.models import User

    lines = [f"Bouts is at http://{address.near} (Ctrl-C stops it)"]
    if database_is_ours:
        lines += [
            f"  {login.role:<10}  {login.username:<5}  {login.password}"
            for login in samples.usable_logins()
        ]
    elif not User.objects.filter(is_superuser=True).exists():
        lines += ["Nobody administers it yet. Run: .venv/bin/python manage.py createsuperuser"]
    connection.close()  # from here on, we only watch
    return "\n".join(lines)


def stop(children: list[Child]) -> None:
    """Ask all to end, and end those that do not."""
    for child in children:
        child.process.terminate()
    deadline = time.monotonic() + PATIENCE_S
    for child in children:
        with suppress(subprocess.TimeoutExpired):
            child.process.wait(max(0.0, deadline - time.monotonic()))
        child.kill()


if __name__ == "__main__":
    sys.exit(main())
