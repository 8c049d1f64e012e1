"""Findings, a row each; what the agent claimed; and what was looked for and not found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judging.scoring.policy import Policy
from judging.showing import how, words
from judging.showing.addresses import Addresses, Link
from judging.showing.inert import inert

FOUND_BY = {
    "own": "Found by a detector",
    "uploaded": "Found by the uploaded judge",
    "model": "Proposed by a model",
}


@dataclass(frozen=True, slots=True)
class FindingRow:
    anchor: str  # id of its element
    key: str
    trigger: str
    title: str
    points: int
    price: int
    severity: str
    status: str
    note: str
    reason: str
    told: str  # how it came about and what became of it
    decided_at: str | None
    links: tuple[Link, ...]

    @property
    def is_dismissed(self) -> bool:
        return self.status == "dismissed"


@dataclass(frozen=True, slots=True)
class ClaimRow:
    statement: str
    confidence: str | None
    record: str
    verdict: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class NotedRow:
    """What is worth knowing and no finding."""

    note: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class SearchRow:
    """Where a detector looked, and what kept it from looking; ``is_done`` where it could."""

    title: str
    searched: str
    missing: str
    is_done: bool
    error: str
    noted: tuple[NotedRow, ...]

    @property
    def outcome(self) -> str:
        if self.error:
            return f"✕ Failed: {self.error}"
        return "✓ Searched" if self.is_done else "– Not searched"


@dataclass(frozen=True, slots=True)
class IntegrityCard:
    findings: tuple[FindingRow, ...]
    claims: tuple[ClaimRow, ...]
    not_found: tuple[str, ...]
    sums: Mapping[str, Any]
    how_adjustment: how.Lines
    calibration: str
    absorbed: str
    hides_verdicts: bool  # whether hidden tests may say otherwise of a claim
    searches: tuple[SearchRow, ...] = ()

    @property
    def is_all_searched(self) -> bool:
        """Whether every detector could look: only then is "nothing found" the whole truth."""
        return bool(self.searches) and all(search.is_done for search in self.searches)


def integrity_card(card: Mapping[str, Any], policy: Policy, addresses: Addresses) -> IntegrityCard:
    source = card["integrity"]
    claims = source.get("claims", [])
    return IntegrityCard(
        findings=tuple(_finding(at, row, addresses) for at, row in enumerate(source["findings"])),
        claims=tuple(_claim(row, addresses) for row in claims),
        not_found=tuple(words.title(name).lower() for name in source.get("not_found", [])),
        sums=source,
        how_adjustment=how.adjustment(source),
        calibration=_calibration(len(claims), policy),
        absorbed=_absorbed(source),
        hides_verdicts=any("visible_verdict" in row for row in claims),
        searches=tuple(_search(row, addresses) for row in source.get("searched", [])),
    )


def _search(row: Mapping[str, Any], addresses: Addresses) -> SearchRow:
    return SearchRow(
        title=words.title(row["detector"]),
        searched=inert(", ".join(row["searched"])),
        missing=inert(", ".join(row["missing"])),
        is_done=row["done"],
        error=inert(row["error"]),
        noted=tuple(
            NotedRow(inert(noted["note"]), tuple(map(addresses.link, noted["evidence"])))
            for noted in row["noted"]
        ),
    )


def _finding(at: int, row: Mapping[str, Any], addresses: Addresses) -> FindingRow:
    key = row.get("key", "")
    return FindingRow(
        anchor=f"finding-{key[:8] or at + 1}",
        key=key,
        trigger=row["trigger"],
        title=words.title(row["trigger"]),
        points=row["points"],
        price=row.get("price", row["points"]),
        severity=row["severity"],
        status=row["status"],
        note=inert(row.get("note", "")),
        reason=inert(row.get("reason", "")),
        told=_told(row),
        decided_at=row.get("decided_at"),
        links=tuple(addresses.link(anchor) for anchor in row.get("evidence", [])),
    )


def _told(row: Mapping[str, Any]) -> str:
    """Say who found it, and what that means for its points."""
    if "source" not in row:
        return ""
    found = FOUND_BY[row["source"]]
    confidence = f" at {row['confidence']} confidence" if row["confidence"] else ""
    price = f"{abs(row['price'])}"
    sign = "+" if row["price"] > 0 else "−"
    match row["standing"]:
        case "proposed":
            return f"{found}{confidence}; waits for a reviewer. {sign}{price} if confirmed."
        case "dismissed":
            return f"{found}{confidence}; dismissed by a reviewer. Would have been {sign}{price}."
        case "repeated":
            return f"{found}{confidence}. It counts once a match, and another row is it."
        case "same_act":
            return f"{found}{confidence}. The same act already counts, as something graver."
    if row["decided"]:
        return f"{found}{confidence}; confirmed by a reviewer."
    return f"{found}{confidence}; applied at once, since the record proves it."


def _claim(row: Mapping[str, Any], addresses: Addresses) -> ClaimRow:
    verdict = words.CLAIM_VERDICTS.get(row["verdict"], row["verdict"])
    if "visible_verdict" in row:
        visible = words.CLAIM_VERDICTS.get(row["visible_verdict"], "")
        verdict = f"{visible}, by visible tests"
    return ClaimRow(
        statement=inert(row["statement"]),
        confidence=row["confidence"],
        record=inert(row["record"]),
        verdict=verdict,
        links=tuple(addresses.link(anchor) for anchor in row["evidence"]),
    )


def _calibration(claims: int, policy: Policy) -> str:
    needed = policy.integrity.calibration_claims
    if claims >= needed:
        return ""
    return f"Calibration needs {words.counted_out(needed)} claims that can be checked."


def _absorbed(source: Mapping[str, Any]) -> str:
    """Say what a cap or a voided bonus took, where one did."""
    said = []
    if source.get("voided") and source["bonus_raw"]:
        said.append("A penalty of quarantine severity voids the bonuses.")
    elif source.get("bonus_raw", 0) != source.get("bonus_counted", 0):
        said.append(f"Bonuses of +{source['bonus_raw']} count at most +{source['bonus_cap']}.")
    if source.get("penalty_raw", 0) != source.get("penalty_counted", 0):
        said.append(
            f"Penalties of −{-source['penalty_raw']} count at most −{-source['penalty_cap']}."
        )
    return " ".join(said)
