"""What stands at a place of a file, made ready for its panel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bouts import blobs, chunks
from bouts.disclosure import Gate
from bouts.evidence import (
    DiffPlace,
    EventPlace,
    JsonPlace,
    LinePlace,
    LinesPlace,
    Place,
    TestPlace,
)
from bouts.excerpts import json_text
from bouts.formats.pointers import TooLarge, values_at
from bouts.formats.text import shorten
from bouts.formats.types import Access, Event, FileChange, Kind
from bouts.models import Artifact, TestResult
from judging.showing.diffs import HunkView, hunk_at, quotes_hidden
from judging.showing.events import LONGEST, EventRow, row_of
from judging.showing.inert import on_one_line, plain
from judging.showing.lines import CONTEXT, WINDOW, Window, window

AROUND = 4  # events before and after the one that evidence names
REACH = 40  # sequence numbers looked at for them: a record may leave gaps


class Nothing(Exception):
    """There is nothing at this place."""


class Withheld(Exception):
    """There may be something at this place, and it is not for these eyes."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A template for what was found, and what it shows."""

    template: str
    context: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A test in one run."""

    run: int
    outcome: str
    message: str
    log: str
    duration_s: float | None
    crash: str
    attempts: int
    digest: str


def panel_at(
    artifact: Artifact,
    place: Place,
    gate: Gate,
    *,
    shows_values: bool,
    shows_lines: bool,
    shows_file: bool,
) -> Panel:
    """Return what stands at a place. Raises `Withheld` before it looks, and `Nothing`.

    What is withheld is decided by the kind of file and place alone: whether a hidden test of
    that name exists must not be told by how the answer looks.
    """
    match place:
        case TestPlace():
            _refuse_unless(shows_values)
            return _test(artifact, place, gate)
        case EventPlace():
            _refuse_unless(shows_values)
            return _event(artifact, place, gate, shows_file=shows_file)
        case DiffPlace():
            _refuse_unless(shows_values)
            return _diff(artifact, place, gate)
        case LinePlace() | LinesPlace():
            _refuse_unless(shows_lines)
            return _lines(artifact, place, gate)
        case JsonPlace():
            _refuse_unless(shows_file)
            return _json(artifact, place, gate)


def _refuse_unless(is_shown: bool) -> None:
    if not is_shown:
        raise Withheld


def _test(artifact: Artifact, place: TestPlace, gate: Gate) -> Panel:
    """Show a test in every run of its suite: message and log beside each."""
    _refuse_unless(artifact.kind == Kind.TESTS and gate.shows_suite(place.suite))
    if artifact.suite != place.suite:
        raise Nothing
    results = (
        TestResult.objects.filter(
            artifact__bundle=artifact.bundle_id,
            artifact__kind=Kind.TESTS,
            artifact__suite=place.suite,
            test_id=place.id,
        )
        .select_related("artifact")
        .order_by("artifact__run", "ordinal")
    )
    runs = [_run(result, gate) for result in results]
    if not runs:
        raise Nothing
    listed = artifact.bundle.challenge_version.document.get("tests", [])
    entry: dict[str, Any] = next(
        (one for one in listed if one["id"] == place.id and one["suite"] == place.suite), {}
    )
    return Panel(
        "judging/_place_test.html",
        {
            "id": on_one_line(place.id),
            "suite": place.suite.value,
            "runs": runs,
            "severity": entry.get("severity") or "medium",
            "requirement": on_one_line(gate.text(entry.get("requirement") or "")),
            "is_listed": bool(entry) or not listed,
        },
    )


def _run(result: TestResult, gate: Gate) -> RunRow:
    return RunRow(
        run=result.artifact.run or 1,
        outcome=result.outcome,
        message=plain(shorten(gate.text(result.message), LONGEST)),
        log=plain(shorten(gate.text(result.log), LONGEST)),
        duration_s=result.duration_s,
        crash=plain(gate.text(result.crash)),
        attempts=result.attempts,
        digest=result.artifact.blob_id,
    )


def _event(artifact: Artifact, place: EventPlace, gate: Gate, *, shows_file: bool) -> Panel:
    """Show an event in full, the way to its record, and a line each of those around it."""
    if artifact.kind != Kind.TELEMETRY:
        raise Nothing
    near = [
        event
        for event in chunks.read(artifact, first=place.seq - REACH, last=place.seq + REACH)
        if isinstance(event, Event)
    ]
    before = [event for event in near if event.seq < place.seq][-AROUND:]
    after = [event for event in near if event.seq > place.seq][:AROUND]
    here = [event for event in near if event.seq == place.seq]
    if not here:
        raise Nothing
    rows: list[EventRow] = [row_of(event, gate) for event in (*before, *here, *after)]
    row = row_of(here[0], gate)
    return Panel(
        "judging/_place_event.html",
        {
            "event": row,
            "record": here[0].raw if shows_file and not row.is_withheld else None,
            "rows": rows,
            "seq": place.seq,
            "clock": artifact.clock,
        },
    )


def _diff(artifact: Artifact, place: DiffPlace, gate: Gate) -> Panel:
    if artifact.kind != Kind.DIFF:
        raise Nothing
    for change in _changes(artifact):
        if place.path not in {change.path, change.old_path}:
            continue
        if quotes_hidden(change, gate):
            raise Withheld
        hunk: HunkView | None = hunk_at(change, place)
        if hunk:
            context = {
                "path": on_one_line(change.path),
                "hunk": hunk,
                "added": change.added,
                "removed": change.removed,
            }
            return Panel("judging/_place_diff.html", context)
    raise Nothing


def _changes(artifact: Artifact) -> Iterator[FileChange]:
    return (value for value in chunks.read(artifact) if isinstance(value, FileChange))


def _lines(artifact: Artifact, place: LinePlace | LinesPlace, gate: Gate) -> Panel:
    """Show lines: a page of them, or a few around one, with the accesses read off them."""
    if isinstance(place, LinePlace):
        first, last = max(1, place.line - CONTEXT), place.line + CONTEXT
        named: range = range(place.line, place.line + 1)
    else:
        first, last = place.first, min(place.last, place.first + WINDOW - 1)
        named = range(0)
    found: Window = window(artifact.blob, first, last, gate, named)
    if not found.lines or (isinstance(place, LinePlace) and found.last < place.line):
        raise Nothing
    context: dict[str, Any] = {"window": found, "is_one": isinstance(place, LinePlace)}
    if artifact.kind == Kind.SANDBOX and isinstance(place, LinePlace):
        context["accesses"] = _accesses_at(artifact, place.line, gate)
    return Panel("judging/_place_lines.html", context)


def _accesses_at(artifact: Artifact, line: int, gate: Gate) -> list[dict[str, Any]]:
    """Return what the reader made of one line of a sandbox log."""
    found = []
    for access in chunks.read(artifact):
        if not isinstance(access, Access) or access.line > line + 10_000:
            break  # accesses come in the order of their lines, but for those that resume
        if access.line == line:
            found.append(access_row(access, gate))
    return found


def access_row(access: Access, gate: Gate) -> dict[str, Any]:
    """Return an access as it may be shown: one that names a hidden test tells only its line."""
    texts = (access.target, access.detail, access.process or "")
    is_withheld = not gate.shows_hidden_tests and any(map(gate.quotes_hidden, texts))
    return {
        "line": access.line,
        "action": access.action,
        "target": "withheld" if is_withheld else on_one_line(gate.text(access.target)),
        "process": "" if is_withheld else on_one_line(gate.text(access.process or "")),
        "detail": "" if is_withheld else on_one_line(gate.text(access.detail)),
        "allowed": access.allowed,
        "time": access.t,
        "is_withheld": is_withheld,
    }


def _json(artifact: Artifact, place: JsonPlace, gate: Gate) -> Panel:
    try:
        with blobs.opened(artifact.blob) as stream:
            found = values_at(stream, [place.tokens])
    except TooLarge:
        return Panel("judging/_place_json.html", {"is_too_large": True, "pointer": place.pointer})
    if not found:
        raise Nothing
    shown = plain(shorten(gate.text(json_text(found[place.tokens])), LONGEST))
    return Panel("judging/_place_json.html", {"text": shown, "pointer": on_one_line(place.pointer)})
