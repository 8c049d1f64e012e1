"""Events of a timeline as rows: what was done, when, and with what result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bouts.disclosure import WITHHELD, Gate
from bouts.formats.text import shorten
from bouts.formats.types import Event, EventKind
from judging.showing.inert import on_one_line, plain

LONGEST = 20_000  # characters of a text that a page shows
SUMMARY = 240

KINDS = {
    EventKind.START: "Start",
    EventKind.MESSAGE: "Message",
    EventKind.PLAN: "Plan",
    EventKind.READ: "Read",
    EventKind.SEARCH: "Search",
    EventKind.EDIT: "Edit",
    EventKind.TEST: "Test",
    EventKind.RUN: "Run",
    EventKind.CHECKPOINT: "Checkpoint",
    EventKind.SUBMIT: "Submit",
}


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as it may be shown. Where ``is_withheld``, only its kind and time are told."""

    seq: int
    kind: str
    time: str | None
    summary: str
    tool: str
    result: str
    is_bad: bool
    is_inferred: bool
    is_withheld: bool
    path: str = ""
    command: str = ""
    text: str = ""
    output: str = ""
    lines: str = ""


def row_of(event: Event, gate: Gate) -> EventRow:
    """Return an event as a row. One that quotes a hidden test anywhere is withheld whole:
    a command that names it and an output that does not belong together."""
    is_withheld = not gate.shows_hidden_tests and any(map(gate.quotes_hidden, _texts(event)))
    return EventRow(
        seq=event.seq,
        kind=KINDS[event.kind],
        time=None if event.t is None else clock(event.t),
        summary=WITHHELD if is_withheld else _summary(event, gate),
        tool="" if is_withheld else on_one_line(event.tool or ""),
        result=_result(event),
        is_bad=event.ok is False or bool(event.failed),
        is_inferred=event.inferred,
        is_withheld=is_withheld,
        **({} if is_withheld else _body(event, gate)),
    )


def clock(seconds: float) -> str:
    """Return a time from the start as ``15:12`` or ``1:02:07``; tenths below a minute."""
    if abs(seconds) < 60 and seconds != int(seconds):
        return f"{'−' if seconds < 0 else ''}0:{abs(seconds):04.1f}"
    minutes, rest = divmod(int(abs(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    sign = "−" if seconds < 0 else ""
    return f"{sign}{hours}:{minutes:02}:{rest:02}" if hours else f"{sign}{minutes}:{rest:02}"


def _texts(event: Event) -> Iterator[str]:
    """Everything in an event that can name a test."""
    yield from (event.text, event.output)
    yield from filter(None, (event.command, event.path, event.signature, event.tool))
    yield from event.results or ()


def _body(event: Event, gate: Gate) -> dict[str, str]:
    changed = event.lines_added is not None or event.lines_removed is not None
    return {
        "path": on_one_line(gate.text(event.path or "")),
        "command": plain(shorten(gate.text(event.command or ""), LONGEST)),
        "text": plain(shorten(gate.text(event.text), LONGEST)),
        "output": plain(shorten(gate.text(event.output), LONGEST)),
        "lines": f"+{event.lines_added or 0} −{event.lines_removed or 0}" if changed else "",
    }


def _summary(event: Event, gate: Gate) -> str:
    """Return the one line that says most: the file of an edit, the command of a run."""
    says = event.text.strip().partition("\n")[0]
    match event.kind:
        case EventKind.EDIT | EventKind.READ:
            told = event.path or event.command or says
        case EventKind.RUN | EventKind.TEST | EventKind.CHECKPOINT | EventKind.SEARCH:
            told = event.command or event.path or says
        case _:
            told = says or event.command or ""
    told = plain(gate.text(told)).replace("\n", " ")
    return told if len(told) <= SUMMARY else f"{told[: SUMMARY - 1]}…"


def _result(event: Event) -> str:
    if event.passed is not None or event.failed is not None:
        passed, failed = event.passed or 0, event.failed or 0
        return f"{passed} of {passed + failed} passed"
    if event.ok is False:
        return "failed" if event.exit_code is None else f"failed, exit {event.exit_code}"
    return "ok" if event.ok and event.kind is EventKind.RUN else ""
