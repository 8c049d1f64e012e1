"""The tabs of a match's evidence: what there is of each kind, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bouts.formats.types import Kind
from judging.showing.addresses import Addresses

DOCUMENTS = {Kind.DELIVERABLE, Kind.PLAN}


@dataclass(frozen=True, slots=True)
class Tab:
    name: str
    page: str  # of judging.urls
    count: str
    address: str


def tabs_of(card: Mapping[str, Any], addresses: Addresses) -> list[Tab]:
    """Return the tabs that have something behind them."""
    rows = card["artifacts"]
    made = [
        _tab("Tests", "test_list", _tests(card), addresses),
        _tab("Timeline", "timeline_detail", _values(rows, Kind.TELEMETRY, "events"), addresses),
        _tab("Diff", "diff_detail", _files(rows), addresses),
        _tab("Logs", "log_list", _many(rows, {Kind.LOG}), addresses),
        _tab("Deliverables", "deliverable_list", _many(rows, DOCUMENTS), addresses),
        _tab("Sandbox", "access_list", _values(rows, Kind.SANDBOX, "accesses"), addresses),
        _tab("Scan", "scan_list", _values(rows, Kind.SCAN, "findings"), addresses),
        _tab("Files", "artifact_list", str(len(rows)), addresses),
    ]
    return [tab for tab in made if tab is not None]


def _tab(name: str, page: str, count: str | None, addresses: Addresses) -> Tab | None:
    return None if count is None else Tab(name, page, count, addresses.tab(page))


def _tests(card: Mapping[str, Any]) -> str | None:
    """Return visible and hidden tests as ``24 + 19``."""
    counts = card["judges"]["objective"].get("counts") or {}
    totals = [
        sum(tally["total"] for tally in counts.get(suite, {}).values())
        for suite in ("static", "hidden")
    ]
    if not any(totals):
        return None
    return " + ".join(str(total) for total in totals if total)


def _of(rows: Iterable[Mapping[str, Any]], kind: Kind) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["kind"] == kind]


def _values(rows: Sequence[Mapping[str, Any]], kind: Kind, count: str) -> str | None:
    """Return how many values of a kind there are, as far as its reader counted them."""
    of_kind = _of(rows, kind)
    if not of_kind:
        return None
    known = [row["counts"][count] for row in of_kind if count in row.get("counts", {})]
    return f"{sum(known):,}" if known else ""


def _files(rows: Sequence[Mapping[str, Any]]) -> str | None:
    count = _values(rows, Kind.DIFF, "files")
    if not count:
        return count
    return f"{count} file{'' if count == '1' else 's'}"


def _many(rows: Sequence[Mapping[str, Any]], kinds: set[Kind]) -> str | None:
    count = sum(row["kind"] in kinds for row in rows)
    return str(count) if count else None
