"""Trace what was put to a model back to the stored files: evidence, prompt and request again.

Each is made of the one before: the evidence of the files, the prompt of the evidence with the
template, the rubric and the boundary that the call names, the request of the prompt. Where one
differs the next ones would too, so only the first that does is told.

A template or rubric newer than the call's is no difference, for the call is made again with its
own. Nor are other bytes of a request that another version of a vendor's library writes: both
are noted. A template that was changed and kept its version, or is gone, is a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from bouts.rules import Judge
from bouts.rules import Seat as SeatName
from judging.differing import plain, unequal
from judging.models import ModelCall
from judging.panel import prompts
from judging.panel.exchange import written_by
from judging.panel.items import EvidenceBundle
from judging.panel.prompts import Prompt
from judging.panel.seats import BASE_URLS, Seat
from judging.panel.wires import Wire
from judging.readings import document_in
from judging.rubrics import sheet

Unequal = tuple[str, Any, Any]  # field, stored, made again


@dataclass(slots=True)
class Retraced:
    """What of a call comes out otherwise, and what differs as it may."""

    differences: list[Unequal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def retraced(call: ModelCall, evidence_of: Callable[[Judge], EvidenceBundle]) -> Retraced:
    """Make a call's evidence, prompt and request again, and hold them against what is stored.

    ``evidence_of`` builds the evidence of a judge of the bundle's files. Raises `Tampered`.
    Needs no network, and imports the vendors' libraries.
    """
    evidence = evidence_of(Judge(call.judge))
    if differences := _of_evidence(call, evidence):
        return Retraced(differences)
    try:
        prompt = _prompt(call, evidence)
    except FileNotFoundError as gone:
        kept = f"template {call.template_version}, rubric {call.rubric_version}"
        return Retraced([("prompt", kept, f"{Path(gone.filename).name} is no longer kept")])
    if differences := list(_of_prompt(call, prompt)):
        return Retraced(differences)
    traced = Retraced()
    if call.template_version != prompts.VERSION:
        traced.notes.append(
            f"asked with template {call.template_version}; new calls use {prompts.VERSION}"
        )
    if call.result_or_none is not None and call.result.parameters:  # something was sent
        _hold_against_requests(call, prompt, traced)
    return traced


def _of_evidence(call: ModelCall, evidence: EvidenceBundle) -> list[Unequal]:
    stored = document_in(call.evidence)
    found = unequal(stored, plain(evidence.as_json()), "evidence")
    if not found and call.evidence_id != evidence.digest:
        found = [("evidence", call.evidence_id, evidence.digest)]
    return found


def _prompt(call: ModelCall, evidence: EvidenceBundle) -> Prompt:
    """Render the prompt once more, with all that the call names."""
    return prompts.render(
        Judge(call.judge),
        sheet(call.judge, call.rubric_version),
        evidence,
        document_in(call.prompt)["boundary"],
        call.template_version,
    )


def _of_prompt(call: ModelCall, prompt: Prompt) -> Iterator[Unequal]:
    digests = {"template": prompt.template_digest, "rubric": prompt.rubric_digest}
    for name, again in digests.items():
        stored, version = getattr(call, f"{name}_digest"), getattr(call, f"{name}_version")
        if stored != again:
            yield f"{name} {version}", stored, again
    yield from unequal(document_in(call.prompt), plain(prompt.as_json()), "prompt")


def _hold_against_requests(call: ModelCall, prompt: Prompt, traced: Retraced) -> None:
    """Write each request again, and compare its digest and what it said beside the prompt."""
    # The vendors' libraries take seconds and much memory to import: only who needs them pays.
    from judging.panel.http import write

    seat = _seat(call)
    sent = [attempt for attempt in call.result.attempts.all() if attempt.request_digest]
    written = [write(seat, prompt, attempt.remark) for attempt in sent]
    # What it said beside the prompt is stored once: every request of a call says the same.
    found = unequal(call.result.parameters, written[0].parameters, "parameters") or [
        (f"request {attempt.number}", attempt.request_digest, again.request_digest)
        for attempt, again in zip(sent, written, strict=True)
        if attempt.request_digest != again.request_digest
    ]
    today = written_by(seat.wire)
    if not found or call.result.written_by == today:
        traced.differences += found
        return
    fields = ", ".join(dict.fromkeys(name for name, _, _ in found))
    before = call.result.written_by or "a library whose version was not stored"
    traced.notes.append(f"{today} writes the same prompt otherwise than {before} did: {fields}")


def _seat(call: ModelCall) -> Seat:
    """Return the seat as it was when it was asked, but for its key, which is in no body."""
    wire = Wire(call.wire)
    most_tokens, temperature = _limits(wire, call.result.parameters)
    return Seat(
        name=SeatName(wire.value),
        vendor=call.vendor,
        wire=wire,
        model=call.model,
        key="none",
        base_url=call.result.base_url or BASE_URLS[wire],
        temperature=None if temperature is None else Decimal(str(temperature)),
        most_tokens=most_tokens,
    )


def _limits(wire: Wire, parameters: dict[str, Any]) -> tuple[int, float | None]:
    """Return how long an answer could be and the temperature, as a vendor's format has them."""
    if wire is Wire.GOOGLE:
        config = parameters["generationConfig"]
        return config["maxOutputTokens"], config.get("temperature")
    most = parameters.get("max_completion_tokens", parameters.get("max_tokens"))
    return most, parameters.get("temperature")
