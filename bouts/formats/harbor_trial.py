"""Harbor's ``result.json`` of one trial (FORMATS.md, 1): its rewards, read as reward files are.

A trial without a verifier's result was not measured, and one whose reward Harbor itself calls
invalid, for how the trial ended, has none that counts: both are unreadable. How it ended is
noted. Where the trial went, a path on somebody's machine, is not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from bouts.formats import harbor_reward
from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import Record, inner, label, short
from bouts.formats.guard import guarded
from bouts.formats.tally import Tally
from bouts.formats.types import Kind, Report, TestResult, Unreadable

_VERSION = "/schema_version"
_NAMES = {"/task_name": "task", "/trial_name": "trial"}
_REWARDS = "/verifier_result/rewards"
_VALID = "/reward_valid"
_EXCEPTION = "/exception_info"
_STEP = "/step_results/*"
_OUTLINE = frozenset({"task_name", "trial_name", "task_checksum"})


class HarborTrialReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "harbor-trial"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        return top_keys(head).keys() >= _OUTLINE

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        tally = Tally(report)
        report.format_version = "1"  # what a document that names no version is
        rewards: Any = None
        is_valid: Any = None
        endings: list[str] = []
        parts = Document(source, report).parts(
            _VERSION, *_NAMES, _REWARDS, _VALID, _EXCEPTION, _STEP
        )
        for pattern, pointer, value in parts:
            if pattern == _VERSION:
                report.format_version = str(value)[:40] if type(value) is int else None
            elif pattern in _NAMES:
                report.facts[_NAMES[pattern]] = short(value, 200)
            elif pattern == _REWARDS:
                rewards = value
            elif pattern == _VALID:
                is_valid = value
            elif ending := _ending(
                value if pattern == _EXCEPTION else inner(value, "exception_info")
            ):
                endings.append(ending)
                tally.remarks.add(f"the trial ended in {ending}", pointer)
        because = f", for it ended in {endings[0]}" if endings else ""
        if not isinstance(rewards, dict):
            raise Unreadable(f"not measured: the verifier gave no rewards{because}", _REWARDS)
        if is_valid is False:
            raise Unreadable(f"the trial's reward is not valid{because}", _VALID)
        yield from harbor_reward.results(rewards, report, tally, f"{_REWARDS}/")
        tally.finish()


def _ending(exception: Record) -> str:
    return label(exception, "exception_type", limit=80)
