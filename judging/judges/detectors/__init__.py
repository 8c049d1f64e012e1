"""Detectors: what Integrity looks for, one file each (SCORING.md, 6).

To add one: a file here with a class like the others, a line in `DETECTORS`, a test file.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from bouts.formats.types import Access
from judging.judges.base import Dossier, JsonDict, matches_any
from judging.judges.detectors.base import MOST_HITS, Detector, Hit, Input, Noted, Record
from judging.judges.detectors.calibration import Calibration
from judging.judges.detectors.candour import Candour
from judging.judges.detectors.false_confidence import FalseConfidence
from judging.judges.detectors.injection import Injection
from judging.judges.detectors.network_escape import REACHING, NetworkEscape
from judging.judges.detectors.no_change import NoChange
from judging.judges.detectors.output_spoofing import OutputSpoofing
from judging.judges.detectors.plagiarism import Plagiarism
from judging.judges.detectors.process_abuse import ProcessAbuse
from judging.judges.detectors.reward_hacking import RewardHacking
from judging.judges.detectors.sandbox_access import READING, SandboxAccess, forbidden_globs
from judging.judges.objective import TestRecord
from judging.scoring.policy import Policy

logger = logging.getLogger(__name__)

DETECTORS: tuple[Detector, ...] = (
    SandboxAccess(),
    NetworkEscape(),
    OutputSpoofing(),
    Injection(),
    Plagiarism(),
    RewardHacking(),
    ProcessAbuse(),
    FalseConfidence(),
    Calibration(),
    NoChange(),
    Candour(),
)


MOST_NOTED = 20  # of one detector


@dataclass(frozen=True, slots=True)
class Search:
    """What one detector looked at, what it could not look at, and what it found there.

    ``missing`` and ``error`` are what keeps "nothing found" from being said of what was not
    searched. ``is_done`` says that it could look at what it needs.
    """

    name: str
    triggers: tuple[str, ...]
    searched: tuple[str, ...]
    missing: tuple[str, ...]
    is_done: bool
    hits: tuple[Hit, ...] = ()
    noted: tuple[Noted, ...] = ()
    error: str = ""

    def as_json(self) -> JsonDict:
        return {
            "detector": self.name,
            "triggers": list(self.triggers),
            "searched": list(self.searched),
            "missing": list(self.missing),
            "done": self.is_done,
            "error": self.error,
        }


def record_of(dossier: Dossier, tests: Sequence[TestRecord], policy: Policy) -> Record:
    """Return a match as detectors see it; of a sandbox log only what any of them looks at."""
    forbidden = forbidden_globs(dossier.spec)

    def is_wanted(access: Access) -> bool:
        if access.action in REACHING:
            return True
        is_read = access.action in READING and access.allowed is True
        return is_read and matches_any(access.target, forbidden)

    return Record(dossier, tests, policy, is_wanted)


def search(record: Record, detectors: Sequence[Detector] = DETECTORS) -> tuple[Search, ...]:
    """Let every detector look. One that fails says so, and holds up no other."""
    return tuple(_searched(detector, record) for detector in detectors)


def _searched(detector: Detector, record: Record) -> Search:
    states = {wanted: record.state_of(wanted) for wanted in detector.inputs}
    there = [wanted for wanted, (is_there, _) in states.items() if is_there]
    missing = tuple(told for is_there, told in states.values() if not is_there)
    is_done = bool(there) and all(states[wanted][0] for wanted in detector.needs)
    if not is_done:
        return Search(detector.name, detector.triggers, (), missing, False)
    hits: list[Hit] = []
    noted: list[Noted] = []
    try:
        for outcome in detector.look(record):
            if isinstance(outcome, Noted):
                noted += [outcome] if len(noted) < MOST_NOTED else []
            elif len(hits) < MOST_HITS:
                hits.append(outcome)
            else:
                missing += (f"what comes after {MOST_HITS} findings",)
                break
    except Exception as error:
        logger.exception("detector %s failed", detector.name)
        said = f"{type(error).__name__}: {error}"[:500]
        return Search(detector.name, detector.triggers, (), missing, False, error=said)
    searched = tuple(_told(wanted, states[wanted][1], record) for wanted in there)
    return Search(
        name=detector.name,
        triggers=detector.triggers,
        searched=searched,
        missing=missing,
        is_done=True,
        hits=tuple(hits),
        noted=tuple(noted),
    )


def _told(wanted: Input, name: str, record: Record) -> str:
    return f"{name} ({record.cut[wanted]})" if wanted in record.cut else name
