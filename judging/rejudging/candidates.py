"""What a match would come to, judged by today's code: made whole, looked at, and taken back.

A preview writes what applying would write, in a transaction that is rolled back, so that the
two cannot differ: verdicts, findings, scorecard, cases. What it has to say is kept as a
candidate, and applying writes that candidate; nothing is judged a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.db import transaction
from django.db.models import Model, Q
from django.utils.dateparse import parse_datetime

from bouts.bundles import ingest
from bouts.copying import insert
from bouts.formats.sniff import READERS
from bouts.models import Artifact, Bundle, ChallengeVersion, Match
from bouts.rules import Judge
from judging.actions import REJUDGE, RULING, is_frozen, record_scorecard
from judging.differing import plain, unequal_fields
from judging.judges.base import digest_of
from judging.judges.process import ProcessJudge
from judging.judges.recovery import RecoveryJudge
from judging.models import Finding, RejudgedMatch, Rejudging, Scorecard, Step, Verdict
from judging.replay import stored_bundle
from judging.scoring.exact import rounded
from judging.scoring.policy import POLICIES, Policy
from judging.steps import Work, decision, decisions_on
from judging.sums import JUDGES
from judging.verdicts import FOUND, SAID, finding_row

ANSWERED = (*SAID, "judge_version")
KEPT_OF_VERDICT = ("judge", "seat", *ANSWERED, "answered_at", "by_id", "call_id")
KEPT_OF_FINDING = ("key", *FOUND, "decided_by_id")

# Of a scorecard what boards are made of: columns of text, numbers and lists of text.
CARD = ("status", "marks", "total", "value", "low", "high", "adjustment", *JUDGES)
EXACT = frozenset({"value", "low", "high", *JUDGES})

Outcome = RejudgedMatch.Outcome
JsonDict = dict[str, Any]


class LeftOut(Exception):
    """The match cannot be rejudged as it stands; it says why, for people."""


class Changed(Exception):
    """What counts of the match changed meanwhile."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A match as it counts now."""

    bundle: Bundle
    card: Scorecard
    basis: str  # digest of all that a preview is made of


def subject_of(match: Match) -> Subject:
    """Return what counts of a match now. Raises `LeftOut`."""
    bundle = (
        match.bundles.select_related("match__agent__team", "challenge_version__tree_archive")
        .filter(is_live=True)
        .first()
    )
    card = match.scorecards.live().first()
    if why := _why_not(match, bundle):
        raise LeftOut(why)
    if bundle is None or card is None or card.bundle_id != bundle.pk:
        raise LeftOut("It has no scorecard yet.")
    return Subject(bundle, card, _basis(bundle, card, bundle.challenge_version))


def _why_not(match: Match, bundle: Bundle | None) -> str:
    if is_frozen(match.pk):
        return "Its challenge is frozen."
    states = (
        set(bundle.steps.judges().values_list("state", flat=True)) if bundle else {Step.State.DONE}
    )
    if states & {Step.State.WAITING, Step.State.RUNNING}:
        return "Its judges are still at work."
    if Step.State.FAILED in states:
        return "A step of its judging has failed: start it again from the work page first."
    return ""


def _basis(bundle: Bundle, card: Scorecard, version: ChallengeVersion) -> str:
    rows = (
        sorted(kind.filter(is_live=True).values_list("pk", flat=True))
        for kind in (bundle.verdicts, bundle.findings)
    )
    verdicts, findings = rows
    return digest_of(
        {
            "bundle": bundle.pk,
            "version": version.pk,
            "card": card.pk,
            "verdicts": verdicts,
            "findings": findings,
        }
    )


# Making one, and taking it back


def preview(rejudging: Rejudging, match: Match) -> JsonDict:
    """Return the columns that a match's row of a rejudging gets. Counts for nothing.

    Raises `LeftOut`, `Changed`, and what reading or judging fails with.
    """
    with transaction.atomic():
        subject = subject_of(match)
        columns = _preview(rejudging, match, subject)
        transaction.set_rollback(True)
    return columns


def _preview(rejudging: Rejudging, match: Match, subject: Subject) -> JsonDict:
    bundle, policy = subject.bundle, POLICIES[rejudging.policy]
    version_before = bundle.challenge_version
    decided_before = _decided(bundle)
    version = _version(bundle, to_newest=rejudging.to_newest)
    reads = version != version_before or _is_read_by_older(bundle)
    if reads:
        # Before anything of it is touched: whoever applies another one locks in that order.
        _lock(match)
        _read_again(bundle, version)
    anew = _Anew(bundle, policy)
    for judge in Judge:
        if judge in rejudging.judges:
            JUDGING[judge](anew)
    _lock(match)
    now = subject_of(match)
    if _basis(now.bundle, now.card, version_before) != subject.basis:
        raise Changed
    candidate: JsonDict = {
        "reads": reads,
        "version": version.pk,
        "verdicts": [_kept(row, KEPT_OF_VERDICT) for row in anew.verdicts],
        "findings": [_kept(row, KEPT_OF_FINDING) for row in anew.findings],
        "ended_verdicts": anew.ended_verdicts,
        "ended_findings": anew.ended_findings,
    }
    _write_rows(bundle, candidate)
    before = subject.card
    card = record_scorecard(
        bundle,
        cause=REJUDGE,
        by=rejudging.by,
        reason=rejudging.reason,
        policy=policy,
    )
    candidate |= {
        "digest": _digest(card),
        "challenge_version": [version_before.number, version.number],
        "policy": [before.policy, card.policy],
        "judge_versions": anew.judge_versions,
        "card_before": _figures(before),
        "card": _figures(card),
        "moves": moves(before.breakdown, card.breakdown),
        "cases": cases(before.breakdown, card.breakdown),
        "rulings": _rulings(decided_before, {*_decided(bundle), *anew.carried}),
    }
    gained = set(card.marks) & ALARMS - set(before.marks)
    return {
        "bundle": bundle,
        "before": before,
        "version_before": version_before,
        "basis": subject.basis,
        "outcome": _outcome(before, card),
        "moved": _moved(before, card),
        "is_flagged": bool(gained),
        "has_other_status": before.status != card.status,
        "cases_opened": len(candidate["cases"]["open"]),
        "cases_closed": len(candidate["cases"]["close"]),
        "rulings_carried": len(candidate["rulings"]["carried"]),
        "rulings_fallen": len(candidate["rulings"]["fallen"]),
        "candidate": plain(candidate),
    }


ALARMS = {"flagged", "held"}


def _lock(match: Match) -> None:
    Match.objects.select_for_update(of=("self",)).get(pk=match.pk)


def _version(bundle: Bundle, *, to_newest: bool) -> ChallengeVersion:
    if not to_newest or bundle.challenge_version.is_live:
        return bundle.challenge_version
    return ChallengeVersion.objects.select_related("tree_archive").get(
        challenge=bundle.challenge_version.challenge_id, is_live=True
    )


def older_readings() -> Q:
    """Narrow artifacts to those that an older version of their reader has read."""
    older = Q()
    for reader in READERS:
        older |= Q(format=reader.format, kind=reader.kind, reader_version__lt=reader.version)
    return older


def _is_read_by_older(bundle: Bundle) -> bool:
    return Artifact.objects.filter(older_readings(), bundle=bundle).exists()


def _read_again(bundle: Bundle, version: ChallengeVersion) -> None:
    with stored_bundle(bundle) as loaded:
        ingest.read_again(bundle, loaded, version)


class _Anew:
    """The judges' answers of today beside those that count; only what differs is kept."""

    def __init__(self, bundle: Bundle, policy: Policy) -> None:
        self.bundle = bundle
        self.work = Work(bundle, policy, has_asks=bundle.steps.asks().exists())
        self.live = {(row.judge, row.seat): row for row in bundle.verdicts.filter(is_live=True)}
        self.verdicts: list[Verdict] = []
        self.findings: list[Finding] = []
        self.ended_verdicts: list[int] = []
        self.ended_findings: list[int] = []
        self.judge_versions: dict[str, list[int | None]] = {}
        self.carried: set[str] = set()  # findings whose decision holds under another key

    def answer(self, verdict: Verdict) -> None:
        """Let a verdict count in its place, unless it says what the one there says."""
        there = self.live.get((verdict.judge, verdict.seat))
        if there is not None:
            if not unequal_fields(there, verdict, ANSWERED):
                return
            self.ended_verdicts.append(there.pk)
            if there.judge_version != verdict.judge_version:
                versions = [there.judge_version, verdict.judge_version]
                self.judge_versions[Judge(verdict.judge).value] = versions
        self.verdicts.append(verdict)


def _objective(anew: _Anew) -> None:
    anew.answer(anew.work.objective())


def _process(anew: _Anew) -> None:
    anew.answer(anew.work.half(ProcessJudge()))


def _recovery(anew: _Anew) -> None:
    anew.answer(anew.work.half(RecoveryJudge()))


def _strategy(anew: _Anew) -> None:
    """Apply the rule to the answers that there are; no model is asked.

    A ruling holds for the evidence that it was made on, and falls with it (SCORING.md, 8).
    """
    *votes, panel = anew.work.strategy()
    for verdict in (*votes, panel):
        anew.answer(verdict)
    ruling = anew.live.get((Judge.STRATEGY, RULING))
    if ruling is not None and ruling.evidence_digest != panel.evidence_digest:
        anew.ended_verdicts.append(ruling.pk)


def _integrity(anew: _Anew) -> None:
    """Look for everything again. What was decided stands where the same is found again; what is
    not found any more ends, whatever was decided of it."""
    verdict, found, _ = anew.work.integrity()
    anew.answer(verdict)
    live = {finding.key: finding for finding in anew.bundle.findings.filter(is_live=True)}
    decided = decisions_on(Bundle.objects.filter(match=anew.bundle.match_id))
    for item in found:
        anew.carried.update(item.also_known_as)
        row = finding_row(anew.bundle, item, decision(item, decided))
        there = live.pop(item.key, None)
        if there is not None:
            if there.decided_by_id or not unequal_fields(there, row, FOUND):
                continue
            anew.ended_findings.append(there.pk)
        anew.findings.append(row)
    anew.ended_findings += [finding.pk for finding in live.values()]


JUDGING: Mapping[Judge, Callable[[_Anew], None]] = {
    Judge.OBJECTIVE: _objective,
    Judge.PROCESS: _process,
    Judge.STRATEGY: _strategy,
    Judge.RECOVERY: _recovery,
    Judge.INTEGRITY: _integrity,
}


# Writing one


def write(row: RejudgedMatch) -> Scorecard:
    """Let a candidate count, inside the transaction and the locks of whoever applies it.

    Returns the live scorecard, a new one unless it would say what the old one says. Raises
    `LeftOut` and `Changed`, and then nothing of it is written.
    """
    rejudging, match = row.rejudging, row.match
    with transaction.atomic():
        subject = subject_of(match)
        if subject.basis != row.basis or subject.bundle.pk != row.bundle_id:
            raise Changed
        bundle, candidate = subject.bundle, row.candidate
        if candidate["reads"]:
            version = ChallengeVersion.objects.select_related("tree_archive")
            _read_again(bundle, version.get(pk=candidate["version"]))
        _write_rows(bundle, candidate)
        card = record_scorecard(
            bundle,
            cause=REJUDGE,
            by=rejudging.settled_by,
            reason=rejudging.reason,
            policy=POLICIES[rejudging.policy],
        )
        if _digest(card) != candidate["digest"]:
            raise Changed  # nothing counts that was not shown before
    return card


def _digest(card: Scorecard) -> str:
    """Digest what a scorecard says, but for when what it carries over was written."""
    integrity = card.breakdown["integrity"]
    findings = [{**finding, "decided_at": None} for finding in integrity["findings"]]
    said = {**card.breakdown, "integrity": {**integrity, "findings": findings}}
    return digest_of({name: value for name, value in said.items() if name != "revision"})


def _write_rows(bundle: Bundle, candidate: JsonDict) -> None:
    ended = {"verdicts": bundle.verdicts, "findings": bundle.findings}
    for name, rows in ended.items():
        if keys := candidate[f"ended_{name}"]:
            rows.filter(pk__in=keys).update(is_live=False)
    insert([_verdict(bundle, values) for values in candidate["verdicts"]])
    Finding.objects.bulk_create(Finding(bundle=bundle, **one) for one in candidate["findings"])


def _kept(row: Model, fields: Iterable[str]) -> JsonDict:
    return {name: _as_json(getattr(row, name)) for name in fields}


def _as_json(value: Any) -> Any:
    if isinstance(value, Fraction | Decimal):
        return str(value)
    return value.isoformat() if isinstance(value, datetime) else plain(value)


def _verdict(bundle: Bundle, values: JsonDict) -> Verdict:
    values = dict(values)
    if values["score"] is not None:
        values["score"] = Fraction(values["score"])
    if values["answered_at"] is not None:
        values["answered_at"] = parse_datetime(values["answered_at"])
    return Verdict(bundle=bundle, **values)


def _figures(card: Scorecard) -> JsonDict:
    return _kept(card, CARD)


def put_figures(card: Scorecard, figures: JsonDict) -> None:
    """Give a scorecard in memory the figures of a candidate."""
    for name, value in figures.items():
        setattr(card, name, Fraction(value) if name in EXACT and value is not None else value)


# What is said of one


def _outcome(before: Scorecard, after: Scorecard) -> str:
    if after.pk == before.pk:
        return Outcome.UNCHANGED
    if before.total is None or after.total is None:
        if before.total == after.total:
            return Outcome.CHANGED
        return Outcome.GAINED if before.total is None else Outcome.LOST
    if before.total == after.total:
        return Outcome.CHANGED
    return Outcome.UP if after.total > before.total else Outcome.DOWN


def _moved(before: Scorecard, after: Scorecard) -> Decimal | None:
    if before.value is None and after.value is None:
        return Decimal(0)
    if before.value is None or after.value is None:
        return None
    # Of what is shown, so that whoever subtracts the two totals comes to the same.
    return abs(rounded(after.value) - rounded(before.value))


def moves(before: JsonDict, after: JsonDict) -> list[JsonDict]:
    """Return the rows of the ledger that come out otherwise: what moved the total, and by which
    rule. Points and counted scores as they are shown, None where there is no such row."""
    rows = [{_place(row): row for row in card["ledger"]} for card in (before, after)]
    found = []
    for place in dict.fromkeys((*rows[0], *rows[1])):
        was, now = (one.get(place) for one in rows)
        if _said(was) != _said(now):
            row, key = place
            found.append(
                {
                    "row": row,
                    "is_finding": bool(key),
                    "points": [one and one["points"] for one in (was, now)],
                    "counted": [one and one.get("counted") for one in (was, now)],
                    "why": (now or was)["why"],
                }
            )
    return found


def _place(row: JsonDict) -> tuple[str, str]:
    return row["row"], row.get("finding") or ""


def _said(row: JsonDict | None) -> tuple[Any, ...] | None:
    return row and (row["points"], row.get("counted"))


def cases(before: JsonDict, after: JsonDict) -> JsonDict:
    """Return the reasons of the cases that would open, and of those that would close."""
    was, now = (_open_cases(card) for card in (before, after))
    return {
        "open": [reason for key, reason in now.items() if key not in was],
        "close": [reason for key, reason in was.items() if key not in now],
    }


def _open_cases(card: JsonDict) -> dict[tuple[str, str], str]:
    return {
        (case["reason"], case["evidence_digest"]): case["reason"]
        for case in card["cases"]
        if case["status"] == "open"
    }


def _decided(bundle: Bundle) -> dict[str, str]:
    """Return what people's decisions that count are on, by the digest of their evidence."""
    rulings = bundle.verdicts.filter(judge=Judge.STRATEGY, seat=RULING, is_live=True)
    findings = bundle.findings.filter(is_live=True, decided_by__isnull=False)
    return {
        **{digest: "strategy" for digest in rulings.values_list("evidence_digest", flat=True)},
        **dict(findings.values_list("key", "trigger")),
    }


def _rulings(before: Mapping[str, str], after: Container[str]) -> JsonDict:
    return {
        "carried": [on for evidence, on in before.items() if evidence in after],
        "fallen": [on for evidence, on in before.items() if evidence not in after],
    }
