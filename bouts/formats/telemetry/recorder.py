"""From calls and messages, in the order in which they were made, to events."""

from __future__ import annotations

import hashlib
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson

from bouts.formats.telemetry.contents import Change, Contents, Copy, Delete, Edit, moved
from bouts.formats.telemetry.outcomes import Outcome, outcome_of, told_by_words
from bouts.formats.telemetry.test_output import parse_test_output
from bouts.formats.telemetry.tools import Action, action_of
from bouts.formats.text import count, shorten, shorten_id, single_line, visible
from bouts.formats.types import Event, EventKind, Report, Unreadable

MAX_EVENTS = 500_000
# A command line costs by the pieces that it is taken apart into. So many a trajectory may have;
# from then on it has so many characters of commands and of what they printed for each piece.
FREE_PIECES = 300_000
CHARS_EACH_PIECE = 16
TEXT_LIMIT = 16_000  # characters kept of what was said
OUTPUT_LIMIT = 8_000  # characters kept of what came back
COMMAND_LIMIT = 8_000
NAME_LIMIT = 200  # characters of a tool's name and a call's own id

# Arguments that do not change what a call does.
_INCIDENTAL = frozenset({"description", "explanation", "security_risk", "timeout"})


@dataclass(slots=True)
class Call:
    """A call of a tool, as a format tells it."""

    tool: str
    arguments: Any  # an object, or bare text
    pointer: str  # JSON pointer of its record
    id: str | None = None
    output: str = ""
    extras: list[Mapping[str, Any]] = field(default_factory=list)  # what records say besides
    edits: tuple[Edit, ...] = ()  # what a record tells of them, better than the arguments
    folder: str | None = None  # where it was made, which its relative paths start from


class Moment(NamedTuple):
    """What a step says once, for whatever it did: given to the first of its events."""

    t: float | None
    text: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


class Recorder:
    """Numbers the events of one trajectory and keeps what later ones depend on.

    ``folder`` is the working directory, where the trajectory tells it: paths in it are
    written relative to it.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._counts: Counter[EventKind] = Counter()
        self._number = 0  # of the last event
        self._parsed_runs = 0
        self._pieces = self._chars = 0  # of command lines; of them and of what they printed
        self._folder = posixpath.normpath(folder) if folder else None
        self._contents = Contents()
        self._has_started = False

    def restart(self) -> None:
        """Begin another run in the same file: its files are not those of the run before."""
        self._contents = Contents()
        self._has_started = False

    def message(self, moment: Moment, pointer: str, output: str = "", *, by_user: bool) -> Event:
        """Return the event of a step that only says something; the user's first is the start."""
        is_start = by_user and not self._has_started
        self._has_started = self._has_started or by_user
        kind = EventKind.START if is_start else EventKind.MESSAGE
        return self._event(kind, moment, pointer, output=shorten(visible(output), OUTPUT_LIMIT))

    def calls(self, calls: Iterable[Call], moment: Moment) -> Iterator[Event]:
        """Yield the events of a step's calls: one a call, one a file where it edits.

        A command line that edits and then does more gives its edits first, then the rest.
        """
        for call in calls:
            for event in self._call(call, moment):
                yield event
                moment = Moment(moment.t)  # all else went to the step's first event

    def finish(self, report: Report) -> None:
        """Write the counts: of all events, and of each kind that occurs."""
        if self._parsed_runs:
            report.note(f"test results parsed from text: {count(self._parsed_runs, 'run')}")
        kinds = {str(kind): self._counts[kind] for kind in EventKind if self._counts[kind]}
        report.counts.update(events=self._number, **kinds)

    def _call(self, call: Call, moment: Moment) -> Iterator[Event]:
        action = action_of(call.tool, call.arguments)
        self._weigh(call, action)
        if call.edits:
            action = replace(action, kind=EventKind.EDIT, edits=call.edits)
        outcome = outcome_of(call.extras, call.output)
        kind = action.kind
        if kind is EventKind.EDIT and outcome.ok is None:
            outcome = outcome._replace(ok=told_by_words(call.output))
        changes = self._changes(call, action, outcome) if action.edits else []
        if kind is EventKind.EDIT and action.edits and not changes:
            kind = EventKind.RUN  # nothing that anybody worked on: `git checkout main`
        only_edits = kind is EventKind.EDIT and bool(changes)
        fields = _fields_of(call, action)
        if only_edits or not changes:
            self._add_ending(fields, call, outcome)
        for change in changes:
            yield self._event(EventKind.EDIT, moment, call.pointer, **fields, **change._asdict())
            moment = Moment(moment.t)
            fields.pop("output", None)
        if only_edits:
            return
        if changes:
            self._add_ending(fields, call, outcome)
        if kind is EventKind.TEST:
            self._add_results(fields, call.output)
        if action.path:
            fields["path"] = self._relative(action.path, call.folder)
        if action.text:
            text = f"{moment.text}\n\n{action.text}" if moment.text else action.text
            moment = moment._replace(text=text)
        yield self._event(kind, moment, call.pointer, **fields)
        is_stash = action.command is not None and "commit" not in action.command
        if kind is EventKind.CHECKPOINT and not is_stash:
            self._contents.commit()

    def _weigh(self, call: Call, action: Action) -> None:
        """Refuse a trajectory whose command lines are ground to crumbs, such as ``a;a;a;``."""
        if action.command is None:
            return
        self._pieces += action.pieces
        self._chars += len(action.command) + len(call.output)
        if self._pieces > FREE_PIECES + self._chars // CHARS_EACH_PIECE:
            raise Unreadable(
                f"command lines of {self._pieces:,} pieces: more than FREE_PIECES ="
                f" {FREE_PIECES:,} for less than {CHARS_EACH_PIECE} characters each",
                call.pointer,
            )

    @staticmethod
    def _add_ending(fields: dict[str, Any], call: Call, outcome: Outcome) -> None:
        fields["output"] = shorten(visible(call.output), OUTPUT_LIMIT)
        fields["ok"] = outcome.ok
        fields["exit_code"] = outcome.exit_code
        fields["expected"] = outcome.expected
        fields["infra"] = outcome.infra

    def _changes(self, call: Call, action: Action, outcome: Outcome) -> list[Change]:
        """Carry out a call's edits; what a shell removes or copies counts where it is work."""
        changes: list[Change] = []
        # Where more than edits was done, the outcome speaks of what was done last.
        succeeded = outcome.ok is not False or action.kind is not EventKind.EDIT
        told = (outcome.before, outcome.after) if len(action.edits) == 1 else (None, None)
        for edit in action.edits:
            edit = moved(edit, lambda path: self._relative(path, call.folder))
            is_work = not isinstance(edit, Copy | Delete) or self._contents.knows(edit.path)
            if is_work or not action.inferred:
                changes += self._contents.apply(
                    edit, succeeded=succeeded, before=told[0], after=told[1]
                )
            elif isinstance(edit, Copy):
                self._contents.note_copy(edit)
        return changes

    def _add_results(self, fields: dict[str, Any], output: str) -> None:
        """Add the results that a test command printed; a quiet run names only what failed."""
        run = parse_test_output(output)
        if run is None:
            return
        self._parsed_runs += 1
        fields.update(results=run.results or None, passed=run.passed, failed=run.failed)
        # The code may be of the pipeline's last command, such as `tail`.
        fields["ok"] = fields["ok"] is not False and not run.failed

    def _relative(self, path: str, folder: str | None) -> str:
        """Return a path as the project has it: relative to its folder, without detours.

        ``folder`` is where the call was made, if that is known.
        """
        plain = posixpath.normpath(posixpath.join(folder or "", path.strip() or "."))
        if self._folder and plain.startswith(self._folder.rstrip("/") + "/"):
            plain = plain[len(self._folder.rstrip("/")) + 1 :]
        return shorten_id(plain)

    def _event(self, kind: EventKind, moment: Moment, pointer: str, **fields: Any) -> Event:
        self._counts[kind] += 1
        self._number += 1
        if self._number > MAX_EVENTS:
            raise Unreadable(f"more events than MAX_EVENTS = {MAX_EVENTS:,}", pointer)
        return Event(
            seq=self._number,
            kind=kind,
            t=moment.t,
            text=shorten(visible(moment.text), TEXT_LIMIT),
            tokens_in=moment.tokens_in,
            tokens_out=moment.tokens_out,
            raw=pointer,
            **fields,
        )


def _fields_of(call: Call, action: Action) -> dict[str, Any]:
    """Return what all events of a call have in common."""
    return {
        "tool": single_line(call.tool)[:NAME_LIMIT],
        "call": single_line(call.id)[:NAME_LIMIT] if call.id else None,
        "signature": _signature(call, action),
        "inferred": action.inferred,
        "command": shorten(visible(action.command), COMMAND_LIMIT) if action.command else None,
    }


def _signature(call: Call, action: Action) -> str:
    """Return a digest that the same call with the same arguments gives again.

    Of a command line only its text counts, not how long the tool was told to wait for it.
    """
    arguments: Any = call.arguments
    if action.command is not None:
        arguments = action.command.strip()
    elif isinstance(arguments, dict):
        arguments = {key: arguments[key] for key in arguments if key not in _INCIDENTAL}
    try:
        data = orjson.dumps([call.tool, arguments], option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        raise Unreadable("the arguments of a call are nested too deep", call.pointer) from None
    return hashlib.blake2b(data, digest_size=8).hexdigest()
