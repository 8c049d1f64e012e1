"""Score a bundle's files without storing anything: the breakdown as the API would give it."""

from __future__ import annotations

from dataclasses import asdict

from bouts.bundles.hidden import HiddenTests
from bouts.bundles.loading import LoadedBundle, LoadedChallenge
from bouts.bundles.reading import Reading
from bouts.disclosure import Audience, Gate
from bouts.rules import Disclosure, Judge
from judging.breakdown import Answers, FindingRecord, score
from judging.disclosed import disclosed
from judging.dossiers import FileDossier
from judging.judges.base import Dossier, JsonDict
from judging.judges.integrity import Found, IntegrityJudge
from judging.judges.objective import ObjectiveJudge, tests_of
from judging.judges.process import ProcessJudge
from judging.judges.recovery import RecoveryJudge
from judging.judges.strategy import StrategyJudge, strategy_digest
from judging.judges.telemetry import analysed
from judging.scoring.policy import CURRENT, Policy


def score_files(
    loaded: LoadedBundle, challenge: LoadedChallenge, policy: Policy = CURRENT
) -> JsonDict:
    """Read and judge a bundle and return its breakdown. Raises `Refused` for dangling evidence.

    There is no revision and no challenge version, since nothing is stored: both are None.
    The rest is what the API tells staff of the stored match.
    """
    files = FileDossier(loaded, challenge.challenge, challenge.tree, challenge.tree_file)
    hidden = HiddenTests.of(loaded, challenge.challenge, files.hidden_results())
    scored = score(answers_to(files.dossier, policy), policy)
    breakdown = {
        "match": loaded.manifest.match,
        "revision": None,
        "challenge_version": None,
        **scored.body,
        "artifacts": [
            _artifact(loaded, reading, hidden)
            for reading in sorted(files.readings, key=lambda reading: reading.entry.path)
        ],
    }
    return disclosed(breakdown, Gate(Audience.STAFF, Disclosure.CLOSED))


def answers_to(dossier: Dossier, policy: Policy) -> Answers:
    """Ask every judge, as the steps of the work do one by one."""
    telemetry = analysed(dossier, policy)
    seats = StrategyJudge().seats(dossier, policy)
    tests = tests_of(dossier)
    integrity = IntegrityJudge().judge(dossier, tests, policy)
    return Answers(
        spec=dossier.spec,
        opinions={
            Judge.OBJECTIVE: ObjectiveJudge().judge(dossier, policy),
            Judge.PROCESS: ProcessJudge().judge(dossier, telemetry, policy),
            Judge.STRATEGY: StrategyJudge().judge(seats, None, policy),
            Judge.RECOVERY: RecoveryJudge().judge(dossier, telemetry, policy),
        },
        seats=seats,
        findings=tuple(map(_undecided, integrity.found)),
        claims=tuple(claim.as_json() for claim in integrity.claims),
        searched=integrity.searched,
        strategy_digest=strategy_digest(dossier, seats),
    )


def _undecided(found: Found) -> FindingRecord:
    return FindingRecord(
        key=found.key,
        trigger=found.trigger,
        points=found.points,
        status=found.status.value,
        confidence=found.confidence,
        act=found.act,
        source=found.source,
        note=found.note,
        evidence=found.evidence,
        reason=found.reason,
        is_decided=False,
    )


def _artifact(loaded: LoadedBundle, reading: Reading, hidden: HiddenTests) -> JsonDict:
    entry, report = reading.entry, reading.report
    return {
        "path": entry.path,
        "kind": entry.kind.value,
        "suite": entry.suite.value if entry.suite else "",
        "run": entry.run,
        "format": reading.reader.format if reading.reader else "",
        "format_version": report.format_version or "",
        "state": reading.state.value,
        "reason": reading.reason,
        "place": reading.place,
        "clock": report.clock.value if report.clock else "",
        "counts": report.counts,
        "notes": [asdict(note) for note in report.notes],
        "digest": loaded.members[entry.path].sha256,
        "quotes_hidden": hidden.are_quoted_in(entry),
    }
