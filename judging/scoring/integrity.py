"""What findings add to and take from the total (SCORING.md, 6).

Raw sums come after the once-only rules and before caps and voiding. Only applied findings
count; proposed and dismissed ones keep their line, with 0 points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bouts.rules import Confidence
from judging.scoring.policy import Consequence, Policy, Trigger


class Status(StrEnum):
    PROPOSED = "proposed"
    APPLIED = "applied"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found. `id` is unique within a match.

    `points` counts only where the trigger leaves them open. Findings with the same `act`
    come from one act of the agent; None is an act of its own. `is_confirmed` says that a
    person has applied it, which ends its hold.
    """

    id: str
    trigger: str
    status: Status = Status.APPLIED
    points: int | None = None
    confidence: Confidence | None = None
    act: str | None = None
    is_confirmed: bool = False


class Standing(StrEnum):
    """What became of a finding's points."""

    COUNTED = "counted"
    PROPOSED = "proposed"
    DISMISSED = "dismissed"
    REPEATED = "repeated"  # its trigger counts once a match, and another finding is it
    SAME_ACT = "same_act"  # its act counts once, as something graver


@dataclass(frozen=True, slots=True)
class FindingLine:
    """A finding with the points it brings to the raw sum.

    `price` is what it costs or earns by itself. `in_favour_of` names the finding that
    counts in its stead.
    """

    finding: Finding
    price: int
    points: int
    standing: Standing
    in_favour_of: str | None = None


@dataclass(frozen=True, slots=True)
class IntegrityOutcome:
    """Raw and counted sums in points (bonuses ≥ 0, penalties ≤ 0), and every finding.

    `flags` are the triggers that mark the match and its leaderboard row. `warnings` show on
    the match alone. `held` means off the leaderboard until a reviewer has ruled.
    """

    bonus_raw: int
    penalty_raw: int
    bonus_counted: int
    penalty_counted: int
    is_voided: bool
    held: bool
    flags: tuple[str, ...]
    warnings: tuple[str, ...]
    lines: tuple[FindingLine, ...]

    @property
    def adjustment(self) -> int:
        return self.bonus_counted + self.penalty_counted

    @property
    def has_proposals(self) -> bool:
        """Whether a reviewer's word on a finding could still change the total."""
        return any(line.standing is Standing.PROPOSED for line in self.lines)


class UnknownTrigger(ValueError):
    """A finding names a trigger that the policy does not have."""


def is_open(finding: Finding, policy: Policy) -> bool:
    """Whether a reviewer's word on a finding is due: it is proposed, or it holds the match."""
    return finding.status is Status.PROPOSED or _Priced.of(finding, policy).holds


def weigh_findings(findings: Sequence[Finding], policy: Policy) -> IntegrityOutcome:
    """Add up the findings of a match. Their order never matters, but for that of the lines.

    Raises `UnknownTrigger`, and `ValueError` where two findings share an id.
    """
    rules = policy.integrity
    priced = [_Priced.of(finding, policy) for finding in findings]
    if len({item.finding.id for item in priced}) < len(priced):
        raise ValueError("two findings share an id")
    applied = [item for item in priced if item.finding.status is Status.APPLIED]
    stead = _dropped_bonuses(applied) | _dropped_penalties(applied)
    lines = tuple(item.line(stead) for item in priced)

    bonus_raw = sum(line.points for line in lines if line.points > 0)
    penalty_raw = sum(line.points for line in lines if line.points < 0)
    consequences = {
        consequence: _names(item for item in applied if item.trigger.consequence is consequence)
        for consequence in Consequence
    }
    # A quarantine voids even where its points yield to something graver in the same act:
    # else one more penalty could buy the bonuses back.
    is_voided = bool(consequences[Consequence.QUARANTINE])
    # Capped apart: netted first, five honest remarks would buy back a spoofed result.
    return IntegrityOutcome(
        bonus_raw=bonus_raw,
        penalty_raw=penalty_raw,
        bonus_counted=0 if is_voided else min(bonus_raw, rules.bonus_cap),
        penalty_counted=max(penalty_raw, rules.penalty_cap),
        is_voided=is_voided,
        held=any(item.holds for item in priced),
        flags=consequences[Consequence.QUARANTINE] + consequences[Consequence.FLAG],
        warnings=consequences[Consequence.WARNING],
        lines=lines,
    )


def abuse_points(identical_calls: int, policy: Policy) -> int | None:
    """What so many identical calls in a row, with no change between, cost as process abuse.

    None below the number from which they count.
    """
    rules = policy.integrity
    if identical_calls < rules.abuse_from_calls:
        return None
    trigger = rules.triggers["process_abuse"]
    further = (identical_calls - rules.abuse_from_calls) // rules.abuse_each_further
    return _within(trigger, trigger.points - further)


@dataclass(frozen=True, slots=True)
class _Priced:
    """A finding with its trigger and price; sorts the gravest first."""

    finding: Finding
    trigger: Trigger
    price: int

    @classmethod
    def of(cls, finding: Finding, policy: Policy) -> _Priced:
        trigger = policy.integrity.triggers.get(finding.trigger)
        if trigger is None:
            raise UnknownTrigger(f"no trigger is called {finding.trigger!r}")
        points = trigger.points if finding.points is None else finding.points
        return cls(finding, trigger, _within(trigger, points))

    @property
    def act(self) -> tuple[str, str]:
        if self.finding.act is None:
            return ("finding", self.finding.id)
        return ("act", self.finding.act)

    @property
    def holds(self) -> bool:
        if self.trigger.consequence is not Consequence.QUARANTINE:
            return False
        if self.finding.status is Status.APPLIED:
            return not self.finding.is_confirmed
        return self.finding.status is Status.PROPOSED and self.finding.confidence is Confidence.HIGH

    def line(self, stead: dict[str, tuple[Standing, str]]) -> FindingLine:
        finding = self.finding
        if finding.status is not Status.APPLIED:
            return FindingLine(finding, self.price, 0, Standing(finding.status.value))
        if finding.id in stead:
            standing, favoured = stead[finding.id]
            return FindingLine(finding, self.price, 0, standing, favoured)
        return FindingLine(finding, self.price, self.price, Standing.COUNTED)


def _within(trigger: Trigger, points: int) -> int:
    """The points of a trigger: fixed, or moved into the range that it leaves open."""
    if trigger.gravest is None:
        return trigger.points
    return max(trigger.gravest, min(trigger.points, points))


def _dropped_bonuses(applied: Iterable[_Priced]) -> dict[str, tuple[Standing, str]]:
    """What counts once a match counts by its first id."""
    by_trigger: dict[str, list[str]] = defaultdict(list)
    for item in applied:
        if item.trigger.is_bonus and item.trigger.once_a_match:
            by_trigger[item.trigger.name].append(item.finding.id)
    return {
        id: (Standing.REPEATED, min(ids))
        for ids in by_trigger.values()
        for id in ids
        if id != min(ids)
    }


@dataclass(frozen=True, slots=True)
class _Charge:
    """What one trigger makes of one act: its points, and the findings that carry them."""

    trigger: Trigger
    points: int
    carriers: tuple[str, ...]
    dropped: tuple[str, ...]

    @classmethod
    def of(cls, items: Sequence[_Priced]) -> _Charge:
        """Of several findings of one trigger in one act one counts, but of false claims all."""
        ordered = sorted(items, key=lambda item: (item.price, item.finding.id))
        ids = tuple(item.finding.id for item in ordered)
        trigger = ordered[0].trigger
        carried = len(ids) if trigger.instances else 1
        points = sum(item.price for item in ordered[:carried])
        return cls(trigger, points, ids[:carried], ids[carried:])

    @property
    def gravity(self) -> tuple[int, int, str, str]:
        """Sorts the gravest first, by points, then by consequence; never by order of arrival."""
        order = list(Consequence)
        rank = order.index(self.trigger.consequence) if self.trigger.consequence else -1
        return (self.points, -rank, self.trigger.name, self.carriers[0])


def _dropped_penalties(applied: Iterable[_Priced]) -> dict[str, tuple[Standing, str]]:
    """One act counts once, as the gravest; then what counts once a match counts once.

    "Gravest" means by what it costs: three false claims in one act weigh 15 together. What
    counts once a match (`process_abuse`) counts in the act to whose other charges it adds
    most, and is nothing to the other acts. Both keep to the rule that one more applied
    penalty never raises a total: dropped by its own points alone, an abuse could first
    push a false claim out of its act and then be dropped itself.
    """
    by_act: dict[tuple[str, str], dict[str, list[_Priced]]] = defaultdict(lambda: defaultdict(list))
    for item in applied:
        if not item.trigger.is_bonus:
            by_act[item.act][item.trigger.name].append(item)

    stead: dict[str, tuple[Standing, str]] = {}
    once: list[tuple[int, _Charge, _Charge | None]] = []
    for triggers in by_act.values():
        charges = sorted(
            (_Charge.of(items) for items in triggers.values()), key=lambda charge: charge.gravity
        )
        for charge in charges:
            stead |= {id: (Standing.SAME_ACT, charge.carriers[0]) for id in charge.dropped}
        lasting = [charge for charge in charges if not charge.trigger.once_a_match]
        gravest = lasting[0] if lasting else None
        for lesser in lasting[1:]:
            stead |= {id: (Standing.SAME_ACT, lasting[0].carriers[0]) for id in lesser.carriers}
        for charge in charges:
            if charge.trigger.once_a_match:
                adds = charge.points - (gravest.points if gravest else 0)
                once.append((adds, charge, gravest))

    counted: dict[str, str] = {}
    for adds, charge, gravest in sorted(once, key=lambda entry: (entry[0], entry[1].gravity)):
        id, name = charge.carriers[0], charge.trigger.name
        if gravest is not None and adds >= 0:
            stead[id] = (Standing.SAME_ACT, gravest.carriers[0])
        elif name in counted:
            stead[id] = (Standing.REPEATED, counted[name])
        else:
            counted[name] = id
            if gravest is not None:
                stead |= {carrier: (Standing.SAME_ACT, id) for carrier in gravest.carriers}
    return stead


def _names(items: Iterable[_Priced]) -> tuple[str, ...]:
    return tuple(sorted({item.trigger.name for item in items}))
