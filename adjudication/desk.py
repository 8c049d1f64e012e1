"""What lies on a reviewer's desk: as much of a case as they may see at this point.

Everything that a page or the API shows of one case comes from here, so that there is one
place where the blind half ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from adjudication.blindness import Scrubber, blindfold, scrubber_of, shuffled
from adjudication.evidence import Evidence, Spot
from adjudication.models import AskAgain, BlindScore, Case, Claim, Draft, Ruling
from adjudication.panels import Panel, panel_from, panel_of, policy_of
from adjudication.scale import LevelRow, Scale, level_row, scale_of
from adjudication.words import FINDING_RULES, question
from bouts.models import Challenge, User
from bouts.rules import Judge
from judging.models import Finding, Verdict
from judging.rubrics import Rubric, rubric
from judging.scoring.exact import exact, score_text
from judging.scoring.policy import Policy

LETTERS = "ABC"


class Phase(StrEnum):
    """How far a person has come with a case."""

    LOOK = "look"  # holds nothing: sees the blind half, may claim
    SCORE = "score"  # holds a slot, has committed nothing yet
    RULE = "rule"  # holds a slot and has committed
    WAIT = "wait"  # has ruled; others are still to
    READ = "read"  # it is settled, or this person only reads


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat of the panel under a letter of this reviewer's own order."""

    letter: str
    verdict: Verdict
    rationale: str  # scrubbed
    spots: tuple[Spot, ...]

    @property
    def is_scored(self) -> bool:
        return self.verdict.score is not None


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A piece of a finding's evidence."""

    label: str
    excerpt: str


class Desk:
    """One case before one person, at one moment."""

    def __init__(self, case: Case, user: User, at: datetime) -> None:
        self.case = case
        self.user = user
        self.at = at

    # Where the person stands

    @cached_property
    def claim(self) -> Claim | None:
        return self.case.claim_of(self.user, self.at) if self.user.is_reviewer else None

    @cached_property
    def blind(self) -> BlindScore | None:
        return self.case.blind_score_of(self.user)

    @cached_property
    def rulings(self) -> Sequence[Ruling]:
        """The rulings that this person may read, in the order in which they were made."""
        seen = self.case.rulings.visible_to(self.user)
        return list(seen.select_related("reviewer", "before", "after", "supersedes"))

    @property
    def own_ruling(self) -> Ruling | None:
        return next(
            (r for r in self.rulings_in_force if r.reviewer_id == self.user.pk),
            None,
        )

    @property
    def rulings_in_force(self) -> list[Ruling]:
        replaced = {ruling.supersedes_id for ruling in self.rulings}
        return [ruling for ruling in self.rulings if ruling.pk not in replaced]

    @property
    def outcome(self) -> Ruling | None:
        """The ruling that the match's score follows from, once there is one."""
        return next((ruling for ruling in reversed(self.rulings) if ruling.after_id), None)

    @property
    def phase(self) -> Phase:
        if self.case.is_settled or not self.user.is_reviewer:
            return Phase.READ
        if self.own_ruling is not None:
            return Phase.WAIT
        if self.claim is None:
            return Phase.LOOK
        return Phase.SCORE if self.blind is None else Phase.RULE

    @property
    def state(self) -> Case.State:
        return self.case.state_at(self.at)

    @property
    def is_frozen(self) -> bool:
        return self.case.challenge.state == Challenge.State.FROZEN

    @cached_property
    def has_declined(self) -> bool:
        declined = self.case.claims.filter(reviewer=self.user, ended_how=Claim.End.DECLINED)
        return declined.exists()

    @property
    def may_claim(self) -> bool:
        if self.phase is not Phase.LOOK or self.is_frozen or self.has_declined:
            return False
        is_full = self.case.full_until is not None and self.case.full_until > self.at
        return self.case.state in Case.WANTING and not is_full

    @property
    def holders(self) -> list[Claim]:
        """Who holds a slot now; needs `CaseQuerySet.for_list`."""
        return [claim for claim in self.case.open_claims if claim.is_live(self.at)]

    @property
    def draft(self) -> dict[str, Any]:
        """What this person has typed so far: names and values of the form."""
        draft = Draft.objects.filter(case=self.case, reviewer=self.user).first()
        return draft.fields if draft else {}

    # How much is revealed

    @cached_property
    def is_match_dark(self) -> bool:
        """Whether something of this match is still to be judged blind by this person."""
        return bool(blindfold(self.user, [self.case.match_id])) and self.user.is_reviewer

    @property
    def is_revealed(self) -> bool:
        """Whether this case's own matter is open: seats with scores, a finding's status."""
        if self.user.is_operator or self.blind is not None:
            return True
        return self.case.is_settled and not self.is_match_dark

    @property
    def is_match_revealed(self) -> bool:
        """Whether agent, totals and ranks are open too.

        They stay hidden while another question about the match waits for this person's
        unprimed eye.
        """
        return self.is_revealed and not self.is_match_dark

    @cached_property
    def open_sisters(self) -> list[Case]:
        """The other questions about this match that wait for this person's unprimed eye."""
        if not self.is_match_dark:
            return []
        others = Case.objects.visible_to(self.user).unsettled().filter(match=self.case.match_id)
        return [
            other
            for other in others.exclude(pk=self.case.pk)
            if other.blind_score_of(self.user) is None
        ]

    # The question and its evidence

    @cached_property
    def policy(self) -> Policy:
        return policy_of(self.case.scorecard)

    @cached_property
    def scrub(self) -> Scrubber:
        if self.is_match_revealed:
            return Scrubber()
        return scrubber_of(self.case.bundle, quotes_hidden_tests=self.case.is_on_finding)

    @cached_property
    def finding(self) -> Finding | None:
        """The finding as it stands, where the case is about one."""
        if not self.case.is_on_finding:
            return None
        return Finding.objects.get(
            bundle=self.case.bundle_id, key=self.case.finding_key, is_live=True
        )

    @property
    def question(self) -> str:
        return question(self.case, self.finding.trigger if self.finding else "")

    @property
    def rule(self) -> str:
        """The rule that a finding is measured by."""
        return FINDING_RULES[self.finding.trigger] if self.finding else ""

    @property
    def note(self) -> str:
        """What whoever found it says, scrubbed."""
        return self.scrub(self.finding.note) if self.finding else ""

    @property
    def briefing(self) -> str:
        return self.case.bundle.challenge_version.spec.briefing

    @property
    def exhibits(self) -> list[Exhibit]:
        return [
            Exhibit(
                self.scrub(f"{anchor['artifact']} {anchor['place']}"),
                self.scrub(anchor.get("excerpt") or ""),
            )
            for anchor in (self.finding.evidence if self.finding else [])
        ]

    @cached_property
    def evidence(self) -> Evidence:
        return Evidence(self.case.bundle, self.policy, self.scrub)

    @cached_property
    def rubric(self) -> Rubric:
        return rubric(Judge.STRATEGY.value, self.policy.version)

    # The panel

    @cached_property
    def panel(self) -> Panel | None:
        return None if self.case.is_on_finding else panel_of(self.case.bundle, self.policy)

    @cached_property
    def seats(self) -> list[Seat]:
        """The seats in this reviewer's order; those that gave no answer come last."""
        if self.panel is None:
            return []
        order = shuffled(self.panel.seats, self.case, self.user)
        order.sort(key=lambda verdict: verdict.score is None)
        return [
            Seat(
                letter,
                verdict,
                self.scrub(verdict.rationale),
                tuple(self.evidence.spot(anchor) for anchor in verdict.evidence),
            )
            for letter, verdict in zip(LETTERS, order, strict=False)
        ]

    @cached_property
    def ask_again(self) -> AskAgain | None:
        """That the panel was asked again on this case, if it was."""
        return AskAgain.objects.filter(case=self.case).select_related("reviewer").first()

    @cached_property
    def first_panel(self) -> Panel | None:
        """What the panel said before it was asked again; None where it never was."""
        if self.ask_again is None or self.panel is None:
            return None
        return panel_from(
            Verdict.objects.filter(
                pk__in=self.ask_again.verdicts, seat__in=self.policy.panel.seats
            ),
            self.policy,
        )

    @property
    def both_panels(self) -> list[tuple[str, Verdict | None, Verdict | None]]:
        """Each seat's letter with what it said first and what it says now, None for nothing."""
        if self.first_panel is None or self.panel is None:
            return []
        letters = dict(self.letters)
        names = [*letters, *(v.seat for v in self.first_panel.seats if v.seat not in letters)]
        return [
            (letters.get(name, "–"), self.first_panel.seat(name), self.panel.seat(name))
            for name in names
        ]

    @property
    def has_answered_again(self) -> bool:
        return self.ask_again is not None and self.case.state != Case.State.AWAITING_PANEL

    @property
    def first_scale(self) -> Scale:
        letters = dict(self.letters)
        votes = [
            (letters.get(verdict.seat, "–"), verdict.score)
            for verdict in (self.first_panel.seats if self.first_panel else ())
            if verdict.score is not None
        ]
        return scale_of(votes, self.blind.score if self.blind else None, self.policy.panel.within)

    @property
    def letters(self) -> list[tuple[str, str]]:
        """Vendor and letter of each seat."""
        return [(seat.verdict.seat, seat.letter) for seat in self.seats]

    @property
    def scale(self) -> Scale:
        votes = [
            (seat.letter, seat.verdict.score)
            for seat in self.seats
            if seat.verdict.score is not None
        ]
        own = self.blind.score if self.blind else None
        return scale_of(votes, own, self.policy.panel.within)

    @property
    def level_rows(self) -> list[LevelRow]:
        """The levels of each criterion, one's own and those of the seats that gave any."""
        if self.panel is None:
            return []
        given = [(seat.letter, seat.verdict.levels) for seat in self.seats if seat.verdict.levels]
        own = self.blind.levels if self.blind else None
        if not given and own is None:
            return []
        return [
            level_row(
                criterion.title,
                [(letter, levels.get(criterion.name)) for letter, levels in given],
                own and own.get(criterion.name),
                len(criterion.levels),
            )
            for criterion in self.rubric.criteria
        ]

    def as_json(self) -> dict[str, Any]:
        """What the API says of the case: the blind half, and the rest once it is revealed."""
        case = self.case
        shown: dict[str, Any] = {
            "question": self.question,
            "briefing": self.briefing,
            "phase": self.phase.value,
            "is_revealed": self.is_revealed,
            "seats": [self._seat_json(seat) for seat in self.seats],
            "draft": self.draft,
        }
        if self.finding is not None:
            shown["finding"] = {
                "trigger": self.finding.trigger,
                "rule": self.rule,
                "note": self.note,
                "evidence": [
                    {"at": exhibit.label, "excerpt": exhibit.excerpt} for exhibit in self.exhibits
                ],
            }
        if self.blind is not None:
            shown["own"] = {
                "score": _text(self.blind.score),
                "levels": self.blind.levels,
                "opinion": self.blind.opinion or None,
                "reason": self.blind.reason,
            }
        if self.is_match_revealed:
            shown["match"] = case.match.slug
            shown["agent"] = str(case.match.agent)
            shown["team"] = case.team.slug
            shown["total"] = _text(case.scorecard.total)
            shown["status"] = case.scorecard.status
        if self.is_revealed and self.first_panel is not None and self.ask_again is not None:
            shown["first_panel"] = {
                "asked_at": self.ask_again.asked_at.isoformat(),
                "reason": self.ask_again.public_reason,
                "rule": self.first_panel.outcome.why,
                "seats": [_vote_json(verdict) for verdict in self.first_panel.seats],
            }
        shown["rulings"] = (
            [_ruling_json(ruling) for ruling in self.rulings] if self.is_revealed else []
        )
        return shown

    def _seat_json(self, seat: Seat) -> dict[str, Any]:
        shown: dict[str, Any] = {"letter": seat.letter, "rationale": seat.rationale}
        if self.is_revealed:
            shown |= _vote_json(seat.verdict)
        return shown


def _vote_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "seat": verdict.seat,
        "model": verdict.model,
        "state": verdict.state,
        "score": _text(verdict.score),
    }


def _ruling_json(ruling: Ruling) -> dict[str, Any]:
    return {
        "id": ruling.pk,
        "kind": ruling.kind,
        "score": _text(ruling.score),
        "answer": ruling.answer or None,
        "points": ruling.points,
        "public_reason": ruling.public_reason,
        "private_note": ruling.private_note,
        "reviewer": ruling.reviewer.username,
        "supersedes": ruling.supersedes_id,
        "created_at": ruling.created_at.isoformat(),
    }


def _text(value: Any) -> str | None:
    return None if value is None else score_text(exact(value))
