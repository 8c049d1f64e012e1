"""What gets written, and when: scorecards, rulings, exclusions. The steps are in `judging.steps`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from operator import itemgetter
from typing import Any

from django.db import transaction

from bouts import audit
from bouts.models import Artifact, Bundle, Challenge, Match, User
from bouts.prepared import Prepared, save_new
from bouts.rules import Judge
from judging import standings
from judging.breakdown import Answers, FindingRecord, Scored, score
from judging.judges.base import Opinion, digest_of
from judging.judges.strategy import (
    SCORED,
    SeatAnswer,
    StrategyJudge,
    StrategyRuling,
)
from judging.models import Finding, Scorecard, Verdict
from judging.readings import answer_of
from judging.scoring.exact import rounded, score_text
from judging.scoring.policy import CURRENT, WEIGHED, Policy
from judging.scoring.reasons import Reason
from judging.signals import exclusion_changed, scorecard_recorded

RULING = "ruling"  # the seat of a reviewer's word on the Strategy score
REJUDGE = "rejudge"  # the cause of a scorecard that a rejudging made
UPHELD = "upheld"  # its state where the rule's number stands


MATCH = Prepared(
    lambda key: (
        Match.objects.filter(pk=key)
        .order_by()
        .select_related("agent__team")
        .select_for_update(of=("self",))
    ),
    key=int,
)
LIVE_BUNDLE = Prepared(
    lambda key: Bundle.objects.filter(pk=key, is_live=True).order_by().values_list("pk"),
    key=int,
)
LIVE_CARD = Prepared(
    lambda match: Scorecard.objects.live().filter(match=match).order_by(), match=int
)
LIVE_VERDICTS = Prepared(
    lambda bundle: Verdict.objects.filter(bundle=bundle, is_live=True).order_by("pk"), bundle=int
)
LIVE_FINDINGS = Prepared(
    lambda bundle: Finding.objects.filter(bundle=bundle, is_live=True).order_by("pk"), bundle=int
)
ARTIFACT_FIELDS = (
    "path", "kind", "suite", "run", "format", "format_version", "state", "reason", "place",
    "clock", "counts", "notes", "facts",
)  # fmt: skip
ARTIFACTS = Prepared(
    lambda bundle: (
        Artifact.objects.filter(bundle=bundle).order_by().values_list(*ARTIFACT_FIELDS, "blob_id")
    ),
    bundle=int,
)


class ChallengeFrozen(Exception):
    """The challenge is closed: rulings and rejudging are refused."""


# Scorecards


def record_scorecard(
    bundle: Bundle,
    *,
    cause: str = "",
    by: User | None = None,
    reason: str = "",
    policy: Policy = CURRENT,
) -> Scorecard:
    """Record a scorecard from what is live, unless it would say what the live one says.

    Without a ``cause`` it is that the bundle was judged.
    """
    with transaction.atomic(savepoint=False):
        match = MATCH.first(key=bundle.match_id)
        if not LIVE_BUNDLE.rows(key=bundle.pk):
            # Superseded while its judges worked: its breakdown must not come back to life.
            return Scorecard.objects.filter(match=match).order_by("-number").first()
        verdicts, findings = live_rows(bundle)
        scored = score(answers_from(bundle, verdicts, findings), policy)
        body = {**scored.body, "artifacts": artifact_rows(bundle)}
        digest = card_digest(bundle, body)
        live = LIVE_CARD.first(match=match.pk)
        same_version = live and live.challenge_version_id == bundle.challenge_version_id
        if live and live.digest == digest and same_version:
            return live
        scorecard = _scorecard(bundle, match, scored, policy)
        scorecard.number = live.number + 1 if live else 1
        scorecard.digest = digest
        scorecard.breakdown = {
            "match": match.slug,
            "revision": scorecard.number,
            "challenge_version": bundle.challenge_version.number,
            **body,
        }
        cause = cause or (f"bundle {bundle.number}" if live else "first scorecard")
        scorecard.cause, scorecard.by, scorecard.reason = cause, by, reason
        scorecard.rests_on = {
            "verdicts": sorted(verdict.pk for verdict in verdicts),
            "findings": sorted(finding.pk for finding in findings),
        }
        if live:
            match.scorecards.live().update(is_live=False)
        save_new(scorecard)
        audit.record(by, "record_scorecard", match, _told(live), _told(scorecard), reason or cause)
        standings.refresh(match)
        scorecard_recorded.send(Scorecard, scorecard=scorecard)
    return scorecard


def _told(scorecard: Scorecard | None) -> dict[str, Any] | None:
    """Return what the log says of a scorecard."""
    if scorecard is None:
        return None
    total = None if scorecard.total is None else str(scorecard.total)
    return {"revision": scorecard.number, "total": total, "status": scorecard.status}


def card_digest(bundle: Bundle, body: Mapping[str, Any]) -> str:
    """Digest what a scorecard says; its own number and the match's name are no part of it."""
    return digest_of({"bundle": bundle.number, **body})


def _scorecard(bundle: Bundle, match: Match, scored: Scored, policy: Policy) -> Scorecard:
    return Scorecard(
        match=match,
        bundle=bundle,
        challenge_version=bundle.challenge_version,
        policy=policy.version,
        status=scored.status,
        **columns_of(scored),
    )


def columns_of(scored: Scored) -> dict[str, Any]:
    """Return the figures of a score as the columns of a scorecard."""
    low, high = scored.range or (None, None)
    return {
        "marks": list(scored.marks),
        "total": None if scored.total.total is None else rounded(scored.total.total),
        "value": scored.total.unclamped,
        "low": low,
        "high": high,
        "adjustment": scored.integrity.adjustment,
        **{judge.value: scored.total.judges[judge].counted for judge in WEIGHED},
    }


def artifact_rows(bundle: Bundle) -> list[dict[str, Any]]:
    rows = [
        dict(zip((*ARTIFACT_FIELDS, "digest"), row, strict=True))
        for row in ARTIFACTS.rows(bundle=bundle.pk)
    ]
    # Sorted here: each database has an order of letters of its own.
    rows.sort(key=itemgetter("path"))
    for row in rows:
        row["quotes_hidden"] = row.pop("facts").get("quotes_hidden", True)
    return rows


def live_rows(bundle: Bundle) -> tuple[list[Verdict], list[Finding]]:
    """Return what counts on a bundle now."""
    return LIVE_VERDICTS.rows(bundle=bundle.pk), LIVE_FINDINGS.rows(bundle=bundle.pk)


def answers_of(bundle: Bundle) -> Answers:
    """Gather all that is live on a bundle."""
    return answers_from(bundle, *live_rows(bundle))


def answers_from(bundle: Bundle, rows: Iterable[Verdict], findings: Iterable[Finding]) -> Answers:
    """Gather opinions, seats, findings, claims and the ruling from some rows of a bundle."""
    spec = bundle.challenge_version.spec
    verdicts = {(verdict.judge, verdict.seat): verdict for verdict in rows}
    opinions: dict[Judge, Opinion] = {}
    for judge in (Judge.OBJECTIVE, Judge.PROCESS, Judge.RECOVERY):
        if verdict := verdicts.get((judge, "")):
            opinions[judge] = _opinion_of(verdict)
    panel = verdicts.get((Judge.STRATEGY, ""))
    seats = _seats(panel, verdicts)
    if panel:
        ruling = verdicts.get((Judge.STRATEGY, RULING))
        opinions[Judge.STRATEGY] = StrategyJudge().judge(
            seats,
            StrategyRuling(ruling.score, ruling.rationale) if ruling else None,
            CURRENT,
            uploaded=panel.detail.get("uploaded", ()),
        )
    searched = verdicts.get((Judge.INTEGRITY, ""))
    return Answers(
        spec=spec,
        opinions=opinions,
        seats=seats,
        findings=tuple(map(_finding_of, findings)),
        claims=tuple(searched.detail["claims"]) if searched else (),
        searched=tuple(searched.detail.get("searched", ())) if searched else (),
        strategy_digest=panel.evidence_digest if panel else "",
        integrity_model=searched.detail.get("model") if searched else None,
    )


def _seats(
    panel: Verdict | None, verdicts: Mapping[tuple[str, str], Verdict]
) -> tuple[SeatAnswer, ...]:
    """Return the panel's seats in order; those that were not asked as its own row has them."""
    absent = {seat["seat"]: seat for seat in panel.detail.get("absent", ())} if panel else {}
    seats = []
    for name in CURRENT.panel.seats:
        if verdict := verdicts.get((Judge.STRATEGY, name)):
            seats.append(answer_of(verdict))
        elif seat := absent.get(name):
            seats.append(SeatAnswer(name, seat["state"], reason=seat["reason"], source="own"))
    return tuple(seats)


def _opinion_of(verdict: Verdict) -> Opinion:
    detail = dict(verdict.detail)
    return Opinion(
        judge=Judge(verdict.judge),
        score=verdict.score,
        reason=Reason(verdict.reason) if verdict.reason else None,
        why=detail.pop("why", ""),
        rationale=verdict.rationale,
        evidence=tuple(verdict.evidence),
        detail=detail,
        source=verdict.source,
    )


def _finding_of(finding: Finding) -> FindingRecord:
    return FindingRecord(
        key=finding.key,
        trigger=finding.trigger,
        points=finding.points,
        status=finding.status,
        confidence=finding.confidence,
        act=finding.act,
        source=finding.source,
        note=finding.note,
        evidence=tuple(finding.evidence),
        reason=finding.reason,
        is_decided=finding.decided_by_id is not None,
        decided_at=finding.created_at.isoformat() if finding.decided_by_id else None,
    )


# What follows from a ruling


@transaction.atomic
def rule_strategy(
    bundle: Bundle, score: Fraction | None, *, by: User, reason: str, cause: str = "ruling"
) -> Scorecard:
    """Let a reviewer's score stand for Strategy; None upholds the number of the rule."""
    refuse_frozen(bundle.match_id)
    strategy = bundle.verdicts.filter(judge=Judge.STRATEGY, is_live=True)
    panel = strategy.get(seat="")
    strategy.filter(seat=RULING).update(is_live=False)
    Verdict.objects.create(
        bundle=bundle,
        judge=Judge.STRATEGY,
        seat=RULING,
        source=Verdict.Source.RULING,
        state=UPHELD if score is None else SCORED,
        score=score,
        rationale=reason,
        evidence_digest=panel.evidence_digest,
        by=by,
    )
    return record_scorecard(bundle, cause=cause, by=by, reason=reason)


@transaction.atomic
def decide_finding(
    bundle: Bundle,
    key: str,
    *,
    status: str,
    points: int | None = None,
    by: User,
    reason: str,
    cause: str = "ruling",
) -> Scorecard:
    """Apply or dismiss a finding: a new row, the one before stays."""
    refuse_frozen(bundle.match_id)
    finding = bundle.findings.select_for_update().get(key=key, is_live=True)
    bundle.findings.filter(pk=finding.pk).update(is_live=False)
    finding.pk, finding._state.adding = None, True
    finding.status, finding.reason, finding.decided_by = status, reason, by
    if points is not None:
        finding.points = points
    finding.save(force_insert=True)
    return record_scorecard(bundle, cause=cause, by=by, reason=reason)


@transaction.atomic
def withdraw_ruling(bundle: Bundle, *, by: User, reason: str, cause: str) -> Scorecard:
    """Take a ruling on Strategy back: the number of the rule stands again, provisional or not."""
    refuse_frozen(bundle.match_id)
    bundle.verdicts.filter(judge=Judge.STRATEGY, seat=RULING, is_live=True).update(is_live=False)
    return record_scorecard(bundle, cause=cause, by=by, reason=reason)


@transaction.atomic
def reopen_finding(bundle: Bundle, key: str, *, by: User, reason: str, cause: str) -> Scorecard:
    """Take a decision on a finding back: a new row says again what was found."""
    refuse_frozen(bundle.match_id)
    finding = bundle.findings.select_for_update().get(key=key, is_live=True)
    found = Finding.objects.filter(bundle__match=bundle.match_id, key=key).earliest("pk")
    bundle.findings.filter(pk=finding.pk).update(is_live=False)
    finding.pk, finding._state.adding = None, True
    finding.status, finding.points, finding.reason = found.status, found.points, found.reason
    finding.decided_by = None
    finding.save(force_insert=True)
    return record_scorecard(bundle, cause=cause, by=by, reason=reason)


def is_frozen(match_id: int) -> bool:
    """Whether the challenge of a match is frozen, by what the database says now."""
    return Challenge.objects.filter(matches=match_id, state=Challenge.State.FROZEN).exists()


def refuse_frozen(match_id: int) -> None:
    if is_frozen(match_id):
        raise ChallengeFrozen


@dataclass(frozen=True, slots=True)
class Preview:
    """What a ruling would make of a match. Scores as they are shown; rank None off the board."""

    total: str | None
    base: str | None
    band: str | None
    status: str
    strategy_counted: str | None
    strategy_points: str
    rank: int | None
    ranked: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def preview(
    bundle: Bundle,
    *,
    strategy: Fraction | None = None,
    is_ruled: bool = False,
    findings: Mapping[str, tuple[str, int | None]] | None = None,
) -> Preview:
    """Say what a ruling would make of a match, without writing anything.

    ``strategy`` is the score that a ruling sets; ``is_ruled`` without one upholds the rule's
    number. ``findings`` gives the status and, where open, the points by key.
    """
    answers = answers_of(bundle)
    if strategy is not None or is_ruled:
        opinion = StrategyJudge().judge(answers.seats, StrategyRuling(strategy, ""), CURRENT)
        answers = replace(answers, opinions={**answers.opinions, Judge.STRATEGY: opinion})
    if findings:
        answers = replace(
            answers, findings=tuple(_decided(f, findings.get(f.key)) for f in answers.findings)
        )
    scored = score(answers, CURRENT)
    line = scored.total.judges[Judge.STRATEGY]
    is_ranked = scored.total.is_rankable and not scored.integrity.held
    rank, ranked = standings.rank_with(bundle, scored.total.unclamped if is_ranked else None)
    return Preview(
        total=None if scored.total.total is None else str(rounded(scored.total.total)),
        base=score_text(scored.total.base),
        band=scored.total.band,
        status=scored.status,
        strategy_counted=score_text(line.counted),
        strategy_points=str(line.points),
        rank=rank,
        ranked=ranked,
    )


def _decided(finding: FindingRecord, decision: tuple[str, int | None] | None) -> FindingRecord:
    if decision is None:
        return finding
    status, points = decision
    return replace(
        finding,
        status=status,
        points=finding.points if points is None else points,
        is_decided=True,
    )


# Withdrawing and excluding


@transaction.atomic
def exclude_match(match: Match, exclusion: str, *, by: User, reason: str) -> None:
    """Take a match off the boards, or put it back, with a public reason."""
    match = Match.objects.select_for_update().get(pk=match.pk)
    before = {"exclusion": match.exclusion, "reason": match.exclusion_reason}
    match.exclusion, match.exclusion_reason = exclusion, reason
    match.save(update_fields=["exclusion", "exclusion_reason"])
    audit.record(by, "exclude_match", match, before, {"exclusion": exclusion}, reason)
    standings.refresh(match)
    exclusion_changed.send(Match, match=match)
