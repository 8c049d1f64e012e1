"""Harbor's ``reward.json`` and ``reward.txt``, which a verifier leaves behind (FORMATS.md, 1).

A reward is a fact, kept under its name. It is a test's outcome only where it is exactly 0 or 1:
a fraction says how much was right and not what, so the file then has no test to tell of and its
suite has none. What is not a finite number is refused, as Harbor itself does, and truth values
as well, which slip through there. A bare number is the text form, under the name ``reward``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.guard import guarded
from bouts.formats.tally import Tally
from bouts.formats.text import shorten_id
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable

MAX_REWARDS = 1_000
MAX_TEXT_BYTES = 100  # of a bare number

_NUMBER = re.compile(rb"\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?\s*")
# What Python's own reader of numbers takes as well: refused with a reason, not left unknown.
# Two points are a plan of TAP.
_ODD_NUMBER = re.compile(
    rb"(?!.*\.\.)\s*[-+]?(?:nan|inf(?:inity)?|[\d_.]*\d[\d_.eE+-]*)\s*", re.IGNORECASE | re.DOTALL
)


class HarborRewardReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "harbor-reward"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        if len(head) <= MAX_TEXT_BYTES and _ODD_NUMBER.fullmatch(head):
            return True
        keys = top_keys(head)
        numbers = [value for value in keys.values() if isinstance(value, int | float)]
        return 0 < len(numbers) == len(keys) or (len(keys) == 1 and "reward" in keys)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        tally = Tally(report)
        source.seek(0)
        written = source.read(MAX_TEXT_BYTES + 1)
        if not written.strip():
            raise Unreadable("the reward file is empty")
        if written.lstrip()[:1] == b"{" or not _ODD_NUMBER.fullmatch(written):
            (document,) = Document(source, report).parts("")
            rewards = document.value
        else:
            rewards = {"reward": float(written) if _NUMBER.fullmatch(written) else None}
        yield from results(rewards, report, tally, "/")
        tally.finish()


def results(rewards: Any, report: Report, tally: Tally, place: str) -> Iterator[TestResult]:
    """Keep the rewards as facts, and yield those that are an outcome."""
    if not isinstance(rewards, dict) or not rewards:
        raise Unreadable("no reward in it: no evidence", place)
    if len(rewards) > MAX_REWARDS:
        raise Unreadable(f"more rewards than MAX_REWARDS = {MAX_REWARDS:,}", place)
    facts: dict[str, float] = {}
    for name, value in rewards.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            raise Unreadable("a reward that is no finite number", f"{place}{shorten_id(name)}")
        facts[shorten_id(name)] = float(value)
    report.facts["rewards"] = facts
    for name, reward in facts.items():
        if reward in {0, 1}:
            outcome = Outcome.PASSED if reward else Outcome.FAILED
            yield tally.add(TestResult(id=name or "(unnamed reward)", outcome=outcome))
        else:
            remark = "a reward that is neither 0 nor 1 is no test's outcome, and is kept as a fact"
            tally.remarks.add(remark, f"{place}{name}")


def _is_finite(value: float) -> bool:
    return abs(value) < math.inf and abs(value) <= 1.7e308
