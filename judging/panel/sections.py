"""The parts of the evidence, each from the artifacts that it is made of.

A judge is given the rows of the table that it may see; here it is decided what of an event,
a file or a record belongs to which row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import partial

from bouts.bundles.manifest import ChallengeFile
from bouts.evidence import Anchor, DiffPlace, EventPlace, LinePlace, LinesPlace, TestPlace
from bouts.formats.types import Access, Event, EventKind, FileChange, Hunk, Kind
from bouts.rules import Judge, Severity, Suite
from judging.judges.base import Claim, Dossier, Source
from judging.judges.detectors.network_escape import is_escape
from judging.judges.detectors.sandbox_access import is_forbidden
from judging.judges.objective import TestRecord, tests_of
from judging.judges.runs import main_run
from judging.panel.cleaning import QUOTES_HIDDEN, Cleaner
from judging.panel.cutting import Draft, Numbering, Part, section_of
from judging.panel.items import EvidenceBundle, Sort
from judging.scoring.errors import ErrorEpisode
from judging.scoring.exact import exact, plain
from judging.scoring.story import PathStep, StepKind, Story
from judging.scoring.telemetry import Telemetry

# Characters: of one item at most, and of a whole part.
ITEM = 3_000
BRIEF = 12_000
DIFF = 45_000
RUN = 45_000
EPISODES = 12_000
PATH = 12_000
FILES = 20_000  # plans, deliverables: each part
SANDBOX = 10_000
CLAIMS = 8_000
RECORD = 10_000

# Of one event: what the agent said, what it ran, what came back.
SAID = 800
COMMAND = 600
OUTPUT = 1_200
MOST_NAMES = 20  # failing tests that an item lists

CHUNK = 2_400  # characters of a text file that make one item
READ = 1_000_000  # bytes of a text file that are looked at


class Row(StrEnum):
    """The rows of the table: what is shown or not shown as one."""

    WORK = "work"  # diff, tests the agent itself ran
    TIMELINE = "timeline"  # timeline, tools, checkpoints
    ERRORS = "errors"  # errors, retries, reverts, recovery windows
    PLANS = "plans"  # plans, pivot points, decision path
    DELIVERABLES = "deliverables"
    RECORD = "record"  # sandbox log, claims, Objective's record


def build(
    judge: Judge, rows: frozenset[Row], dossier: Dossier, telemetry: Telemetry
) -> EvidenceBundle:
    """Build the evidence of a judge who may see these rows."""
    builder = _Builder(rows, dossier, telemetry)
    numbering = Numbering()
    sections = (section_of(part, numbering) for part in builder.parts())
    return EvidenceBundle(
        judge=judge,
        brief=builder.brief(),
        occasions=_occasions(dossier.spec) if judge is Judge.INTEGRITY else (),
        sections=tuple(section for section in sections if section.items or section.note),
    )


def _occasions(spec: ChallengeFile) -> tuple[str, ...]:
    fields = ("unsafe_requirements", "known_deceptions", "no_change_expected")
    return tuple(name for name in fields if getattr(spec, name))


class _Builder:
    def __init__(self, rows: frozenset[Row], dossier: Dossier, telemetry: Telemetry) -> None:
        self._rows = rows
        self._dossier = dossier
        self._story = telemetry.story
        self._clean = Cleaner(dossier.names(), dossier.hidden_words())
        run = main_run(dossier)
        self._recorded = run if run and run.is_readable else None
        has_clock = self._recorded is not None and self._recorded.has_clock
        self._shows_time = has_clock and Row.TIMELINE in rows

    def brief(self) -> str:
        spec = self._dossier.spec
        return self._clean(f"{spec.title}\n\n{spec.briefing}".strip(), BRIEF)

    def parts(self) -> Iterator[Part]:
        """Yield what this judge may see, in the order in which it is read."""
        yield Part("diff", "The diff that was handed in", DIFF, self._diff())
        yield self._run()
        if Row.ERRORS in self._rows:
            title = "Errors, retries and reverts, as they were worked out from the run"
            yield Part("errors", title, EPISODES, self._errors())
        if Row.PLANS in self._rows:
            title = "The decision path: plans, contradictions, changes of approach, reverts"
            yield Part("path", title, PATH, self._path())
            plans = self._files(Kind.PLAN, Sort.PLAN)
            yield Part("plans", "Plans that the agent wrote down", FILES, plans)
        if Row.DELIVERABLES in self._rows:
            files = self._files(Kind.DELIVERABLE, Sort.DELIVERABLE)
            yield Part("deliverables", "Documents that the agent handed in", FILES, files)
        if Row.RECORD in self._rows:
            yield Part("claims", "What the agent claims", CLAIMS, self._claims())
            yield self._record()
            vital = "what the task forbids or the sandbox refused"
            title = "The sandbox's log"
            yield Part("sandbox", title, SANDBOX, self._sandbox(), vital)

    def _draft(
        self, sort: Sort, path: str, place: object, text: str, *, is_vital: bool = True
    ) -> Draft:
        clean = partial(self._clean, text, ITEM)
        return Draft(sort, Anchor(path, str(place)), clean, is_vital)

    # The work

    def _diff(self) -> Iterator[Draft]:
        for source, change in self._dossier.values(Kind.DIFF):
            if not isinstance(change, FileChange):
                continue
            # What stands beside a quotation may belong to it: the file is withheld whole.
            is_withheld = any(map(self._clean.quotes_hidden, _lines_of(change)))
            for hunk in change.hunks:
                if (place := _place_of(change, hunk)) is None:
                    continue
                text = QUOTES_HIDDEN if is_withheld else _hunk_text(change, hunk)
                yield self._draft(Sort.CHANGE, source.path, place, text)

    # The run

    def _run(self) -> Part:
        shows_all = Row.TIMELINE in self._rows
        title = "The run, event by event" if shows_all else "Tests that the agent ran"
        vital = "edits, test runs, checkpoints, submissions and what failed" if shows_all else ""
        return Part("run", title, RUN, self._events(), vital or "those at both ends")

    def _events(self) -> Iterator[Draft]:
        if self._recorded is None:
            return
        for event in self._recorded.events(self._dossier):
            if not self._shows(event):
                continue
            sort = Sort.TEST if event.kind is EventKind.TEST else Sort.EVENT
            clean = partial(self._event_text, event)
            anchor = Anchor(self._recorded.part_of(event.seq).path, str(EventPlace(event.seq)))
            yield Draft(sort, anchor, clean, self._is_vital(event))

    def _shows(self, event: Event) -> bool:
        """Whether an event is shown as one of the run. Plans are in a row of their own."""
        if event.kind is EventKind.TEST:
            return Row.WORK in self._rows
        return event.kind is not EventKind.PLAN and Row.TIMELINE in self._rows

    def _is_vital(self, event: Event) -> bool:
        failed = event.ok is False and Row.ERRORS in self._rows
        return failed or event.kind in {
            EventKind.EDIT,
            EventKind.TEST,
            EventKind.CHECKPOINT,
            EventKind.SUBMIT,
        }

    def _event_text(self, event: Event) -> str:
        """Tell an event as far as this judge's rows go."""
        shows_errors = Row.ERRORS in self._rows
        is_test = event.kind is EventKind.TEST
        pieces = [(self._head(event), ITEM)]
        if event.command:
            pieces.append((f"$ {event.command}", COMMAND))
        if is_test:
            pieces.append((_results(event), ITEM))
        elif event.kind is EventKind.RUN and shows_errors:
            pieces.append((_ending(event), ITEM))
        if Row.TIMELINE in self._rows:
            pieces.append((event.text, SAID))
        if is_test or (shows_errors and event.kind is EventKind.RUN):
            pieces.append((event.output, OUTPUT))
        if self._clean.quotes_hidden("\n".join(text for text, _ in pieces)):
            # A command that names a hidden test and an output that does not belong together.
            return QUOTES_HIDDEN
        return "\n".join(self._clean(text, limit) for text, limit in pieces if text)

    def _head(self, event: Event) -> str:
        parts = [f"#{event.seq}", event.kind.value]
        if self._shows_time and event.t is not None:
            parts.append(f"at {event.t:.0f} s")
        if Row.TIMELINE in self._rows:
            parts += [event.tool or "", event.path or ""]
        if event.lines_added is not None or event.lines_removed is not None:
            parts.append(f"(+{event.lines_added or 0} -{event.lines_removed or 0} lines)")
        return " ".join(filter(None, parts))

    # What was worked out from it

    def _errors(self) -> Iterator[Draft]:
        if self._recorded is None:
            return
        story, part_of = self._story, self._recorded.part_of
        drafts: list[tuple[int, str]] = []
        drafts += [(error.opened_seq, _error_text(error, story)) for error in story.errors]
        for retry in story.retries:
            seqs = ", ".join(f"#{seq}" for seq in retry.seqs[:MOST_NAMES])
            times = len(retry.seqs)
            text = f"The same call {times} times, with nothing changed between: {seqs}"
            drafts.append((retry.seqs[0], text))
        for change in story.reverts:
            paths = ", ".join(sorted(change.paths)[:MOST_NAMES])
            drafts.append((change.seq, f"#{change.seq} put back earlier content of {paths}"))
        for seq, text in sorted(drafts):
            yield self._draft(Sort.EPISODE, part_of(seq).path, EventPlace(seq), text)

    def _path(self) -> Iterator[Draft]:
        if self._recorded is None:
            return
        steps = self._story.decision_path
        wanted = {step.seq for step in steps}
        events = {
            event.seq: event
            for event in self._recorded.events(self._dossier)
            if event.seq in wanted
        }
        answers = {
            c.answer.seq: c.run.seq for c in reversed(self._story.contradictions) if c.answer
        }
        failing = {c.run.seq: sorted(c.tests) for c in self._story.contradictions}
        for step in steps:
            text = _step_text(step, events.get(step.seq), failing, answers)
            path = self._recorded.part_of(step.seq).path
            yield self._draft(Sort.TURN, path, EventPlace(step.seq), text)

    # Files

    def _files(self, kind: Kind, sort: Sort) -> Iterator[Draft]:
        for source in self._dossier.of_kind(kind):
            with self._dossier.opened(source.path) as stream:
                data = stream.read(READ + 1)
            text = data[:READ].decode("utf-8", "replace")
            is_withheld = self._clean.quotes_hidden(text)
            for first, last, chunk in _chunks(text):
                body = QUOTES_HIDDEN if is_withheld else f"{source.path}, line {first} on\n{chunk}"
                place = LinePlace(first) if first == last else LinesPlace(first, last)
                yield self._draft(sort, source.path, place, body)
                if is_withheld:
                    break

    # The record

    def _claims(self) -> Iterator[Draft]:
        for claim in self._dossier.claims:
            anchor = claim.anchor
            yield self._draft(Sort.CLAIM, claim.path, anchor["place"], _claim_text(claim))

    def _sandbox(self) -> Iterator[Draft]:
        for source, access in self._dossier.values(Kind.SANDBOX):
            if isinstance(access, Access):
                is_vital = (
                    access.allowed is False
                    or is_forbidden(access, self._dossier.spec)
                    or is_escape(access, self._dossier.spec)
                )
                place, text = LinePlace(access.line), _access_text(access)
                yield self._draft(Sort.ACCESS, source.path, place, text, is_vital=is_vital)

    def _record(self) -> Part:
        tests = tests_of(self._dossier)
        build = self._dossier.build
        told = [] if build is None else [f"The build {'succeeded' if build.ok else 'failed'}."]
        told += _hidden_counts(tests)
        note = " ".join(told)
        drafts = self._visible_tests(tests)
        title = "The record: what the graded runs say"
        return Part("record", title, RECORD, drafts, "visible tests that failed", note)

    def _visible_tests(self, tests: Sequence[TestRecord]) -> Iterator[Draft]:
        """Yield visible tests only: of hidden ones there are counts, and no more."""
        files = [
            source
            for source in self._dossier.of_kind(Kind.TESTS)
            if source.suite == Suite.STATIC and source.is_readable
        ]
        where = _where(self._dossier, files)
        for test in tests:
            if test.suite != Suite.STATIC or test.id not in where:
                continue
            outcomes = ", ".join(
                f"run {at}: {outcome}" for at, outcome in enumerate(test.outcomes, start=1)
            )
            changed = "; the submission changed its file" if test.tampered else ""
            text = f"{test.id}\n{outcomes}{changed}"
            failed = test.tampered or any(passed is False for passed in test.runs)
            place = TestPlace(Suite.STATIC, test.id)
            yield self._draft(Sort.RECORD, where[test.id], place, text, is_vital=failed)


# Texts


def _lines_of(change: FileChange) -> Iterator[str]:
    yield from filter(None, (change.path, change.old_path))
    yield "\n".join(line.text for hunk in change.hunks for line in hunk.lines)


def _place_of(change: FileChange, hunk: Hunk) -> DiffPlace | None:
    """Return the first changed line of a hunk; of a deletion it is in the old file."""
    for line in hunk.lines:
        if line.sign == "+" and line.new is not None:
            return DiffPlace(change.path, line.new)
        if line.sign == "-" and line.old is not None:
            return DiffPlace(change.old_path or change.path, line.old, old=True)
    return None


def _hunk_text(change: FileChange, hunk: Hunk) -> str:
    moved = change.old_path and change.old_path != change.path
    head = f"{change.path} ({change.status}{f' from {change.old_path}' if moved else ''})"
    lines = (f"{line.sign}{line.text}" for line in hunk.lines)
    return "\n".join([head, hunk.header, *lines])


def _results(event: Event) -> str:
    results = event.results or {}
    failing = [name for name, passed in results.items() if not passed]
    passed = event.passed if event.passed is not None else len(results) - len(failing)
    failed = event.failed if event.failed is not None else len(failing)
    if not results and event.passed is None and event.failed is None:
        return "The results cannot be read."
    named = f": {', '.join(failing[:MOST_NAMES])}" if failing else ""
    more = f" and {len(failing) - MOST_NAMES} more" if len(failing) > MOST_NAMES else ""
    return f"{passed} passed, {failed} failed{named}{more}"


def _ending(event: Event) -> str:
    if event.ok is None:
        return ""
    code = "" if event.exit_code is None else f", exit code {event.exit_code}"
    why = " (as expected)" if event.expected else " (the infrastructure)" if event.infra else ""
    return f"{'succeeded' if event.ok else 'failed'}{code}{why}"


def _error_text(error: ErrorEpisode, story: Story) -> str:
    # A test has a name; a command's signature is a digest, and its event says what it was.
    what = f"the test {error.signature}" if error.kind == "test" else "the command"
    if error.is_open:
        return f"{what}, which had worked, failed at #{error.opened_seq} and stayed so"
    assert error.closed_seq is not None
    took = ""
    if error.opened_t is not None and error.closed_t is not None:
        seconds = error.closed_t - error.opened_t
        took = f", {seconds:.0f} s later" if seconds >= 0 else ""
    inside = range(error.opened_seq, error.closed_seq)
    changes = sum(change.seq in inside for change in story.changes)
    runs = sum(run.seq in inside for run in story.runs) - 1
    between = f"{changes} changes and {max(runs, 0)} test runs between"
    return (
        f"{what}, which had worked, failed at #{error.opened_seq} and worked again at "
        f"#{error.closed_seq}{took}; {between}"
    )


def _step_text(
    step: PathStep,
    event: Event | None,
    failing: dict[int, list[str]],
    answers: dict[int, int],
) -> str:
    said = event.text if event is not None else ""
    path = event.path if event is not None and event.path else ""
    match step.kind:
        case StepKind.PLAN:
            head = f"#{step.seq} plan"
        case StepKind.CONTRADICTION:
            names = ", ".join(failing.get(step.seq, [])[:MOST_NAMES])
            return f"#{step.seq} contradiction: after a change these fail: {names}"
        case StepKind.APPROACH_CHANGE:
            after = f", after the failure at #{answers[step.seq]}" if step.seq in answers else ""
            head = f"#{step.seq} change of approach{after}: {path}"
        case StepKind.REVERT:
            head = f"#{step.seq} revert to earlier content: {path}"
    return f"{head}\n{said}".strip()


def _chunks(text: str) -> Iterator[tuple[int, int, str]]:
    """Cut a text at line ends into pieces of a readable length, with their lines from 1."""
    first, size, lines = 1, 0, list[str]()
    for number, line in enumerate(text.split("\n"), start=1):
        if lines and size + len(line) > CHUNK:
            yield first, number - 1, "\n".join(lines)
            first, size, lines = number, 0, []
        lines.append(line)
        size += len(line) + 1
    if any(line.strip() for line in lines):
        last = first + len(lines) - 1
        yield first, last - (len(lines) > 1 and not lines[-1]), "\n".join(lines)


def _claim_text(claim: Claim) -> str:
    entry = claim.entry
    confidence = "not stated" if entry.confidence is None else plain(exact(entry.confidence), 4)
    about = f"\nabout: {entry.about}" if entry.about else ""
    return f"{entry.statement}\nconfidence: {confidence}{about}"


def _access_text(access: Access) -> str:
    ends = {True: "went through", False: "was refused", None: "came to an unknown end"}
    detail = f" ({access.detail})" if access.detail else ""
    return f"line {access.line}: {access.action} {access.target} {ends[access.allowed]}{detail}"


def _hidden_counts(tests: Sequence[TestRecord]) -> Iterator[str]:
    hidden = [test for test in tests if test.suite != Suite.STATIC]
    if not hidden:
        return
    passed: Counter[Severity] = Counter()
    total: Counter[Severity] = Counter()
    for test in hidden:
        known = [run for run in test.runs if run is not None]
        total[test.severity] += 1
        passed[test.severity] += bool(known) and all(known)
    counts = ", ".join(
        f"{passed[severity]} of {total[severity]} of severity {severity.value}"
        for severity in Severity
        if total[severity]
    )
    yield f"Of the hidden tests these pass in every run: {counts}."


def _where(dossier: Dossier, files: Sequence[Source]) -> dict[str, str]:
    """Return the file in which each test of some result files stands first."""
    where: dict[str, str] = {}
    for source in files:
        for result in dossier.load(source.path):
            where.setdefault(result.id, source.path)
    return where
