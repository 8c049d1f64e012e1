"""TAP, the Test Anything Protocol: 12, 13 and 14, with subtests (FORMATS.md, 1).

- Results are counted from the leaves: the test points that close no subtest. An id is the
  names of the subtests around it and its own, ``group::name``; where a description stands
  twice in one place, the later ones get a number, since they are other checks, not retries.
- A point that closes a subtest is a result only where it failed and nothing inside did.
- ``TODO`` and ``SKIP`` count as skipped, whether ok or not: neither says that a test holds.
- What makes a harness fail the whole is an errored result of its own: ``Bail out!``, no plan,
  more or fewer points than planned, points after ``1..0``.
- Lines that are no TAP are left out and noted; those after a point that failed are its log.
- A file without any point is unreadable: a run in which all is skipped is no evidence.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.cases import stated_severity, whole
from bouts.formats.crumbs import Crumbs
from bouts.formats.guard import guarded
from bouts.formats.lines import numbered_lines
from bouts.formats.tally import LOG_LIMIT, MAX_REMEMBERED_IDS, MESSAGE_LIMIT, Tally
from bouts.formats.text import Clipper, count, decode, shorten, shorten_id, single_line
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable

MAX_DEPTH = 50  # of subtests
MAX_WAITING = 100_000  # points that wait for the end of the subtest around them
BYTES_EACH = 12  # that lines have on average: see `Crumbs`
BYTES_EACH_POINT = 40  # that points have, with all the lines that follow them
INDENT = 4  # of a subtest, in spaces
_HEAD_LINES = 500  # among which a first line of TAP must be

_VERSION = re.compile(r"TAP version (\d{1,3})\s*", re.ASCII | re.IGNORECASE)
_PLAN = re.compile(r"(\d{1,9})\.\.(\d{1,9})\s*(?:#\s*(.*))?", re.ASCII)
_POINT = re.compile(r"(not )?ok(?:\s+(\d{1,9}))?(?=\s|\Z)(?:\s+-(?=\s|\Z))?\s*(.*)", re.ASCII)
_BAIL_OUT = re.compile(r"Bail out!\s*(.*)", re.IGNORECASE)
_SUBTEST = re.compile(r"# Subtest(?::\s*(.*))?")
_DIRECTIVE = re.compile(r"(?:\A|\s)#\s*(SKIP|TODO)\w*\b[:\s]*(.*)", re.IGNORECASE)
_COMMENT = re.compile(r"(?:\A|\s)#\s*(.*)")
_TIME = re.compile(r"time=(\d{1,12}(?:\.\d{1,12})?)(m?s)\b", re.ASCII)
_ESCAPED = re.compile(r"\\([\\#])")

_FIELD = re.compile(
    r"(\s*)(message|error|duration_ms|location|severity|fileName|file|lineNumber|line):\s*(.*)"
)
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]{0,2}")
_LOCATION = re.compile(r"(?:file://)?(.+?):(\d{1,9})(?::\d{1,9})?")
_MILLISECONDS = re.compile(r"\d{1,12}(?:\.\d{1,12})?", re.ASCII)
_INTS = frozenset({"line", "lineNumber"})


class TapReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "tap"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        """One line is enough: a version, a plan or a point with its number."""
        text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
        if text.lstrip().startswith(("<", "{", "[")):  # XML or JSON with TAP inside
            return False
        lines = text.split("\n", _HEAD_LINES)[:_HEAD_LINES]
        return any(_is_tap(line.rstrip("\r")) for line in lines)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        return _Reading(report).results(source)


def _is_tap(line: str) -> bool:
    if _VERSION.fullmatch(line) or _PLAN.fullmatch(line):
        return True
    point = _POINT.fullmatch(line)
    return point is not None and point[2] is not None


class _Level:
    """The points of the file, or of one subtest."""

    __slots__ = (
        *("bailed_out", "closer", "has_failed", "highest", "is_todo", "is_twice", "line", "name"),
        *("names", "numbers", "parent", "plan", "plans", "reason", "run", "seen"),
    )

    def __init__(self, parent: _Level | None, line: int, name: str = "") -> None:
        self.parent = parent
        self.line = line
        self.name = name
        self.closer: _Point | None = None  # a point before its subtest, with "{" at its end
        self.plan: int | None = None
        self.plans = 0
        self.reason = ""  # of the plan
        self.seen = 0
        self.highest = 0  # number
        self.run = 0  # up to which each number was there
        self.names: Counter[str] = Counter()
        self.numbers: set[int] = set()  # those beyond the run
        self.is_twice = False  # a number
        self.has_failed = False  # a leaf in it, at any depth
        self.is_todo = False
        self.bailed_out: str | None = None


class _Point:
    """A test point, with what follows it in the file."""

    __slots__ = (
        "description",
        "fields",
        "level",
        "line",
        "log",
        "outcome",
        "reason",
        "said",
        "seconds",
    )

    def __init__(self, level: _Level, line: int, outcome: Outcome, description: str) -> None:
        self.level = level
        self.line = line
        self.outcome = outcome
        self.description = description
        self.reason = ""  # of a directive
        self.seconds: float | None = None
        self.fields: dict[str, str] = {}  # of the diagnosis
        self.said = ""  # what follows it at once, where that is no diagnosis
        self.log: Clipper | None = None

    def add(self, line: str) -> None:
        if self.log is None:
            self.log = Clipper(LOG_LIMIT)
        self.log.add(f"{line}\n")


class _Diagnosis:
    """An open block of YAML. Of its fields a few are known by their names, at any place.

    It is not parsed as YAML: nothing in it, such as an alias, can do anything.
    """

    def __init__(self, point: _Point, indent: int) -> None:
        self.point = point
        self.indent = indent
        self._base: int | None = None  # where its own keys stand
        self._block: str | None = None  # the field whose text begins in the next line

    def add(self, line: str) -> None:
        self.point.add(line[self.indent :])
        if not line.strip():
            return
        if self._block:
            self.point.fields.setdefault(self._block, line.strip())
            self._block = None
            return
        indent = len(line) - len(line.lstrip())
        self._base = indent if self._base is None else self._base
        found = _FIELD.match(line)
        if not found:
            return
        name, value = found[2], found[3].strip()
        is_place = name in {"file", "fileName", *_INTS}
        if not is_place and indent != self._base:
            return
        if _BLOCK_SCALAR.fullmatch(value):
            self._block = name
        elif value:
            self.point.fields.setdefault(name, _unquoted(value))


class _Reading:
    """One pass over one file."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._tally = Tally(report)
        self._levels = [_Level(None, 1)]  # of the document that is open, outermost first
        self._point: _Point | None = None  # the last one
        self._diagnosis: _Diagnosis | None = None
        self._waiting: list[_Point] = []  # leaves whose outermost subtest is not closed
        self._announced: dict[int, str] = {}  # names of subtests to come, by their depth
        self._planned: int | None = None
        self._counts: Counter[str] = Counter()
        self._points: Crumbs

    def results(self, source: BinaryIO) -> Iterator[TestResult]:
        line, size = 0, source.seek(0, io.SEEK_END)
        lines = Crumbs(size, "lines", BYTES_EACH)
        self._points = Crumbs(size, "points", BYTES_EACH_POINT)
        for line, data in numbered_lines(source):
            lines.add()
            text = decode(data, self._tally.remarks, line).rstrip("\r")
            self._take(text.removeprefix("\ufeff") if line == 1 else text, line)
            # With the outermost level alone open, all is known of what came before the point.
            if len(self._waiting) > 1 and len(self._levels) == 1:
                yield from self._flush(keep=self._point)
            elif len(self._waiting) > MAX_WAITING:
                limit = f"MAX_WAITING = {MAX_WAITING:,}"
                self._tally.remarks.add(f"a TODO after more than {limit} points is not seen")
                yield from self._flush(keep=self._point)
        self._end_document(line)
        yield from self._flush(keep=None)
        if not self._tally.cases:
            raise Unreadable(self._emptiness())
        self._report.format_version = self._report.format_version or "12"
        if self._counts["subtests"]:
            self._report.counts["subtests"] = self._counts["subtests"]
        if self._planned is not None and not self._counts["subtests"]:
            self._report.facts["claimed"] = {"tests": self._planned}
        self._tally.finish()

    # Lines

    def _take(self, text: str, line: int) -> None:
        if self._diagnosis and self._is_in_diagnosis(text):
            return
        stripped = text.lstrip(" ")
        if not stripped.strip():
            return
        indent = len(text) - len(stripped)
        if indent % INDENT == 2 and stripped.rstrip() == "---" and self._point:
            self._diagnosis = _Diagnosis(self._point, indent)
            return
        depth = indent // INDENT
        is_taken = indent % INDENT == 0 and self._take_at(depth, stripped, line)
        if is_taken:
            return
        if self._point and self._point.outcome is not Outcome.PASSED:
            if self._point.log is None:
                self._point.said = stripped.lstrip("# ").strip()
            self._point.add(stripped)
        if not stripped.startswith("#"):
            self._tally.remarks.add("a line is no TAP and is left out", line)

    def _is_in_diagnosis(self, text: str) -> bool:
        diagnosis = self._diagnosis
        assert diagnosis is not None
        indent = len(text) - len(text.lstrip(" "))
        if text.strip() and indent < diagnosis.indent:  # it was never closed
            self._diagnosis = None
            return False
        if indent == diagnosis.indent and text.strip() == "...":
            self._diagnosis = None
        else:
            diagnosis.add(text)
        return True

    def _take_at(self, depth: int, text: str, line: int) -> bool:
        """Take a line of TAP; tell whether it is one."""
        here = len(self._levels) - 1
        if depth > max(here + 1, MAX_DEPTH):
            return False
        match text[0]:
            case "o" | "n":
                point = _POINT.fullmatch(text)
                # Without a number it may be words of a program, rather than a subtest.
                if not point or (depth > here and point[2] is None):
                    return False
                self._go_to(depth, line)
                self._add(point, depth, line)
            case "#":
                subtest = _SUBTEST.fullmatch(text)
                if not subtest:
                    return False
                self._announce(depth, _unescaped(subtest[1] or "").strip(), line)
            case "B" | "b":
                bail_out = _BAIL_OUT.fullmatch(text)
                if not bail_out or depth > here + 1:
                    return False
                self._levels[0].bailed_out = bail_out[1].strip()
            case "}":
                return text.rstrip() == "}" and depth == here - 1 and self._close_buffered()
            case "p":
                return text.startswith("pragma ")
            case _:
                return self._take_frame(depth, text, line)
        return True

    def _take_frame(self, depth: int, text: str, line: int) -> bool:
        """Take a version or a plan; tell whether the line is one."""
        if plan := _PLAN.fullmatch(text):
            self._go_to(depth, line)
            self._plan(plan, self._levels[depth], line)
        elif version := _VERSION.fullmatch(text):
            self._go_to(depth, line)
            self._begin(version[1], depth, line)
        return bool(plan or version)

    def _announce(self, depth: int, name: str, line: int) -> None:
        """Take the name of a subtest: of the one below, or of its own where none was named yet.

        TAP 14 writes it where the lines around the subtest stand, older tools among its own.
        """
        if depth < len(self._levels) or depth in self._announced:
            self._go_to(depth, line)
            self._announced[depth + 1] = name
        else:
            self._go_to(depth, line)
            self._levels[depth].name = name

    def _go_to(self, depth: int, line: int) -> None:
        """Open the subtest in which a line stands, where it is not open.

        One that is deeper stays open for the point that closes it.
        """
        while len(self._levels) <= depth:
            below = len(self._levels)
            if below > MAX_DEPTH:
                limit = f"MAX_DEPTH = {MAX_DEPTH}"
                raise Unreadable(f"subtests nested deeper than {limit}", f"line {line}")
            self._counts["subtests"] += 1
            self._levels.append(_Level(self._levels[-1], line, self._announced.pop(below, "")))

    def _begin(self, version: str, depth: int, line: int) -> None:
        """Begin a document where a version stands: several may have been written to one file."""
        if depth:
            return  # a subtest's own
        if self._report.format_version is None:
            self._report.format_version = version
        if self._levels[0].seen or self._levels[0].plans:
            self._end_document(line)
            self._levels = [_Level(None, line)]

    def _plan(self, plan: re.Match[str], level: _Level, line: int) -> None:
        first, last, comment = int(plan[1]), int(plan[2]), plan[3] or ""
        level.plans += 1
        level.plan = max(last - first + 1, 0)
        skipped = _DIRECTIVE.match(f"#{comment}")
        level.reason = (skipped[2] if skipped else comment).strip()
        if first > 1:
            self._tally.remarks.add("a plan that does not begin at 1", line)

    # Points

    def _add(self, found: re.Match[str], depth: int, line: int) -> None:
        while len(self._levels) > depth + 2 or (
            len(self._levels) == depth + 2 and self._levels[-1].closer
        ):
            self._leave_open(self._levels.pop())
        inner = self._levels.pop() if len(self._levels) == depth + 2 else None
        level = self._levels[-1]
        rest = found[3].rstrip()
        opens = rest.endswith("{") and inner is None
        point = self._made(level, found, rest[:-1].rstrip() if opens else rest, line)
        if opens:  # its subtest follows, in braces
            self._counts["subtests"] += 1
            self._levels.append(_Level(level, line))
            self._levels[-1].closer = self._point = point
        else:
            self._settle(point, inner)

    def _leave_open(self, inner: _Level) -> None:
        """Take leave of a subtest that no point closes, or no brace."""
        if inner.closer:
            self._settle(inner.closer, inner)
            return
        self._tally.remarks.add("a subtest is never closed by a point", f"line {inner.line}")
        if inner.parent and inner.has_failed:
            inner.parent.has_failed = True

    def _made(self, level: _Level, found: re.Match[str], rest: str, line: int) -> _Point:
        """Return the point of a line, counted in its level."""
        outcome = Outcome.FAILED if found[1] else Outcome.PASSED
        is_commented = "#" in rest
        directive = _DIRECTIVE.search(rest) if is_commented else None
        comment = _COMMENT.search(rest) if is_commented else None
        description = rest[: comment.start()] if comment else rest
        point = _Point(level, line, outcome, _unescaped(description).strip())
        if directive:
            point.outcome = Outcome.SKIPPED
            point.reason = f"{directive[1].upper()} {directive[2].strip()}".strip()
        if comment and (time := _TIME.search(comment[1])):
            point.seconds = float(time[1]) / (1000 if time[2] == "ms" else 1)
        self._points.add()
        level.seen += 1
        number = int(found[2]) if found[2] else level.seen
        self._check(level, number, line)
        if not point.description and (name := self._announced.pop(len(self._levels), "")):
            point.description = name
        return point

    def _check(self, level: _Level, number: int, line: int) -> None:
        if number != level.seen:
            self._tally.remarks.add("a number is out of its order", line)
        level.highest = max(level.highest, number)
        if number <= level.run or number in level.numbers:
            level.is_twice = True
        elif number > level.run + 1:
            if len(level.numbers) < MAX_REMEMBERED_IDS:
                level.numbers.add(number)
        else:
            level.run = number
            while level.run + 1 in level.numbers:
                level.run += 1
                level.numbers.remove(level.run)

    def _close_buffered(self) -> bool:
        inner = self._levels[-1]
        if not inner.closer:
            return False
        self._levels.pop()
        self._settle(inner.closer, inner)
        return True

    def _settle(self, point: _Point, inner: _Level | None) -> None:
        """Take a point as a leaf, or as the end of the subtest that is now closed."""
        self._point = point
        self._announced.pop(len(self._levels), None)
        if inner is None or not inner.seen:
            point.description = point.description or (inner.name if inner else "")
            self._wait(point)
            return
        inner.name = point.description or inner.name
        place = f"line {point.line}"
        if inner.plan != inner.seen and point.outcome is Outcome.PASSED:
            self._tally.remarks.add("a subtest passed, though its plan was not kept", place)
        if point.reason.startswith("TODO"):
            inner.is_todo = True
        elif point.outcome is Outcome.FAILED and not inner.has_failed:
            point.outcome = Outcome.ERRORED
            point.description = inner.name
            self._tally.remarks.add("a subtest failed outside its tests", place)
            self._wait(point)
        elif inner.has_failed:
            point.level.has_failed = True
            if point.outcome is Outcome.PASSED:
                self._tally.remarks.add("a subtest passed, though a test in it failed", place)

    def _wait(self, point: _Point) -> None:
        level = point.level
        level.has_failed |= point.outcome in {Outcome.FAILED, Outcome.ERRORED}
        name = point.description or f"test {level.seen}"
        if level.names[name]:
            self._tally.remarks.add("a description that stands twice gets a number")
        if level.names[name] or len(level.names) < MAX_REMEMBERED_IDS:
            level.names[name] += 1
        times = level.names[name]
        point.description = f"{name} ({times})" if times > 1 else name
        self._waiting.append(point)

    # Ends

    def _end_document(self, line: int) -> None:
        while len(self._levels) > 1:
            self._leave_open(self._levels.pop())
        outermost = self._levels[0]
        self._point = self._diagnosis = None
        self._announced.clear()
        if outermost.plan is not None:
            self._planned = (self._planned or 0) + outermost.plan
        if outermost.bailed_out is not None:
            reason = outermost.bailed_out or "no reason is given"
            self._fault(outermost, line, "(bail out)", f"Bail out! {reason}")
        elif fault := self._fault_of_plan(outermost):
            self._fault(outermost, line, "(plan)", fault)

    def _fault_of_plan(self, level: _Level) -> str:
        if not level.seen and not self._waiting:
            if level.plan:
                return f"{count(level.plan, 'test was', 'tests were')} planned and none ran"
            return ""  # an empty document, or one in which all is skipped
        if level.plan is None:
            return "there is no plan: the run may have been cut short"
        if level.plans > 1:
            return "there is more than one plan"
        if level.plan != level.seen:
            return f"{count(level.plan, 'test was', 'tests were')} planned and {level.seen:,} ran"
        is_planned = level.highest <= level.plan and not level.is_twice
        return "" if is_planned else "a number stands twice or is not planned"

    def _fault(self, level: _Level, line: int, name: str, message: str) -> None:
        point = _Point(level, line, Outcome.ERRORED, name)
        point.reason = message
        self._tally.remarks.add(message[:300], line)
        self._waiting.append(point)

    def _emptiness(self) -> str:
        reason = self._levels[0].reason
        if self._levels[0].plan == 0:
            return f"no test in it: all of it was skipped{f', {reason[:300]}' if reason else ''}"
        return "no test in it: an empty run is no evidence"

    # Results

    def _flush(self, *, keep: _Point | None) -> Iterator[TestResult]:
        """Yield what waits but the last point, to which lines may still belong."""
        kept = [point for point in self._waiting[-1:] if point is keep]
        ready = self._waiting[: len(self._waiting) - len(kept)]
        self._waiting = kept
        for point in ready:
            yield self._tally.add(_result(point))


def _result(point: _Point) -> TestResult:
    names = [point.description]
    outcome = point.outcome
    level: _Level | None = point.level
    is_todo = False
    while level and level.parent:
        names.append(level.name or "(subtest)")
        is_todo |= level.is_todo
        level = level.parent
    if is_todo and outcome is not Outcome.PASSED:
        outcome = Outcome.SKIPPED
    fields = point.fields
    file, line = _place(fields) if fields else (None, None)
    milliseconds = fields.get("duration_ms")
    seconds = point.seconds
    if milliseconds and _MILLISECONDS.fullmatch(milliseconds):
        seconds = float(milliseconds) / 1000
    log = point.log.text().strip() if point.log else ""
    said = fields.get("message") or fields.get("error") or point.said
    message = point.reason or (said if point.outcome is not Outcome.PASSED else "")
    return TestResult(
        id=shorten_id("::".join(reversed(names))),
        outcome=outcome,
        duration_s=seconds,
        message=shorten(message, MESSAGE_LIMIT),
        log=shorten(log, LOG_LIMIT),
        severity=_severity(fields["severity"]) if "severity" in fields else None,
        file=single_line(file)[:1000] if file else None,
        line=line,
    )


def _place(fields: dict[str, str]) -> tuple[str | None, int | None]:
    if found := _LOCATION.fullmatch(fields.get("location", "")):
        return found[1], int(found[2])
    file = fields.get("file") or fields.get("fileName")
    return file, whole(fields.get("line") or fields.get("lineNumber")) if file else None


def _severity(written: str) -> str | None:
    """Return a severity as challenges know it; TAP's own "fail" and "comment" are none."""
    severity = stated_severity("severity", written)
    return severity if severity in {"critical", "high", "medium", "low"} else None


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
