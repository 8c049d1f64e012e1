"""What spans several fields or files of an upload, and what needs knowledge from outside it.

Each check looks at documents as they were parsed, not as models: it speaks of what is there,
so that a wrong field elsewhere hides nothing and one refusal tells all. Where a field is
itself malformed the checks are silent, for the model has said so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeVar

from bouts.bundles import names
from bouts.bundles.documents import each, get
from bouts.bundles.errors import Fault, as_found, listed
from bouts.bundles.manifest import exact, zoned
from bouts.evidence import (
    BadPlace,
    DiffPlace,
    EventPlace,
    Place,
    TestPlace,
    parse_place,
)
from bouts.formats.types import Kind
from bouts.rules import CRITERIA, OPEN_TRIGGERS, POINTS, WEIGHT_RANGES, Judge, Seat, Suite

WordT = TypeVar("WordT", bound=StrEnum)

MOST_TOLD = 1_000  # faults of an upload, and of each check over it

ANSWERS = ("score", "levels", "state", "findings")

# The forms of place that only one kind of artifact has; lines and pointers fit any.
OWNERS: Mapping[type[Place], Kind] = {
    TestPlace: Kind.TESTS,
    EventPlace: Kind.TELEMETRY,
    DiffPlace: Kind.DIFF,
}


@dataclass(frozen=True, slots=True)
class Known:
    """What a bundle is held against. None means that nobody knows: then it is not asked."""

    challenges: Collection[str] | None = None
    teams: Collection[str] | None = None
    formats: Mapping[Kind, Collection[str]] | None = None


NOTHING_KNOWN = Known()


# match.json


def check_match(raw: Any, file: str) -> Iterator[Fault]:
    """Times in order, paths once, a suite for tests and for nothing else."""
    started, finished = _time(get(raw, "started_at")), _time(get(raw, "finished_at"))
    if started and finished and finished < started:
        found = as_found(raw["finished_at"])
        yield Fault(file, "finished_at", found, f"A time not before {raw['started_at']}")
    seen: set[str] = set()
    for field, entry in each(raw, "artifacts"):
        path = path_of(entry.get("path"))
        if path and path in seen:
            yield Fault(file, f"{field}.path", path, "Each path once")
        seen.add(path)
        yield from _check_test_fields(field, entry, file)


def _check_test_fields(field: str, entry: dict[str, Any], file: str) -> Iterator[Fault]:
    kind = _as_a(Kind, entry.get("kind"))
    if kind is Kind.TESTS:
        if entry.get("suite") is None:
            yield Fault(file, f"{field}.suite", "nothing", f"One of {', '.join(Suite)}")
    elif kind:
        for name in ("suite", "run", "log"):
            if entry.get(name) is not None:
                found = as_found(entry[name])
                yield Fault(file, f"{field}.{name}", found, f"Nothing: only tests have a {name}")


def check_known(raw: Any, file: str, known: Known) -> Iterator[Fault]:
    """The challenge, the team and the formats are known here."""
    for field, words, value, known_here in (
        ("challenge", "A known challenge", get(raw, "challenge"), known.challenges),
        ("agent.team", "A known team", get(raw, "agent", "team"), known.teams),
    ):
        if known_here is not None and isinstance(value, str) and value not in known_here:
            yield Fault(file, field, value, f"{words}: {listed(known_here)}")
    if known.formats is not None:
        yield from _check_formats(raw, file, known.formats)


def _check_formats(raw: Any, file: str, formats: Mapping[Kind, Collection[str]]) -> Iterator[Fault]:
    for field, entry in each(raw, "artifacts"):
        kind, value = _as_a(Kind, entry.get("kind")), entry.get("format")
        known_here = formats.get(kind, ()) if kind else ()
        if kind and isinstance(value, str) and value not in known_here:
            words = f"A format of {kind}: {listed(known_here)}"
            yield Fault(file, f"{field}.format", value, words)


def check_members(
    raw: Any, file: str, members: Collection[str], means_missing: Callable[[str], bool]
) -> Iterator[Fault]:
    """Every path that the manifest names is a file of the bundle.

    ``means_missing`` tells apart what was left out, which has a fault of its own already.
    """
    words = f"A file of the bundle: {listed(members, most=8)}"
    for field, path in _named_paths(raw):
        if path and path not in members and means_missing(path):
            yield Fault(file, field, path, words)


def _named_paths(raw: Any) -> Iterator[tuple[str, str]]:
    yield "build.log", path_of(get(raw, "build", "log"))
    for field, entry in each(raw, "artifacts"):
        yield f"{field}.path", path_of(entry.get("path"))
        yield f"{field}.log", path_of(entry.get("log"))


def artifacts_of(raw: Any) -> dict[str, dict[str, Any]]:
    """Return what the manifest says of each path that evidence may name."""
    entries = {path: {"kind": Kind.LOG} for _, path in _named_paths(raw) if path}
    entries |= {path_of(entry.get("path")): entry for _, entry in each(raw, "artifacts")}
    entries.pop("", None)
    return entries


# challenge.json


def check_challenge(raw: Any, file: str) -> Iterator[Fault]:
    """Weights that sum to 100, judges and tests once, a budget where ratios need one."""
    yield from _check_weights(get(raw, "weights"), file)
    yield from _check_judges(get(raw, "judges"), file)
    if get(raw, "ratio_base") == "budget" and get(raw, "time_budget_s") is None:
        words = "A number of seconds, since ratio_base is budget"
        yield Fault(file, "time_budget_s", "nothing", words)
    seen: set[tuple[Any, Any]] = set()
    for field, test in each(raw, "tests"):
        key = (as_found(test.get("suite")), test.get("id"))
        if isinstance(key[1], str):
            if key in seen:
                yield Fault(file, f"{field}.id", key[1], "Each test once in its suite")
            seen.add(key)


def _check_judges(raw: Any, file: str) -> Iterator[Fault]:
    if not isinstance(raw, list) or not raw:
        return
    seen: set[Judge] = set()
    for at, value in enumerate(raw):
        judge = _as_a(Judge, value)
        if judge in seen:
            yield Fault(file, f"judges[{at}]", as_found(value), "Each judge once")
        if judge:
            seen.add(judge)
    if Judge.OBJECTIVE not in seen:
        words = "Objective among them: without it there is no total"
        yield Fault(file, "judges", ", ".join(sorted(seen)) or "none", words)


def _check_weights(raw: Any, file: str) -> Iterator[Fault]:
    try:
        weights: list[Decimal] = [exact(get(raw, judge)) for judge in WEIGHT_RANGES]
    except ValueError:
        return
    if (total := sum(weights)) != 100:
        yield Fault(file, "weights", f"a sum of {total}", "Four weights that sum to exactly 100")


# Verdicts


def check_verdicts(raw: Any, file: str, seen: dict[tuple[str, str | None], str]) -> Iterator[Fault]:
    """One answer each, of the judge's own form, and one verdict a judge and seat.

    ``seen`` says where each judge and seat has spoken so far, over all files of the bundle.
    """
    for field, verdict in each(raw, "verdicts"):
        yield from _check_seat(field, verdict, file, seen)
        yield from _check_answer(field, verdict, file)
        if verdict.get("state") is not None and not verdict.get("reason"):
            yield Fault(file, f"{field}.reason", "nothing", "The reason for the state")
        if verdict.get("state") is None and verdict.get("reason") is not None:
            found = as_found(verdict["reason"])
            yield Fault(file, f"{field}.reason", found, "Nothing: a reason goes with a state")
        yield from _check_levels(field, verdict, file)
        for inner, finding in each(verdict, "findings"):
            yield from _check_points(f"{field}.{inner}", finding, file)


def _check_seat(
    field: str,
    verdict: dict[str, Any],
    file: str,
    seen: dict[tuple[str, str | None], str],
) -> Iterator[Fault]:
    judge, seat = _as_a(Judge, verdict.get("judge")), verdict.get("seat")
    has_seats = judge is Judge.STRATEGY
    if judge is None:
        return
    if has_seats and seat is None:
        yield Fault(file, f"{field}.seat", "nothing", f"One of {', '.join(Seat)}")
        return
    if seat is not None and not has_seats:
        yield Fault(file, f"{field}.seat", as_found(seat), "Nothing: only Strategy has seats")
    who = (judge, as_found(seat) if has_seats else None)
    if who in seen:
        found = " ".join(part for part in who if part)
        where = f"{field}.{'seat' if has_seats else 'judge'}"
        yield Fault(file, where, f"{found} again", f"One verdict each; the first is {seen[who]}")
    else:
        seen[who] = f"{file}, {field}"


def _check_answer(field: str, verdict: dict[str, Any], file: str) -> Iterator[Fault]:
    given = [name for name in ANSWERS if verdict.get(name) is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        yield Fault(file, field, found, f"Exactly one of {', '.join(ANSWERS)}")
    judge = _as_a(Judge, verdict.get("judge"))
    if judge is Judge.INTEGRITY:
        wrong, words = {"score", "levels"}, "Findings: Integrity gives no score and no levels"
    else:
        wrong, words = {"findings"}, "A score or levels: only Integrity has findings"
    for name in given:
        if judge and name in wrong:
            yield Fault(file, f"{field}.{name}", as_found(verdict[name]), words)


def _check_levels(field: str, verdict: dict[str, Any], file: str) -> Iterator[Fault]:
    judge, levels = _as_a(Judge, verdict.get("judge")), verdict.get("levels")
    criteria = CRITERIA.get(judge) if judge else None
    if criteria is None or not isinstance(levels, dict):
        return
    for name in criteria:
        if name not in levels:
            yield Fault(file, f"{field}.levels.{name}", "nothing", "A whole number from 1 to 5")
    for name in levels:
        if name not in criteria:
            words = f"No such criterion; {judge} has {', '.join(criteria)}"
            yield Fault(file, f"{field}.levels.{name}", as_found(levels[name]), words)


def _check_points(field: str, finding: dict[str, Any], file: str) -> Iterator[Fault]:
    trigger, points = finding.get("trigger"), finding.get("points")
    if points is None or not isinstance(trigger, str) or trigger not in POINTS:
        return
    lowest, highest = POINTS[trigger]
    if trigger not in OPEN_TRIGGERS:
        words = f"Nothing: the rule gives {trigger} {lowest:+d}"
        yield Fault(file, f"{field}.points", as_found(points), words)
    elif isinstance(points, int) and not lowest <= points <= highest:
        words = f"A whole number from {lowest} to {highest}"
        yield Fault(file, f"{field}.points", as_found(points), words)


def check_evidence(raw: Any, file: str, artifacts: Mapping[str, dict[str, Any]]) -> Iterator[Fault]:
    """Every anchor of a verdicts file names an artifact, and a place that its kind can have.

    Whether the place is there shows only when the artifact is read.
    """
    unknown = f"An artifact of the bundle: {listed(artifacts, most=8)}"
    for field, evidence in _evidence(raw):
        path, place = path_of(evidence.get("artifact")), evidence.get("place")
        if not path:
            continue
        if path not in artifacts:
            yield Fault(file, f"{field}.artifact", path, unknown)
        elif isinstance(place, str) and (words := _misplaced(place, artifacts[path])):
            yield Fault(file, f"{field}.place", place, words)


def _evidence(raw: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for field, verdict in each(raw, "verdicts"):
        for inner, evidence in each(verdict, "evidence"):
            yield f"{field}.{inner}", evidence
        for inner, finding in each(verdict, "findings"):
            for innermost, evidence in each(finding, "evidence"):
                yield f"{field}.{inner}.{innermost}", evidence


def _misplaced(text: str, artifact: dict[str, Any]) -> str:
    """Say what a place would have to be, where the artifact can have no such place."""
    try:
        place = parse_place(text)
    except BadPlace:
        return ""
    kind, suite = _as_a(Kind, artifact.get("kind")), _as_a(Suite, artifact.get("suite"))
    owner = OWNERS.get(type(place))
    if kind and owner and kind is not owner:
        return f"A place that a {kind} artifact has; this form is for {owner}"
    if isinstance(place, TestPlace) and suite and suite is not place.suite:
        return f"A test of this artifact's suite: test:{suite}/ID"
    return ""


def check_nested(
    archives: Mapping[str, str], declared: Collection[str], words: str
) -> Iterator[Fault]:
    """No archive inside the upload, given as path → format, but those declared."""
    for path, form in archives.items():
        if path not in declared:
            yield Fault(path, "content", f"a {form} file", words)


# Loose values


def _as_a(vocabulary: type[WordT], value: Any) -> WordT | None:
    """Return a value as a word of a vocabulary, or None where it is none of them."""
    return vocabulary(value) if isinstance(value, str) and value in set(vocabulary) else None


def _time(value: Any) -> Any:
    try:
        return zoned(value)
    except ValueError:
        return None


def path_of(value: Any) -> str:
    """Spell a path as members are keyed; empty where it is none."""
    return names.normal(value) if isinstance(value, str) and "\0" not in value else ""


def in_order(faults: Iterable[Fault]) -> list[Fault]:
    """Group faults by file and sort them by field, each field told of once.

    Of two words on one field the first stands; files come in the order in which they were
    read. Of more than `MOST_TOLD` the rest is a number.
    """
    first: dict[tuple[str, str], Fault] = {}
    files: dict[str, int] = {}
    for fault in faults:
        first.setdefault((fault.file, fault.field), fault)
        files.setdefault(fault.file, len(files))
    told = sorted(first.values(), key=lambda fault: (files[fault.file], _steps(fault.field)))
    if (rest := len(told) - MOST_TOLD) > 0:
        told[MOST_TOLD:] = [Fault("all files", "faults", f"{rest:,} or more besides", "None")]
    return told


def _steps(field: str) -> list[tuple[int, str]]:
    """Split ``artifacts[10].path`` so that it sorts after ``artifacts[9].path``."""
    return [
        (int(step), "") if step.isdecimal() and step.isascii() else (-1, step)
        for step in re.split(r"[.\[\]]+", field)
    ]
