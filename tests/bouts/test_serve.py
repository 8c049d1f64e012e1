"""`make up`: one program that starts everything, says where it is, and stops everything."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

import psutil
import pytest
from django.conf import settings

from bouts import samples

pytestmark = pytest.mark.timeout(240)


def _ignore_interrupts() -> None:
    """What a shell does to all that a script starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@dataclass(frozen=True)
class Place:
    """A data folder and a port for one installation."""

    data: Path
    port: int

    def start(self, *, port: int | None = None) -> subprocess.Popen[str]:
        env = {key: value for key, value in os.environ.items() if not key.startswith("BOUTS_")}
        env.pop("DATABASE_URL", None)
        env |= {"BOUTS_DATA": str(self.data), "PORT": str(port or self.port)}
        env["DJANGO_SETTINGS_MODULE"] = "bouts.settings"
        return subprocess.Popen(
            [sys.executable, "-m", "bouts.serve"],
            cwd=settings.BASE_DIR,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=_ignore_interrupts,
        )

    def processes(self) -> list[psutil.Process]:
        """Return what runs for this installation: its supervisor, children and database."""
        mark = str(self.data)
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("BOUTS_DATA") == mark or mark in process.cmdline():
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return found


def greeting(process: subprocess.Popen[str]) -> str:
    """Return what is printed up to the last login."""
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if samples.LOGINS[-1].username in line.split():
            return "".join(lines)
    raise AssertionError(f"It ended with {process.wait()}: {''.join(lines)}")


def logins(text: str) -> dict[str, str]:
    return dict(re.findall(r"^ +\w+ +(\w+) +([a-z2-7-]{14})$", text, re.MULTILINE))


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="bouts-serve-") as folder:
        place = Place(Path(folder), port)
        yield place
        for process in place.processes():
            process.kill()


@pytest.fixture(scope="module")
def first_start(place: Place) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = place.start()
    yield process, greeting(process)
    process.kill()


def test_it_says_where_it_is_and_who_may_sign_in(
    place: Place, first_start: tuple[subprocess.Popen[str], str]
) -> None:
    _, text = first_start
    assert f"http://127.0.0.1:{place.port}" in text
    assert set(logins(text)) == {login.username for login in samples.LOGINS}
    for name, password in logins(text).items():
        assert signs_in(place.port, name, password), name
    assert not signs_in(place.port, "tomas", "not-the-password")


def signs_in(port: int, name: str, password: str) -> bool:
    """Sign in as a browser does, by the form."""
    address = f"http://127.0.0.1:{port}/sign-in/"
    visitor = build_opener(HTTPCookieProcessor(cookies := CookieJar()))
    visitor.open(address)
    token = next(cookie.value for cookie in cookies if cookie.name == "csrftoken")
    form = {"name": name, "password": password, "csrfmiddlewaretoken": token}
    with suppress(HTTPError):
        visitor.open(address, urlencode(form).encode())
    return any(cookie.name == "sessionid" for cookie in cookies)


def test_a_second_one_in_the_same_folder_is_told_of_the_first(
    place: Place, first_start: tuple[subprocess.Popen[str], str]
) -> None:
    second = place.start(port=place.port + 1)
    text, _ = second.communicate(timeout=60)
    assert second.returncode == 1
    assert f"already running from {place.data}: http://127.0.0.1:{place.port}" in text
    assert "Traceback" not in text


def test_a_port_in_use_is_named() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        tempfile.TemporaryDirectory(prefix="bouts-serve-") as folder,
    ):
        port = taken.getsockname()[1]
        refused = Place(Path(folder), port).start()
        text, _ = refused.communicate(timeout=60)
    assert refused.returncode == 1
    assert text.startswith(f"Cannot listen on 127.0.0.1:{port}: Address already in use.")
    assert "Traceback" not in text


def test_it_stops_all_that_it_started_when_it_is_told_to(
    place: Place, first_start: tuple[subprocess.Popen[str], str]
) -> None:
    process, _ = first_start
    assert len(place.processes()) > 5
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert place.processes() == []
    with pytest.raises(URLError):
        build_opener().open(f"http://127.0.0.1:{place.port}/")


def test_the_next_start_has_the_same_people_and_reports_a_child_that_dies(
    place: Place, first_start: tuple[subprocess.Popen[str], str]
) -> None:
    _, before = first_start
    again = place.start()
    assert logins(greeting(again)) == logins(before)
    worker = next(p for p in psutil.Process(again.pid).children() if "celery" in p.cmdline())
    worker.kill()
    text, _ = again.communicate(timeout=30)
    assert again.returncode == 1
    assert "worker was killed by signal 9" in text
    assert place.processes() == []


def test_its_children_end_when_it_is_killed_outright(
    place: Place, first_start: tuple[subprocess.Popen[str], str]
) -> None:
    process = place.start()
    greeting(process)
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    assert len(children) > 5
    assert psutil.wait_procs(children, timeout=30)[1] == []
