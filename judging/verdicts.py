"""From what a judge answers to the rows that are stored of it: when it answers, and in a replay."""

from __future__ import annotations

from collections.abc import Sequence

from bouts.models import Bundle
from bouts.rules import Judge
from judging.judges.base import Dossier, JsonDict, Opinion, Peer
from judging.judges.detectors.plagiarism import sources_among
from judging.judges.integrity import Found, Integrity, IntegrityJudge
from judging.judges.objective import ObjectiveJudge
from judging.judges.process import ProcessJudge
from judging.judges.recovery import RecoveryJudge
from judging.judges.strategy import SCORED, SeatAnswer, StrategyJudge, strategy_digest
from judging.models import Finding, Verdict
from judging.scoring.policy import CURRENT

VERSIONS = {
    judge.slug: judge.version
    for judge in (ObjectiveJudge, ProcessJudge, StrategyJudge, RecoveryJudge, IntegrityJudge)
}
"""The versions of our judges' code. One is raised when the same dossier comes to another opinion,
so that ops find the matches that were judged before it; see `judging.rejudging`."""

# What a stored verdict and a stored finding say, apart from when and for whom.
SAID = (
    "source", "state", "reason", "score", "levels", "model", "rationale", "evidence", "detail",
    "evidence_digest",
)  # fmt: skip
FOUND = ("trigger", "points", "status", "confidence", "act", "source", "note", "evidence", "reason")


def opinion_verdict(bundle: Bundle, opinion: Opinion) -> Verdict:
    return Verdict(
        bundle=bundle,
        judge=opinion.judge,
        source=opinion.source,
        state=SCORED if opinion.score is not None else "no_score",
        reason=opinion.reason.value if opinion.reason else "",
        score=opinion.score,
        rationale=opinion.rationale,
        evidence=list(opinion.evidence),
        detail={"why": opinion.why, **opinion.detail},
        judge_version=VERSIONS[opinion.judge],
    )


def seat_verdict(bundle: Bundle, seat: SeatAnswer, digest: str) -> Verdict:
    """Return an uploaded vote of the panel."""
    return Verdict(
        bundle=bundle,
        judge=Judge.STRATEGY,
        seat=seat.seat,
        source=Verdict.Source.UPLOADED,
        state=seat.state,
        reason=seat.reason,
        score=seat.score,
        levels=dict(seat.levels) if seat.levels else None,
        model=seat.model,
        rationale=seat.rationale,
        evidence=list(seat.evidence),
        evidence_digest=digest,
        answered_at=seat.answered_at,
    )


def panel_verdict(
    bundle: Bundle, dossier: Dossier, own: Sequence[SeatAnswer], uploaded: Sequence[SeatAnswer]
) -> Verdict:
    """Return the panel's own row: which votes it is made of, and on what evidence."""
    return Verdict(
        bundle=bundle,
        judge=Judge.STRATEGY,
        source=Verdict.Source.OWN,
        state="panel",
        judge_version=VERSIONS[Judge.STRATEGY],
        evidence_digest=strategy_digest(dossier, own or uploaded),
        detail={
            "calls": [seat.call for seat in own if seat.call is not None],
            "absent": [seat.said() for seat in own if seat.call is None],
            "uploaded": [seat.as_json() for seat in uploaded] if own else [],
        },
    )


def searched_verdict(
    bundle: Bundle, integrity: Integrity, peers: Sequence[Peer], asked: SeatAnswer | None
) -> Verdict:
    """Return Integrity's own row; what it found are rows of their own.

    The earlier match that a finding of plagiarism rests on is kept with it: matches that come
    in later change nothing about what was compared here.
    """
    return Verdict(
        bundle=bundle,
        judge=Judge.INTEGRITY,
        source=Verdict.Source.OWN,
        state="searched",
        judge_version=VERSIONS[Judge.INTEGRITY],
        detail={
            "claims": [asserted.as_json() for asserted in integrity.claims],
            "searched": list(integrity.searched),
            "sources": [_peer_json(peer) for peer in sources_among(peers, CURRENT)],
            "model": asked.as_json() if asked else None,
        },
    )


def _peer_json(peer: Peer) -> JsonDict:
    return {
        "match": peer.match,
        "similarity": peer.similarity,
        "shared": sorted(peer.shared),
    }


def peers_in(detail: JsonDict) -> list[Peer]:
    """Return the sources that an Integrity verdict was made with."""
    return [
        Peer(row["match"], row["similarity"], frozenset(row["shared"]), is_earlier=True)
        for row in detail.get("sources", ())
    ]


def finding_row(bundle: Bundle, found: Found, decided: Finding | None) -> Finding:
    return Finding(
        bundle=bundle,
        key=found.key,
        trigger=found.trigger,
        points=decided.points if decided else found.points,
        status=decided.status if decided else found.status.value,
        confidence=found.confidence,
        act=found.act,
        source=found.source,
        note=found.note,
        evidence=list(found.evidence),
        reason=decided.reason if decided else found.reason,
        decided_by=decided.decided_by if decided else None,
    )
