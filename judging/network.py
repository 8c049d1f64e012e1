"""The network, and a way to be sure that nothing here uses it.

The database is not cut off: its driver is a C library, whose connection Python does not see.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Whatever leads out of this process: names looked up, connections made, programs started.
WAYS_OUT = (
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
    "socket.sendto",
    "socket.sendmsg",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
)


class NetworkIsOff(RuntimeError):
    """Something tried to leave this process while that was forbidden."""


_is_off = False
_is_watched = False


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if _is_off and event in WAYS_OUT:
        raise NetworkIsOff(f"{event} while the network is off")


@contextmanager
def network_off() -> Iterator[None]:
    """Let nothing leave this process, in any thread, for as long as the block runs.

    Python tells its audit hook of every such call before it is made, whichever library makes
    it; a hook cannot be taken away, so it stays and looks whether it is wanted.
    """
    global _is_off, _is_watched
    if not _is_watched:
        sys.addaudithook(_watch)
        _is_watched = True
    was, _is_off = _is_off, True
    try:
        yield
    finally:
        _is_off = was
