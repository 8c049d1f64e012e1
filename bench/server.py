"""The real server with two workers, and clients that ask it as fast as it answers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from django.conf import settings
from django.contrib.auth import SESSION_KEY, get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection

from bouts import serve

CLIENTS = 4


@contextmanager
def running() -> Iterator[tuple[str, int]]:
    """Run gunicorn as `make up` does; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", *serve.web(f"127.0.0.1:{port}"), "--log-level", "error"],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "bench.settings",
            "DATABASE_URL": database_url(),
        },
        cwd=settings.BASE_DIR,
    )
    try:
        for _ in range(200):
            with suppress(OSError):
                get("127.0.0.1", port, "/bench/table/", {})
                break
            time.sleep(0.05)
        yield "127.0.0.1", port
    finally:
        process.terminate()
        process.wait()


def database_url() -> str:
    """Return the address that this process is connected to, for another one."""
    database = connection.settings_dict
    return f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}"


def get(
    host: str, port: int, path: str, headers: dict[str, str], method: str = "GET"
) -> tuple[int, bytes]:
    """Ask once, over a connection of its own.

    By hand, since what a client costs is taken from the cores that the server runs on.
    """
    fields = {"Host": f"{host}:{port}", "Content-Length": "0", "Connection": "close", **headers}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    with socket.create_connection((host, port), timeout=60) as client:
        client.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b"".join(iter(lambda: client.recv(65_536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


def signed_in(username: str) -> dict[str, str]:
    """Return the headers of a browser that is signed in."""
    user = get_user_model().objects.get(username=username)
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session["_auth_user_backend"] = settings.AUTHENTICATION_BACKENDS[0]
    session["_auth_user_hash"] = user.get_session_auth_hash()
    session.save()
    return {
        "Cookie": f"{settings.SESSION_COOKIE_NAME}={session.session_key}",
        "Accept-Encoding": "gzip",
    }


def rate(host: str, port: int, path: str, headers: dict[str, str], *, requests: int) -> float:
    """Return how many answers a second several clients get together."""
    status, body = get(host, port, path, headers)
    assert status == 200, (path, status, body[:200])
    for _ in range(20):  # both workers warm
        get(host, port, path, headers)
    started = time.perf_counter()
    together(CLIENTS, lambda: [get(host, port, path, headers) for _ in range(requests // CLIENTS)])
    return requests / (time.perf_counter() - started)


def together(count: int, do: Callable[[], object]) -> None:
    threads = [threading.Thread(target=do) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
