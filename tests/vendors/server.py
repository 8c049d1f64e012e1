"""The server: real sockets on a free port, a script for each seat, and all that it was asked."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.vendors.replies import HANG, Reply, good
from tests.vendors.wires import Asked

BITE = 16  # bytes at a time of a slow answer


class VendorServer:
    """Three vendors on one port. A seat is told by the first part of the path.

    What a seat has not been told to do is a good answer. Replies are played in order, and
    the last one again and again.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._scripts: dict[str, deque[Reply]] = {}
        self._asked: dict[str, list[Asked]] = {}
        self._headers: list[dict[str, str]] = []

    def base_url(self, seat: str, wire: str = "") -> str:
        """What to configure as a seat's address; OpenAI's has its version in it."""
        version = "/v1" if (wire or seat) == "openai" else ""
        return f"{self.address}/{seat}{version}"

    def play(self, seat: str, *replies: Reply) -> None:
        """Tell a seat what to do with its next requests; what it was told before is dropped."""
        with self._lock:
            self._scripts[seat] = deque(replies)

    def asked(self, seat: str | None = None) -> list[Asked]:
        """Return all requests so far, or those to one seat, in order."""
        with self._lock:
            if seat is not None:
                return list(self._asked.get(seat, []))
            return [asked for all_asked in self._asked.values() for asked in all_asked]

    @property
    def headers(self) -> list[dict[str, str]]:
        """The headers of every request, names in lower case."""
        with self._lock:
            return list(self._headers)

    def take(self, seat: str, asked: Asked, headers: dict[str, str]) -> Reply:
        with self._lock:
            self._asked.setdefault(seat, []).append(asked)
            self._headers.append(headers)
            script = self._scripts.get(seat) or deque([good()])
            return script.popleft() if len(script) > 1 else script[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    vendors: VendorServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        seat, _, path = self.path.removeprefix("/").partition("/")
        asked = Asked(f"/{path.partition('?')[0]}", body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        played = self.vendors.take(seat, asked, headers)(asked)
        self.close_connection = True
        if played.cut_at == HANG:
            self.vendors.stopped.wait()
            return
        with suppress(BrokenPipeError, ConnectionResetError):  # whoever asked has gone
            self.send_response(played.status)
            for name, value in {"Content-Type": "application/json", **played.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(played.body)))
            self.end_headers()
            if not played.pause_s:
                self.wfile.write(played.body[: played.cut_at])
                return
            for start in range(0, len(played.body), BITE):
                self.wfile.write(played.body[start : start + BITE])
                self.wfile.flush()
                if self.vendors.stopped.wait(played.pause_s):
                    return

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: a test that fails shows what was asked."""


@contextmanager
def vendors() -> Iterator[VendorServer]:
    """Run a server for as long as the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    playing = VendorServer(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"vendors": playing})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield playing
    finally:
        playing.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()
