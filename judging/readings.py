"""What a stored call says: read the same way when it has come and in every replay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from bouts import blobs
from bouts.models import Blob
from bouts.rules import Judge
from judging.judges.base import Dossier, JsonDict, anchor
from judging.judges.strategy import SCORED, SeatAnswer
from judging.judges.telemetry import analysed
from judging.models import ModelCall, Verdict
from judging.panel.answers import Attempt, Outcome, Settled, settle
from judging.panel.forms import Answer, Form
from judging.panel.scan import remarks
from judging.panel.wires import Wire
from judging.scoring.halves import rubric_score
from judging.scoring.policy import CURRENT, Policy

ANSWERED = "answered"  # the state of an answer that is no score: Integrity's


def settled_of(call: ModelCall) -> Settled:
    """Read a call's stored bytes. Raises `Tampered` where they are not what was stored."""
    form = Form.from_json(document_in(call.prompt)["form"])
    attempts = tuple(
        Attempt(
            number=attempt.number,
            status=attempt.status,
            response=blobs.whole(attempt.response),
            is_whole=attempt.is_whole,
            latency_ms=attempt.latency_ms,
            failure=attempt.failure,
            detail=attempt.detail,
            remark=attempt.remark,
            waited_ms=attempt.waited_ms,
            request_digest=attempt.request_digest,
        )
        for attempt in call.result.attempts.select_related("response")
    )
    return settle(attempts, Wire(call.wire), form)


def anchors_of(call: ModelCall) -> dict[str, JsonDict]:
    """Return where each piece of evidence in a call's prompt stands, by its id."""
    return {
        item["id"]: anchor(item["artifact"], item["place"])
        for section in document_in(call.evidence)["sections"]
        for item in section["items"]
    }


def document_in(blob: Blob) -> Any:
    """Return the JSON that is stored of a call. Raises `Tampered`."""
    return orjson.loads(blobs.whole(blob))


def verdict_of(call: ModelCall, dossier: Dossier, policy: Policy = CURRENT) -> Verdict:
    """Return the verdict that a call's stored bytes come to, not saved."""
    judge, settled = Judge(call.judge), settled_of(call)
    verdict = Verdict(
        bundle_id=call.bundle_id,
        judge=judge.value,
        seat=call.seat,
        source=Verdict.Source.OWN,
        state=settled.outcome.value,
        reason=settled.reason,
        model=settled.model or call.model,
        evidence_digest=call.evidence_id,
        call=call,
    )
    if settled.outcome is Outcome.ANSWERED and settled.answer is not None:
        _fill(verdict, settled.answer, anchors_of(call).__getitem__, policy)
        found = remarks(settled.answer, dossier, analysed(dossier, policy))
        verdict.detail["remarks"] = [remark.as_json() for remark in found]
    return verdict


def _fill(
    verdict: Verdict, answer: Answer, place: Callable[[str], JsonDict], policy: Policy
) -> None:
    judge = Judge(verdict.judge)
    verdict.rationale = answer.rationale
    if judge is Judge.INTEGRITY:
        verdict.state = ANSWERED
        cited = [item for proposal in answer.proposals for item in proposal.evidence]
        verdict.detail["proposals"] = [
            {
                "trigger": proposal.trigger,
                "confidence": proposal.confidence.value,
                "note": proposal.note,
                "evidence": [place(item) for item in proposal.evidence],
            }
            for proposal in answer.proposals
        ]
    else:
        verdict.state = SCORED
        verdict.levels = answer.levels
        verdict.score = rubric_score(judge, answer.levels, policy)
        cited = [item for grade in answer.grades for item in grade.evidence]
        verdict.detail["criteria"] = {
            grade.criterion: {
                "rationale": grade.rationale,
                "evidence": [place(item) for item in grade.evidence],
            }
            for grade in answer.grades
        }
    verdict.evidence = [place(item) for item in dict.fromkeys(cited)]


def answer_of(verdict: Verdict) -> SeatAnswer:
    """Return what a seat said, as the judges take it."""
    return SeatAnswer(
        seat=verdict.seat,
        state=verdict.state,
        score=verdict.score,
        levels=verdict.levels,
        rationale=verdict.rationale,
        reason=verdict.reason,
        model=verdict.model,
        evidence=tuple(verdict.evidence),
        answered_at=verdict.answered_at,
        source=verdict.source,
        criteria=verdict.detail.get("criteria", {}),
        proposals=tuple(verdict.detail.get("proposals", ())),
        remarks=tuple(verdict.detail.get("remarks", ())),
        call=verdict.call_id,
    )
