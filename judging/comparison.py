"""Two to four matches side by side, each as far as its viewer may see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bouts.rules import Suite
from judging.judges.objective import passes
from judging.rubrics import title_of
from judging.scoring.policy import CURRENT, WEIGHED
from judging.showing import words
from judging.showing.words import decimal
from judging.sight import Sight

FEWEST, MOST = 2, 4
# What parts two matches: so many points of the total, of a score from 0 to 100, levels.
PARTING_POINTS = Decimal(1)
PARTING_SCORE = Decimal(CURRENT.panel.within)
PARTING_LEVELS = Decimal(2)
PARTING_SHARE = Decimal("0.5")  # of the widest gap in the ledger
MOST_TESTS = 200

JsonDict = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One match in one row. ``value`` is None where there is nothing to show, ``why`` says why."""

    value: Decimal | None
    text: str = ""  # stands beside the value
    why: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table: ``gap`` between the highest and the lowest, None where it is one's own."""

    label: str
    cells: tuple[Cell, ...]
    gap: Decimal | None
    parts: bool = False
    is_sum: bool = False


@dataclass(frozen=True, slots=True)
class TestLine:
    """A test that not all of them passed. ``passed`` and ``addresses`` are by match."""

    __test__ = False  # not a test class, whatever pytest thinks

    id: str
    suite: str
    severity: str
    passed: tuple[bool | None, ...]  # None where the test was not run
    addresses: tuple[str, ...]

    @property
    def is_of_one(self) -> bool:
        return sum(bool(one) for one in self.passed) == 1

    @property
    def cells(self) -> Iterator[tuple[bool | None, str]]:
        return zip(self.passed, self.addresses, strict=True)


@dataclass(frozen=True)
class Side:
    """A match and what its viewer may see of it; ``card`` is None before it was scored."""

    sight: Sight
    card: JsonDict | None
    base_model: str

    @property
    def tests(self) -> dict[str, JsonDict] | None:
        """The tests that the viewer may see by name, or None where that is none of them."""
        if self.card is None or not self.sight.shows_evidence:
            return None
        evidence = self.card["judges"]["objective"].get("evidence")
        if not isinstance(evidence, Mapping):
            return None
        return {test["id"]: test for test in evidence["tests"]}

    def judge(self, name: str) -> JsonDict:
        return self.card["judges"].get(name, {}) if self.card else {}

    def why_nothing_of(self, judge: str) -> str:
        """Return the code for why the parts of a judge's score are not there."""
        if self.card is None:
            return "not_scored_yet"
        if not self.sight.shows_evidence:
            return "withheld"
        return self.judge(judge).get("reason") or ""


def ledger(sides: Sequence[Side]) -> list[Line]:
    """Align the ledgers: a row a judge, a row a kind of finding or rule, and the total."""
    lines = [
        _line(
            words.JUDGES[judge.value],
            [_judge_cell(side, judge.value) for side in sides],
        )
        for judge in WEIGHED
    ]
    base = _line("Base", [_figure(side, "base") for side in sides], is_sum=True)
    further = [
        _line(words.row_label(row), [_further(side, row) for side in sides])
        for row in _further_rows(sides)
    ]
    total = _line("Total", [_figure(side, "total") for side in sides], is_sum=True)
    widest = max((line.gap for line in (*lines, *further) if line.gap is not None), default=0)
    least = max(PARTING_POINTS, widest * PARTING_SHARE)
    return [
        *(_marked(line, least) for line in lines),
        base,
        *(_marked(line, least) for line in further),
        total,
    ]


def _line(label: str, cells: Iterable[Cell], *, is_sum: bool = False) -> Line:
    cells = tuple(cells)
    known = [cell.value for cell in cells if cell.value is not None]
    gap = max(known) - min(known) if len(known) > 1 else None
    return Line(label, cells, gap, is_sum=is_sum)


def _marked(line: Line, least: Decimal) -> Line:
    parts = line.gap is not None and line.gap >= least
    return Line(line.label, line.cells, line.gap, parts=parts)


def _judge_cell(side: Side, name: str) -> Cell:
    judge = side.judge(name)
    href = f"{side.sight.pages.card()}#{name}"
    if not judge or judge["counted"] is None:
        return Cell(None, why=judge.get("reason") or "", href=href)
    shown = f"{judge['counted']} × {judge['effective_weight']:g}"
    return Cell(decimal(judge["points"]), shown, href=href)


def _figure(side: Side, name: str) -> Cell:
    card = side.card
    if card is None or card[name] is None:
        return Cell(None, why=(card or {}).get("reason") or "")
    return Cell(decimal(card[name]))


def _further_rows(sides: Sequence[Side]) -> list[str]:
    """Return the kinds of rows beside the judges, in the order in which they come first."""
    rows = [
        row["row"]
        for side in sides
        if side.card
        for row in side.card["ledger"]
        if row["row"] not in words.JUDGES and Decimal(row["points"])
    ]
    return list(dict.fromkeys(rows))


def _further(side: Side, name: str) -> Cell:
    if side.card is None:
        return Cell(None)
    rows = [row for row in side.card["ledger"] if row["row"] == name]
    points = sum((Decimal(row["points"]) for row in rows), Decimal(0))
    times = f"{len(rows)} ×" if len(rows) > 1 else ""
    return Cell(points, times, href=f"{side.sight.pages.card()}#integrity")


# Below the ledger: metrics, criteria


def metrics(sides: Sequence[Side]) -> list[Line]:
    """Align the metrics of Process and Recovery by their scores; the value stands beside."""
    lines = []
    for judge in ("process", "recovery"):
        found = [side.judge(judge).get("metrics") or {} for side in sides]
        for name in dict.fromkeys(name for one in found for name in one):
            cells = [
                _metric_cell(side, judge, one.get(name))
                for side, one in zip(sides, found, strict=True)
            ]
            line = _line(words.METRICS.get(name, words.title(name)), cells)
            lines.append(_marked(line, PARTING_SCORE))
    return lines


def _metric_cell(side: Side, judge: str, metric: Mapping[str, Any] | None) -> Cell:
    if metric is None:
        return Cell(None, why=side.why_nothing_of(judge))
    value = metric["value"]
    shown = "" if value is None else f"{value:g}"
    return Cell(
        decimal(metric["score"]),
        shown,
        metric["reason"] or "",
        f"{side.sight.pages.card()}#{judge}",
    )


def criteria(sides: Sequence[Side]) -> list[Line]:
    """Align the levels that models gave: of a panel the mean over its seats."""
    lines = []
    for judge in ("process", "strategy", "recovery"):
        for name in CURRENT.halves.rubrics[next(j for j in WEIGHED if j.value == judge)]:
            cells = [_level_cell(side, judge, name) for side in sides]
            if any(cell.value is not None for cell in cells):
                title = title_of(judge, CURRENT.version, name).lower()
                line = _line(f"{words.JUDGES[judge]}: {title}", cells)
                lines.append(_marked(line, PARTING_LEVELS))
    return lines


def _level_cell(side: Side, judge: str, name: str) -> Cell:
    levels = _levels(side.judge(judge), judge, name)
    if not levels:
        return Cell(None, why=side.why_nothing_of(judge))
    mean = Decimal(sum(levels)) / len(levels)
    return Cell(mean, "" if len(levels) == 1 else f"{len(levels)} seats")


def _levels(judge: Mapping[str, Any], slug: str, name: str) -> list[int]:
    if slug == "strategy":
        seats = judge.get("seats") or []
        return [seat["levels"][name] for seat in seats if name in (seat.get("levels") or {})]
    level = ((judge.get("criteria") or {}).get(name) or {}).get("level")
    return [] if level is None else [level]


# Tests


def tests(sides: Sequence[Side]) -> list[TestLine] | None:
    """Return the tests on which they differ, those that only one passed first.

    None where fewer than two of them show their tests to this viewer. A test that some may
    be seen to pass and others not shown is left out: a gap would tell what the gate hides.
    """
    shown = [side.tests for side in sides]
    known = [one for one in shown if one is not None]
    if len(known) < FEWEST:
        return None
    lines = []
    for test_id in dict.fromkeys(name for one in known for name in one):
        if any(test_id not in one for one in known):
            continue
        passed = tuple(None if one is None else passes(one[test_id]) for one in shown)
        if len({one for one in passed if one is not None}) < FEWEST:
            continue
        test = next(one[test_id] for one in known)
        tabs = tuple(side.sight.pages.tab("test_list") for side in sides)
        lines.append(TestLine(test_id, test["suite"], test["severity"], passed, tabs))
    return sorted(lines, key=lambda line: (not line.is_of_one, line.suite, line.id))


def hides_tests(sides: Sequence[Side]) -> bool:
    """Whether hidden tests or whole matches are left out of the comparison of tests."""
    return any(
        side.tests is None or not any(t["suite"] != Suite.STATIC for t in side.tests.values())
        for side in sides
    )


# As a file


COLUMNS = ("part", "row", "match", "value", "detail", "reason", "gap", "parts")


def file_rows(sides: Sequence[Side]) -> Iterator[tuple[Any, ...]]:
    """Yield every cell of the page as a row of its own."""
    tables: tuple[tuple[str, Callable[[Sequence[Side]], list[Line]]], ...] = (
        ("ledger", ledger),
        ("metric", metrics),
        ("criterion", criteria),
    )
    for part, make in tables:
        for line in make(sides):
            for side, cell in zip(sides, line.cells, strict=True):
                value = None if cell.value is None else str(cell.value)
                gap = None if line.gap is None else str(line.gap)
                yield (
                    part, line.label, side.sight.head.slug, value, cell.text, cell.why or None,
                    gap, line.parts,
                )  # fmt: skip
    for line in tests(sides) or ():
        for side, passed in zip(sides, line.passed, strict=True):
            said = None if passed is None else "passed" if passed else "failed"
            yield ("test", line.id, side.sight.head.slug, said, line.severity, None, None, True)
