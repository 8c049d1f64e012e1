"""One POST to an address that somebody typed: where it may go, and what came back.

An address of ours or of a private network is refused when it is typed and again when the
connection is made: the name is looked up once, and the socket goes to what was looked at.
Nothing is followed, no proxy is asked, and the whole takes no longer than it is given.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

EXCERPT_BYTES = 1_000
NAT64 = ip_network("64:ff9b::/96")


class BadAddress(ValueError):
    """Nothing is sent to this address. The message is a sentence."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a request. `failure` is empty where it was taken (2xx)."""

    status: int | None
    failure: str
    latency_ms: int
    excerpt: str = ""


def check_url(url: str) -> SplitResult:
    """Return the parts of an address that may be sent to, or raise `BadAddress`."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadAddress("This is no address.") from None
    schemes = {"https", "http"} if settings.WEBHOOK_HTTP else {"https"}
    if parts.scheme not in schemes:
        raise BadAddress(f"The address must begin with {' or '.join(sorted(schemes))}://.")
    if not parts.hostname or port == 0 or any(char.isspace() for char in url):
        raise BadAddress("This is no address.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise BadAddress("Leave out name, password and fragment.")
    return parts


def addresses_of(host: str, port: int) -> list[str]:
    """Look a host up, or raise `BadAddress` where one of its addresses may not be sent to."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise BadAddress("This host is not known.") from None
    addresses = [str(sockaddr[0]) for *_, sockaddr in found]
    if not settings.WEBHOOK_PRIVATE and not all(map(is_public, addresses)):
        raise BadAddress("The host is in a private network.")
    return addresses


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open Internet, whatever it is wrapped in."""
    found = ip_address(address.partition("%")[0])
    inner = _wrapped_in(found) if isinstance(found, IPv6Address) else None
    if inner is not None:
        return is_public(str(inner))
    return found.is_global and not found.is_multicast


def _wrapped_in(address: IPv6Address) -> IPv4Address | None:
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour


def post(url: str, body: bytes, headers: dict[str, str], *, timeout_s: float) -> Answer:
    """Send a body and return what came of it. It does not raise for what the other side does."""
    started = time.monotonic()
    deadline = started + timeout_s

    def told(status: int | None, failure: str, excerpt: str = "") -> Answer:
        return Answer(status, failure, round((time.monotonic() - started) * 1000), excerpt)

    try:
        parts = check_url(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        addresses = addresses_of(parts.hostname or "", port)
        connection = _connected(parts, port, addresses, deadline)
    except BadAddress as error:
        return told(None, f"refused: {error}")
    except TimeoutError:
        return told(None, f"no connection within {timeout_s:g} s")
    except OSError as error:
        return told(None, f"no connection: {_said(error)}")
    # Each read may wait anew; a receiver that answers a byte at a time is cut off as a whole.
    is_cut = threading.Event()
    cut = threading.Timer(max(0.0, deadline - time.monotonic()), _cut, [connection.sock, is_cut])
    cut.daemon = True
    cut.start()
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", target, body, headers)
        response = connection.getresponse()
        excerpt = response.read(EXCERPT_BYTES).decode(errors="replace").replace("\0", "␀")
        status = response.status
    except (OSError, http.client.HTTPException) as error:
        is_late = is_cut.is_set() or isinstance(error, TimeoutError)
        why = f"within {timeout_s:g} s" if is_late else f"but: {_said(error)}"
        return told(None, f"no answer {why}")
    finally:
        cut.cancel()
        connection.close()
    if is_cut.is_set():  # headers that are cut off read as if they had ended
        return told(None, f"no answer within {timeout_s:g} s")
    if 200 <= status < 300:
        return told(status, "", excerpt)
    if 300 <= status < 400:
        return told(status, f"status {status}, a redirect: it is not followed", excerpt)
    return told(status, f"status {status}", excerpt)


def _connected(
    parts: SplitResult, port: int, addresses: list[str], deadline: float
) -> http.client.HTTPConnection:
    """Return a connection whose socket stands, to one of the addresses that were looked at."""
    connection = http.client.HTTPConnection(parts.hostname or "", port)
    last: OSError = OSError("the host has no address")
    for address in addresses:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        try:
            connection.sock = socket.create_connection((address, port), timeout=left)
            break
        except OSError as error:
            last = error
    else:
        raise last
    if parts.scheme == "https":
        with suppress(ValueError):  # the deadline has passed: the handshake notices
            connection.sock.settimeout(max(0.001, deadline - time.monotonic()))
        context = ssl.create_default_context()
        try:
            connection.sock = context.wrap_socket(connection.sock, server_hostname=parts.hostname)
        except OSError:
            connection.close()
            raise
        # What http.client would leave out of the Host header is the port of its own scheme.
        connection.default_port = 443
    return connection


def _cut(sock: socket.socket, is_cut: threading.Event) -> None:
    is_cut.set()
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _said(error: BaseException) -> str:
    return (str(error) or type(error).__name__)[:120]
