"""A receiver of webhooks: a real server that verifies what it gets, or does what it is told."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOLERANCE_S = 300


class Receiver:
    """Answers 204 to what is signed with its secret, 400 to what is not; `does` tells otherwise.

    ``does`` is a status to answer with, or ``hang``, ``drip`` or ``redirect``.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.secret = ""
        self.does: int | str = 204
        self.heard: list[dict[str, Any]] = []
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.stopped = threading.Event()

    def verifies(self, headers: dict[str, str], body: bytes) -> bool:
        """As README tells a receiver to do it."""
        if abs(time.time() - int(headers["webhook-timestamp"])) > TOLERANCE_S:
            return False
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        given = (each.partition(",") for each in headers["webhook-signature"].split())
        return any(v == "v1" and hmac.compare_digest(sig, expected) for v, _, sig in given)


class _Handler(BaseHTTPRequestHandler):
    receiver: Receiver

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        here = self.receiver
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        here.asked.append((self.path, headers))
        with suppress(OSError):
            if here.does == "hang":
                here.stopped.wait(20)
            elif here.does == "drip":
                self.wfile.write(b"HTTP/1.1 200 OK\r\n")
                while not here.stopped.wait(0.05):
                    self.wfile.write(b"x: y\r\n")
            elif here.does == "redirect":
                self.send_response(302)
                self.send_header("Location", f"{here.address}/elsewhere")
                self.end_headers()
            else:
                is_mine = here.verifies(headers, body)
                status = here.does if is_mine else 400
                if is_mine and status == 204:
                    here.heard.append(json.loads(body))
                self.send_response(int(status))
                self.end_headers()
                if status not in {204}:
                    self.wfile.write(b"<b>no</b>\x00 room")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: a test that fails shows what was asked."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"receiver": receiver})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()
