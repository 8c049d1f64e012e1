"""Whoever takes a file slowly holds up nobody: the real server, and clients that stand still."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from bouts.models import Artifact, User
from bouts.serve import WEB_WORKERS
from tests.factories import make_user
from tests.judging.views.making import plain
from tests.live import Server

LOG = "line after line of a long log\n" * 200_000  # more than the system keeps on the way


def ask(server: Server, path: str, cookie: str) -> tuple[socket.socket, bytes]:
    """Ask for a page; return the connection, and the first bytes of the answer."""
    host, port = server.address.split(":")
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)  # little is taken unread
    client.settimeout(60)
    client.connect((host, int(port)))
    head = (f"GET {path} HTTP/1.1", f"Host: {server.address}", f"Cookie: {cookie}")
    client.sendall("\r\n".join([*head, "Connection: close", "", ""]).encode())
    return client, client.recv(12)


@pytest.mark.timeout(180)
def test_as_many_slow_clients_as_there_are_workers_leave_the_pages_to_others(
    transactional_db: None, server: Server, tmp_path: Path
) -> None:
    bundle = plain(tmp_path, files={"long.log": ("log", LOG)})
    digest = Artifact.objects.get(bundle=bundle, path="long.log").blob_id
    browser = Client()
    browser.force_login(make_user("tomas", User.Role.OPS))
    name = settings.SESSION_COOKIE_NAME
    cookie = f"{name}={browser.cookies[name].value}"
    with ExitStack() as open_clients:
        slow = []
        for _ in range(WEB_WORKERS):
            client, begins = ask(server, f"/matches/m-1/evidence/{digest}/raw/", cookie)
            slow.append(open_clients.enter_context(client))
            assert begins == b"HTTP/1.1 200"
        client, begins = ask(server, "/matches/", cookie)
        open_clients.enter_context(client)
        assert begins == b"HTTP/1.1 200"
        for client in slow:  # and nobody was cut off for it
            taken = b"".join(iter(lambda client=client: client.recv(65_536), b""))
            assert taken.count(b"a long log") == 200_000
