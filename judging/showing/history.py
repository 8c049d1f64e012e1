"""Who signed the card, what people decided, and the revisions before this one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from bouts.disclosure import Gate
from judging.actions import REJUDGE
from judging.scoring.exact import score_text
from judging.scoring.policy import Policy
from judging.showing import words
from judging.showing.inert import inert


@dataclass(frozen=True, slots=True)
class Revision:
    """A scorecard as the list of revisions needs it, in the order in which they were made."""

    number: int
    bundle: int
    total: Decimal | None
    status: str
    cause: str
    by: str  # who ruled
    reason: str
    created_at: datetime
    policy: str = ""
    challenge_version: int = 0
    counted: Mapping[str, Fraction | None] = field(default_factory=dict)  # by judge
    adjustment: int = 0

    @property
    def is_ruling(self) -> bool:
        return self.cause.startswith("ruling")

    @property
    def is_rejudge(self) -> bool:
        return self.cause == REJUDGE


@dataclass(frozen=True, slots=True)
class Signature:
    text: str
    label: str
    at: datetime | None
    note: str = ""
    is_blank: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in the book of adjudication: a question or its answer."""

    title: str
    text: str
    at: datetime | None
    status: str
    status_text: str
    quote: str = ""
    by: str = ""
    href: str = ""  # of the finding in question
    subject: str = ""


@dataclass(frozen=True, slots=True)
class RevisionRow:
    number: int
    address: str
    text: str
    by: str  # for staff: who caused it
    changes: tuple[str, ...]
    at: datetime
    total: str | None
    is_open: bool
    is_this: bool
    reason: str = ""  # why it was rejudged


# Signatures


def signatures(
    card: Mapping[str, Any], signed_at: Mapping[str, datetime], ruled_at: datetime | None
) -> list[Signature]:
    """Return one signature a judge, and that of the reviewer where there is a question."""
    judges = card["judges"]
    found = [
        Signature(_objective(judges["objective"]), "Objective", signed_at.get("objective")),
        Signature(_halves(judges["process"]), "Process", signed_at.get("process")),
        Signature(_panel(judges["strategy"]), "Strategy panel", signed_at.get("strategy")),
        Signature(_halves(judges["recovery"]), "Recovery", signed_at.get("recovery")),
        Signature(_integrity(card["integrity"]), "Integrity", signed_at.get("integrity")),
    ]
    cases = card.get("cases", [])
    if any(case["status"] == "open" and case["blocking"] for case in cases):
        found.append(Signature("not signed yet", "Reviewer", None, "A ruling is due", True))
    elif ruled_at is not None:
        found.append(Signature("A reviewer", "Reviewer", ruled_at))
    return [_blank(signature) if not signature.text else signature for signature in found]


def _blank(signature: Signature) -> Signature:
    return Signature("did not sign", signature.label, None, "n/a", is_blank=True)


def _objective(judge: Mapping[str, Any]) -> str:
    return "Own judge" if judge["raw"] is not None else ""


def _halves(judge: Mapping[str, Any]) -> str:
    if judge["raw"] is None:
        return ""
    has_metrics, has_model = bool(judge.get("metrics_half")), bool(judge.get("model_half"))
    if has_metrics and has_model:
        return "Metrics, model half"
    return "Metrics alone" if has_metrics else "Model half alone"


def _panel(judge: Mapping[str, Any]) -> str:
    votes, configured = judge.get("votes", 0), judge.get("configured", 0)
    if not votes:
        return ""
    seats = "seat" if votes == 1 else "seats"
    return f"{words.counted_out(votes).capitalize()} {seats} of {words.counted_out(configured)}"


def _integrity(integrity: Mapping[str, Any]) -> str:
    findings = integrity.get("findings", [])
    if not findings:
        return "Nothing found"
    return "The record, a reviewer" if any(one["decided"] for one in findings) else "The record"


# Adjudication


def entries(
    card: Mapping[str, Any], revisions: Sequence[Revision], gate: Gate, policy: Policy
) -> list[Entry]:
    """Return what is open, then the rulings up to this card, the newest first."""
    rules = policy.cases
    triggers = {one.get("key"): one["trigger"] for one in card["integrity"]["findings"]}
    found = [
        Entry(
            title=words.CASES.get(case["reason"], words.title(case["reason"])),
            text="Waiting for a reviewer, who scores blind first. "
            f"Target {rules.target_hours} hours, limit {rules.limit_hours}.",
            at=None,
            status="open",
            status_text="Open, blocking" if case["blocking"] else "Open, advisory",
            href=f"#finding-{case['finding_key'][:8]}" if case["finding_key"] else "#strategy",
            subject=words.title(triggers.get(case["finding_key"], "strategy")),
        )
        for case in _different(card.get("cases", []))
        if case["status"] == "open"
    ]
    for before, after in reversed(list(pairwise(revisions))):
        if after.is_ruling:
            found.append(_ruling(before, after, gate))
    return found


def _different(cases: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the cases, the blocking ones first."""
    return sorted(cases, key=lambda case: not case["blocking"])


def _ruling(before: Revision, after: Revision, gate: Gate) -> Entry:
    was, now = _shown(before.total), _shown(after.total)
    return Entry(
        title="A reviewer ruled",
        text=f"{was} before, {now} after.",
        at=after.created_at,
        status="decided",
        status_text="Decided",
        quote=inert(gate.text(after.reason)),
        by=after.by if gate.shows_staff_matters else "",
    )


# Revisions


def revision_rows(
    revisions: Sequence[Revision], this: int, gate: Gate, addresses: Any
) -> list[RevisionRow]:
    """Return the revisions up to this card, the newest first."""
    return [
        RevisionRow(
            number=revision.number,
            address=addresses.scorecard(revision.number),
            text=_cause(revision, revisions[at - 1] if at else None),
            by=revision.by if gate.shows_staff_matters else "",
            changes=tuple(changes(revisions[at - 1], revision)) if at else (),
            at=revision.created_at,
            total=None if revision.total is None else str(revision.total),
            is_open=revision.status in {"pending", "provisional"},
            is_this=revision.number == this,
            reason=_why_rejudged(revision, gate),
        )
        for at, revision in reversed(list(enumerate(revisions)))
    ]


def _why_rejudged(revision: Revision, gate: Gate) -> str:
    """Return the public reason of a rejudging, for those who see more than scores."""
    if not (revision.is_rejudge and gate.shows_evidence):
        return ""
    return inert(gate.text(revision.reason))


def _cause(revision: Revision, before: Revision | None) -> str:
    if before is None:
        return "First scorecard, by the judges."
    if revision.bundle != before.bundle:
        said = f"New upload, bundle {revision.bundle}"
    elif revision.is_ruling:
        said = "A reviewer ruled"
    elif revision.is_rejudge:
        said = "Rejudged"
    else:
        said = "Judged again"
    change = "total unchanged" if revision.total == before.total else f"was {_shown(before.total)}"
    return f"{said}; {change}."


def changes(before: Revision, after: Revision) -> Iterator[str]:
    """Say what one revision has otherwise than the one before, a phrase each."""
    for name, title in words.JUDGES.items():
        was, now = before.counted.get(name), after.counted.get(name)
        if was != now:
            yield f"{title} {score_text(was) or 'n/a'} → {score_text(now) or 'n/a'}"
    if before.adjustment != after.adjustment:
        yield f"Integrity {_signed(before.adjustment)} → {_signed(after.adjustment)}"
    if before.status != after.status:
        yield f"{before.status} → {after.status}"
    if before.policy != after.policy:
        yield f"policy {before.policy} → {after.policy}"
    if before.challenge_version != after.challenge_version:
        yield f"challenge version {before.challenge_version} → {after.challenge_version}"


def _signed(points: int) -> str:
    return f"{'−' if points < 0 else '+' if points else ''}{abs(points)}"


def _shown(total: Decimal | None) -> str:
    return "no total" if total is None else str(total)
