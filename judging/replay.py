"""Make every verdict and scorecard of a match again from stored bytes, and compare.

Files come from where they are stored by content, each held against its digest, and are read
anew; what a model was asked is made of them again, and what it said comes from the bytes that
its vendor sent. Equal means equal to the last digit. What people wrote, uploaders and reviewers,
is taken as they wrote it. What a rejudging has superseded was made by other readers, judges or
rules than there are today: where it comes out otherwise that is noted, and is no difference.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from django.db.models import Model

from bouts import blobs
from bouts.actions.uploads import limits
from bouts.bundles.errors import Refused
from bouts.bundles.loading import MATCH, LoadedBundle, load_bundle
from bouts.models import Bundle, Match
from bouts.rules import Judge
from judging.actions import REJUDGE, RULING, answers_from, artifact_rows, card_digest, columns_of
from judging.breakdown import score
from judging.differing import Difference, plain, unequal, unequal_fields
from judging.dossiers import FileDossier, dossier_of
from judging.judges.base import Dossier, Peer
from judging.judges.integrity import Integrity, IntegrityJudge
from judging.judges.objective import ObjectiveJudge, tests_of
from judging.judges.process import ProcessJudge
from judging.judges.recovery import RecoveryJudge
from judging.judges.strategy import SeatAnswer, StrategyJudge, strategy_digest
from judging.judges.telemetry import analysed
from judging.models import Finding, ModelCall, Scorecard, Verdict
from judging.panel.evidence import evidence_for
from judging.panel.items import EvidenceBundle
from judging.readings import answer_of, verdict_of
from judging.retracing import retraced
from judging.scoring.policy import CURRENT, POLICIES
from judging.verdicts import (
    FOUND,
    SAID,
    VERSIONS,
    finding_row,
    opinion_verdict,
    panel_verdict,
    peers_in,
    searched_verdict,
    seat_verdict,
)

# What a later decision of a reviewer may have changed.
DECIDED = frozenset({"points", "status", "reason"})


@dataclass(slots=True)
class Replayed:
    """What was made again of one match, and what came out otherwise."""

    match: str
    verdicts: int = 0
    calls: int = 0
    findings: int = 0
    scorecards: int = 0
    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what differs as it may

    @property
    def is_equal(self) -> bool:
        return not self.differences


def replay(match: Match) -> Replayed:
    """Make everything of a match again. Writes nothing."""
    replayed = Replayed(match.slug)
    related = ("match__agent__team", "match__challenge", "challenge_version")
    for bundle in match.bundles.select_related(*related).order_by("number"):
        where = f"bundle {bundle.number}"
        try:
            with stored_files(bundle) as dossier:
                _Again(bundle, dossier, replayed).compare()
        except (blobs.Tampered, OSError) as error:
            replayed.differences.append(Difference(where, "stored bytes", "intact", str(error)))
        except Refused as refused:
            told = "; ".join(refused.lines())
            replayed.differences.append(Difference(where, "bundle", "accepted", told))
    live = list(match.scorecards.filter(is_live=True).values_list("number", flat=True))
    last = list(match.scorecards.order_by("-number").values_list("number", flat=True)[:1])
    if live != last:
        replayed.differences.append(Difference("scorecards", "is_live", live, last))
    return replayed


@contextmanager
def stored_bundle(bundle: Bundle) -> Iterator[LoadedBundle]:
    """Load a bundle's files once more, as they were uploaded. Raises `Tampered`."""
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        files = {MATCH: Path(folder, "manifest")}
        files[MATCH].write_bytes(orjson.dumps(bundle.manifest))
        for at, artifact in enumerate(bundle.artifacts.select_related("blob").order_by("path")):
            files[artifact.path] = Path(folder, f"{at:05}")
            blobs.copy(artifact.blob, files[artifact.path])
        with load_bundle(files, name=str(bundle), limits=limits()) as loaded:
            yield loaded


@contextmanager
def stored_files(bundle: Bundle) -> Iterator[Dossier]:
    """Read a bundle's files anew, as they were uploaded. Raises `Tampered`."""
    version = bundle.challenge_version
    with stored_bundle(bundle) as loaded:
        read = FileDossier(loaded, version.spec, version.starting_tree).dossier
        # Who the agent is, and what the challenge began with, are no files of the bundle.
        stored = dossier_of(bundle)
        yield replace(read, names=stored.names, tree=stored.tree)


class _Again:
    """One bundle made again. Each part is compared where it is made."""

    def __init__(self, bundle: Bundle, dossier: Dossier, replayed: Replayed) -> None:
        self.bundle = bundle
        self.dossier = dossier
        self.replayed = replayed
        self.where = f"bundle {bundle.number}"
        # Made again, by the keys of the stored rows.
        self.verdicts: dict[int, Verdict] = {}
        self.findings: dict[int, Finding] = {}
        self._shown: dict[Judge, EvidenceBundle] = {}
        self.rejudged = (
            Scorecard.objects.filter(bundle=bundle, cause=REJUDGE).order_by("number").last()
        )

    @cached_property
    def telemetry(self) -> Any:
        return analysed(self.dossier, CURRENT)

    @cached_property
    def tests(self) -> Any:
        return tests_of(self.dossier)

    def compare(self) -> None:
        stored = list(self.bundle.verdicts.select_related("call__result").order_by("pk"))
        calls = self.bundle.calls.select_related("result", "prompt", "evidence")
        for call in calls.order_by("pk"):
            self._call(call, [verdict for verdict in stored if verdict.call_id == call.pk])
        for verdict in stored:
            if verdict.call_id is None:
                self._verdict(verdict)
        # A seat's or a reviewer's row may end without another in its place; a judge's may not.
        for judge, rows in _grouped((row.judge, row) for row in stored if not row.seat):
            self._live(f"{self.where}, {judge}", rows)
        self._findings()
        for card in Scorecard.objects.filter(bundle=self.bundle).order_by("number"):
            self._scorecard(card)

    # Models

    def _call(self, call: ModelCall, verdicts: list[Verdict]) -> None:
        """Trace a call to the files, and read what came back, also where no verdict rests on it."""
        self.replayed.calls += 1
        where = f"{self.where}, {call.judge}, seat {call.seat}, call {call.pk}"
        try:
            traced = retraced(call, self._evidence)
            again = None if call.result_or_none is None else verdict_of(call, self.dossier)
        except (blobs.Tampered, OSError, ValueError) as error:
            self._differs(where, "stored bytes", "intact", str(error))
            return
        for difference in traced.differences:
            self._differs(where, *difference, is_past=self._is_past(call))
        self.replayed.notes += [f"{where}: {note}" for note in traced.notes]
        if again is None:
            return  # lost with its worker, or under way
        outcome = again.state if again.state not in {"scored", "answered"} else "answered"
        if outcome != call.result.outcome:
            self._differs(where, "outcome", call.result.outcome, outcome)
        for verdict in verdicts:
            self._same_verdict(verdict, again)

    def _evidence(self, judge: Judge) -> EvidenceBundle:
        """Build once what the seats of a judge are shown."""
        if judge not in self._shown:
            self._shown[judge] = evidence_for(judge, self.dossier, self.telemetry)
        return self._shown[judge]

    # Judges

    def _verdict(self, verdict: Verdict) -> None:
        judge = Judge(verdict.judge)
        is_ruling = verdict.source == Verdict.Source.RULING and verdict.seat == RULING
        if is_ruling or self._is_given(verdict):
            self.verdicts[verdict.pk] = verdict
            return
        match judge:
            case Judge.OBJECTIVE:
                again = opinion_verdict(self.bundle, ObjectiveJudge().judge(self.dossier, CURRENT))
            case Judge.PROCESS | Judge.RECOVERY:
                judging = ProcessJudge() if judge is Judge.PROCESS else RecoveryJudge()
                asked = self._asked(verdict)
                again = opinion_verdict(
                    self.bundle, judging.judge(self.dossier, self.telemetry, CURRENT, asked)
                )
            case Judge.STRATEGY:
                again = self._panel(verdict)
            case Judge.INTEGRITY:
                again = self._searched(verdict)
        self._same_verdict(verdict, again)

    def _is_given(self, verdict: Verdict) -> bool:
        """Whether a row says only that a seat was not asked: such a one has no score."""
        is_own = bool(verdict.seat) and verdict.source == Verdict.Source.OWN
        return is_own and verdict.score is None

    def _asked(self, verdict: Verdict) -> SeatAnswer | None:
        """Return what a model said for a judge when this verdict was made."""
        model = verdict.detail.get("model")
        if model is None or model["source"] != "own":
            return None
        if model["call"] is not None:
            read = [v for v in self.verdicts.values() if v.call_id == model["call"]]
            if read:
                return answer_of(read[0])
        return SeatAnswer(model["seat"], model["state"], reason=model["reason"], source="own")

    def _panel(self, verdict: Verdict) -> Verdict:
        uploaded = StrategyJudge().seats(self.dossier, CURRENT)
        if verdict.seat:
            seat = next((seat for seat in uploaded if seat.seat == verdict.seat), None)
            digest = strategy_digest(self.dossier, uploaded)
            return seat_verdict(self.bundle, seat or SeatAnswer(verdict.seat, "none"), digest)
        ids, absent = verdict.detail["calls"], verdict.detail["absent"]
        own = {v.seat: answer_of(v) for v in self.verdicts.values() if v.call_id in ids}
        own |= {
            seat["seat"]: SeatAnswer(
                seat["seat"], seat["state"], reason=seat["reason"], source="own"
            )
            for seat in absent
        }
        seats = [own[name] for name in CURRENT.panel.seats if name in own]
        return panel_verdict(self.bundle, self.dossier, seats, uploaded)

    def _searched(self, verdict: Verdict) -> Verdict:
        asked = self._asked(verdict)
        integrity, peers = self._integrity(verdict)
        return searched_verdict(self.bundle, integrity, peers, asked)

    def _integrity(self, verdict: Verdict) -> tuple[Integrity, list[Peer]]:
        """Look for everything again, with what was compared and asked when this was stored."""
        asked = self._asked(verdict)
        peers = peers_in(verdict.detail)
        dossier = replace(self.dossier, peers=lambda: peers)
        proposals = asked.proposals if asked else ()
        return IntegrityJudge().judge(dossier, self.tests, CURRENT, proposals), peers

    def _same_verdict(self, stored: Verdict, again: Verdict) -> None:
        self.replayed.verdicts += 1
        again.pk = stored.pk
        today = (None, VERSIONS[Judge(stored.judge)])
        is_past = not stored.is_live and (
            self._is_past(stored) or stored.judge_version not in today
        )
        self.verdicts[stored.pk] = stored if is_past else again
        seat = f", seat {stored.seat}" if stored.seat else ""
        call = f", call {stored.call_id}" if stored.call_id else ""
        where = f"{self.where}, {stored.judge}{seat}{call}"
        self._same(where, stored, again, SAID, is_past=is_past)

    # Findings

    def _findings(self) -> None:
        """Find again what was found; a reviewer's decision on it stands as it is."""
        stored = list(self.bundle.findings.order_by("pk"))
        self.findings = {finding.pk: finding for finding in stored}
        for _, rows in _grouped((finding.key, finding) for finding in stored):
            self._live(f"{self.where}, integrity, finding {rows[-1].trigger}", rows)
        again = self._found()
        for finding in stored:
            self.replayed.findings += 1
            where = f"{self.where}, integrity, finding {finding.trigger}"
            is_past = not finding.is_live and self._is_past(finding)
            rows = again.get(finding.key, [])
            if not rows:
                self._differs(where, "finding", finding.note, None, is_past=is_past)
                continue
            is_decided = finding.decided_by_id is not None
            fields = [name for name in FOUND if not (is_decided and name in DECIDED)]
            row = next((row for row in rows if not unequal_fields(finding, row, fields)), rows[0])
            self._same(where, finding, row, fields, is_past=is_past)
            if is_past:
                continue
            for name in fields:
                setattr(finding, name, getattr(row, name))
        for key in again.keys() - {finding.key for finding in stored}:
            row = again[key][0]
            self._differs(
                f"{self.where}, integrity, finding {row.trigger}", "finding", None, row.note
            )

    def _found(self) -> dict[str, list[Finding]]:
        """Find everything again, with what each model proposed that was asked."""
        if not self.dossier.applies(Judge.INTEGRITY):
            return {}
        searched = [
            verdict for verdict in self.bundle.verdicts.filter(judge=Judge.INTEGRITY, seat="")
        ]
        found: dict[str, list[Finding]] = {}
        for verdict in searched:
            for item in self._integrity(verdict)[0].found:
                found.setdefault(item.key, []).append(finding_row(self.bundle, item, None))
        return found

    # Scorecards

    def _scorecard(self, card: Scorecard) -> None:
        where = f"{self.where}, scorecard {card.number}"
        is_past = self.rejudged is not None and card.number < self.rejudged.number
        if not card.rests_on:
            self._differs(where, "rests_on", "nothing", "it cannot be made again")
            return
        if gone := self._gone(card):
            self._differs(where, "rests_on", gone, "they are gone")
            return
        self.replayed.scorecards += 1
        verdicts = [self.verdicts[key] for key in card.rests_on["verdicts"]]
        findings = [self.findings[key] for key in card.rests_on["findings"]]
        scored = score(answers_from(self.bundle, verdicts, findings), POLICIES[card.policy])
        body = {**scored.body, "artifacts": artifact_rows(self.bundle)}
        columns = columns_of(scored)
        self._same(where, card, Scorecard(**columns), columns, is_past=is_past)
        for name, value in plain(body).items():
            for place, stored, again in unequal(card.breakdown.get(name), value, name):
                self._differs(where, place, stored, again, is_past=is_past)
        digest = card_digest(self.bundle, body)
        if digest != card.digest:
            self._differs(where, "digest", card.digest, digest, is_past=is_past)

    def _gone(self, card: Scorecard) -> str:
        """Name the rows that a card rests on and that there are not."""
        rows = {"verdicts": self.verdicts, "findings": self.findings}
        gone = [
            f"{name} {key}" for name in rows for key in card.rests_on[name] if key not in rows[name]
        ]
        return ", ".join(gone)

    # What counts

    def _live(self, where: str, rows: Sequence[Verdict | Finding]) -> None:
        """Hold to it that the last of some rows in one place is the one that counts.

        The database lets only this be changed, so only here would it be seen.
        """
        *others, last = rows
        counts = not (isinstance(last, Finding) and self._is_ended(last))
        for row, should_be in ((last, counts), *((other, False) for other in others)):
            if row.is_live is not should_be:
                self._differs(f"{where}, row {row.pk}", "is_live", row.is_live, should_be)

    def _is_past(self, row: Verdict | Finding | ModelCall) -> bool:
        """Whether a row was stored before the bundle was rejudged last."""
        return self.rejudged is not None and row.created_at < self.rejudged.created_at

    def _is_ended(self, finding: Finding) -> bool:
        """Whether a rejudging did not find it again."""
        if self.rejudged is None or not self._is_past(finding):
            return False
        return finding.pk not in self.rejudged.rests_on["findings"]

    # Comparing

    def _same(
        self,
        where: str,
        stored: Model,
        again: Model,
        fields: Iterable[str],
        *,
        is_past: bool = False,
    ) -> None:
        for name, one, other in unequal_fields(stored, again, fields):
            self._differs(where, name, one, other, is_past=is_past)

    def _differs(
        self, where: str, name: str, stored: Any, again: Any, *, is_past: bool = False
    ) -> None:
        difference = Difference(where, name, stored, again)
        if is_past:
            self.replayed.notes.append(f"{difference}; it was rejudged since")
        else:
            self.replayed.differences.append(difference)


def _grouped(pairs: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, list[Any]]]:
    """Put together what has one key, in the order in which it comes."""
    groups: dict[str, list[Any]] = {}
    for key, row in pairs:
        groups.setdefault(key, []).append(row)
    return groups.items()
