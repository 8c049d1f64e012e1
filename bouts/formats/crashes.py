"""Does a failed result tell that the process itself ended, rather than that a test failed?

A signature is the kind of the end with the top frame of the project, so that one crash told
several times counts once (SCORING.md, 2). It is written as the reader of run logs writes it.
"""

from __future__ import annotations

import re

# Each as the runner in question writes it at the start of a line, so that a failed assertion
# which only talks of a crash is none.
_ENDINGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^Fatal Python error: ([\w ]+)", re.MULTILINE), "fatal"),
    (
        re.compile(r"^INTERNALERROR> (\w+(?:Error|Exception|Interrupt)\b)", re.MULTILINE),
        "outside a test",
    ),
    (re.compile(r"^worker '\w+' (crashed) while running", re.MULTILINE), "worker"),  # pytest-xdist
    (
        re.compile(r"^(?:The )?forked VM (terminated) without", re.MULTILINE | re.IGNORECASE),
        "forked VM",
    ),  # Surefire
    (re.compile(r"^panic: ([^\n\[]{1,80})", re.MULTILINE), "panic"),  # Go
    (re.compile(r"^fatal error: ([^\n\[]{1,80})", re.MULTILINE), "fatal"),  # Go
    (re.compile(r"^(SIG[A-Z]{2,6}): ", re.MULTILINE), "signal"),  # Go
    (
        re.compile(r"^signal: (killed|segmentation fault|aborted|bus error)", re.MULTILINE),
        "signal",
    ),  # Go
    (re.compile(r"^test (abort)\b", re.MULTILINE), "nextest"),
    (
        re.compile(
            r"^The active test run was aborted\. Reason: Test host process (crashed)", re.M | re.I
        ),
        "test host",
    ),  # VSTest
)
# What all of them begin with: one look tells that a text speaks of no crash.
_ANY = re.compile(
    r"^(?:Fatal Python error: |INTERNALERROR> |worker '|(?:The )?forked VM |panic: "
    r"|fatal error: |SIG[A-Z]{2,6}: |signal: |test abort|The active test run was aborted)",
    re.MULTILINE | re.IGNORECASE,
)
_FRAMES = re.compile(
    r"""File "(?P<python>[^"\n]+)", line \d+,? in (?P<function>\w+)"""
    r"""|^\t(?P<go>/[^\s:]+\.go):\d+""",
    re.MULTILINE,
)
LONGEST = 128 * 1024  # characters that are looked at, from both ends
_FOREIGN = ("site-packages/", "lib/python", "<frozen ", "/go/src/", "/pkg/mod/")


def crash_signature(text: str) -> str | None:
    """Return the signature of the crash that a failure's type, message and body tell of."""
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"
    if not _ANY.search(text):
        return None
    for pattern, kind in _ENDINGS:
        if found := pattern.search(text):
            ending = f"{kind}: {found[1].strip()}"
            frame = _top_frame(text[found.start() :]) or _top_frame(text)
            return f"{ending} in {frame}" if frame else ending
    return None


def _top_frame(text: str) -> str | None:
    """Return ``file:function``, or the file alone, of the project's frame nearest to the end.

    A fault handler and Go print the innermost frame first, a traceback prints it last.
    """
    frames = [
        found
        for found in _FRAMES.finditer(text)
        if not any(part in (found["python"] or found["go"]) for part in _FOREIGN)
    ]
    if not frames:
        return None
    top = frames[-1 if "most recent call last" in text else 0]
    name = (top["python"] or top["go"]).rpartition("/")[2]
    return f"{name}:{top['function']}" if top["function"] else name
