"""The rulings that a case allows, and what each would make of the match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from adjudication.actions import Decision
from adjudication.actions.rulings import FEWEST_TO_AVERAGE, answer_to, finding_of, score_by
from adjudication.forms import ADOPT, ASK_AGAIN, decision_of
from adjudication.models import AskAgain, BlindScore, Case, Ruling
from adjudication.panels import Panel
from adjudication.refusals import BadDecision
from bouts.rules import OPEN_TRIGGERS, POINTS
from judging import actions as judging
from judging.actions import Preview
from judging.scoring.exact import score_text
from judging.seats import seating

Kind = Ruling.Kind
WAITING = (Kind.ESCALATE, ASK_AGAIN)  # nothing follows from these at once


@dataclass(frozen=True, slots=True)
class Choice:
    """A ruling that is open. `preview` is None where nothing follows at once."""

    value: str  # of the form
    label: str
    note: str
    preview: Preview | None = None


def rulings_on(
    case: Case,
    panel: Panel | None,
    seats: Sequence[tuple[str, str]],
    blind: BlindScore | None,
    *,
    is_correction: bool = False,
) -> list[Choice]:
    """Return the rulings that a case allows now.

    `seats` are the panel's seats in this reviewer's order, each with its letter. A
    correction decides: it cannot escalate.
    """
    choices = _on_finding(case) if panel is None else _on_strategy(panel, seats, blind)
    if case.slots == 1 and not is_correction and blind is not None:
        own = f"Your {score_text(blind.score)}" if blind.score is not None else "Your opinion"
        note = f"{own} counts as the first ruling; a second reviewer rules without knowing it"
        choices.append(Choice(Kind.ESCALATE, Kind.ESCALATE.label, note))
    if panel is not None and not is_correction and blind is not None and may_ask_again(case):
        note = "Once a case, on the same evidence; both panels stay visible"
        choices.append(Choice(ASK_AGAIN, "Ask the panel again", note))
    return choices


def may_ask_again(case: Case) -> bool:
    """Whether there are seats to ask, nobody asked them again yet, and nobody has ruled."""
    return (
        bool(seating().panel.seats)
        and not AskAgain.objects.filter(case=case).exists()
        and not case.rulings.in_force().exists()
    )


def _on_strategy(
    panel: Panel, seats: Sequence[tuple[str, str]], blind: BlindScore | None
) -> list[Choice]:
    outcome = panel.outcome
    choices = []
    if outcome.score is not None:
        choices.append(Choice(Kind.UPHOLD, Kind.UPHOLD.label, str(score_text(outcome.score))))
    if outcome.mean is not None and outcome.votes >= FEWEST_TO_AVERAGE:
        choices.append(Choice(Kind.AVERAGE, Kind.AVERAGE.label, str(score_text(outcome.mean))))
    for name, letter in seats:
        seat = panel.seat(name)
        if seat is not None and seat.score is not None:
            choices.append(
                Choice(f"{ADOPT}{name}", f"Adopt seat {letter}", str(score_text(seat.score)))
            )
    note = "The score that you type below"
    if blind is not None:
        note = f"Yours, {score_text(blind.score)}, unless you type another below"
    return [*choices, Choice(Kind.SET, Kind.SET.label, note)]


def _on_finding(case: Case) -> list[Choice]:
    finding = finding_of(case)
    choices = [
        Choice(Kind.CONFIRM, Kind.CONFIRM.label, f"{signed(finding.points)} points apply"),
        Choice(Kind.DISMISS, Kind.DISMISS.label, "It stays as a row of 0 points"),
    ]
    if finding.trigger in OPEN_TRIGGERS:
        allowed = POINTS[finding.trigger]
        reach = f"{signed(allowed.highest)} to {signed(allowed.lowest)}, as you type below"
        choices.append(Choice(Kind.AMEND, Kind.AMEND.label, reach))
    return choices


def preview_of(
    case: Case, panel: Panel | None, decision: Decision, blind: BlindScore | None
) -> Preview | None:
    """Say what a decision would make of the match if it stood alone; None if it says too little."""
    try:
        if panel is None:
            answer = answer_to(finding_of(case), decision, blind)
            return judging.preview(case.bundle, findings={case.finding_key: answer})
        score: Fraction | None = score_by(panel, decision, blind)
    except BadDecision:
        return None
    if decision.kind == Kind.UPHOLD:
        score = None
    return judging.preview(case.bundle, strategy=score, is_ruled=True)


def with_previews(
    case: Case, panel: Panel | None, choices: Sequence[Choice], blind: BlindScore | None
) -> list[Choice]:
    """Add to each choice what it would make of the match, as the form stands when empty."""
    return [
        replace(
            choice,
            preview=preview_of(case, panel, decision_of(choice.value, public_reason=""), blind),
        )
        if choice.value not in WAITING
        else choice
        for choice in choices
    ]


def signed(points: int) -> str:
    """Write points with a real minus, or a plus."""
    return f"+{points}" if points > 0 else str(points).replace("-", "\N{MINUS SIGN}")
