"""SWE-bench's report of a whole run: which instances were resolved (FORMATS.md, 1).

Each instance is one result under its own id. A run of two generations is read: lists named
``*_ids`` (schema 2, of which late files tell infrastructure failures apart), and the lists of
2024, ``generated``, ``applied``, ``resolved`` and so on.

*Completed* is not *resolved*: the first only says that tests ran. An instance that was never
submitted, or that failed for the environment's sake, is skipped; one whose evaluation broke is
errored; one that was not resolved, or whose patch is empty, is failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, ClassVar, NamedTuple

from bouts.formats.documents import Document, top_keys
from bouts.formats.guard import guarded
from bouts.formats.tally import Tally, whole_numbers
from bouts.formats.text import shorten_id
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable

MAX_INSTANCES = 100_000


class _Rule(NamedTuple):
    """What it means for an instance to stand in a list."""

    list: str
    outcome: Outcome
    message: str = ""


# An instance that stands in several lists has the outcome of the first of these: the causes
# come before what only says "not resolved".
_RULES = (
    _Rule("resolved_ids", Outcome.PASSED),
    _Rule("infra_failure_ids", Outcome.SKIPPED, "not measured: the environment failed"),
    _Rule("empty_patch_ids", Outcome.FAILED, "the patch is empty"),
    _Rule("error_ids", Outcome.ERRORED, "the evaluation ended in an error"),
    _Rule("unresolved_ids", Outcome.FAILED, "not resolved"),
    _Rule("incomplete_ids", Outcome.SKIPPED, "not submitted"),
    # The reports of 2024.
    _Rule("resolved", Outcome.PASSED),
    _Rule("install_fail", Outcome.SKIPPED, "not measured: the environment was not installed"),
    _Rule("reset_failed", Outcome.SKIPPED, "not measured: the environment was not reset"),
    _Rule("no_generation", Outcome.FAILED, "there is no patch"),
    _Rule("no_apply", Outcome.FAILED, "the patch does not apply"),
    _Rule("test_timeout", Outcome.ERRORED, "the tests ran out of time"),
    _Rule("test_errored", Outcome.ERRORED, "the tests ended in an error"),
    _Rule("applied", Outcome.FAILED, "not resolved"),
    _Rule("with_logs", Outcome.FAILED, "not resolved"),
    _Rule("generated", Outcome.FAILED, "not resolved"),
)
_RANKS = {f"/{rule.list}/*": rank for rank, rule in enumerate(_RULES)}
_AMBIGUOUS = "/ambiguous_failure_ids/*"
_VERSION = "/schema_version"
_TOTALS = {
    f"/{name}_instances": f"{name}_ids"
    for name in ("resolved", "unresolved", "error", "empty_patch")
}


class SwebenchRunReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "swebench-run"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head).keys()
        is_old = {"generated", "resolved"} <= keys
        return is_old or {"completed_instances", "resolved_instances"} <= keys

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        tally = Tally(report)
        claimed: dict[str, int] = {}
        found: Counter[str] = Counter()
        ranks: dict[str, int] = {}  # of each instance
        patterns = (*_RANKS, _AMBIGUOUS, _VERSION, *_TOTALS)
        for pattern, pointer, value in Document(source, report).parts(*patterns):
            if pattern == _VERSION:
                report.format_version = str(value) if type(value) is int else None
            elif pattern in _TOTALS:
                claimed |= whole_numbers({pattern: value}, _TOTALS)
            elif not isinstance(value, str) or not value.strip():
                tally.remarks.add("an instance without a name", pointer)
            elif pattern == _AMBIGUOUS:
                remark = "a failure that may be the environment's counts all the same"
                tally.remarks.add(remark, pointer)
            else:
                name = shorten_id(value)
                found[_RULES[_RANKS[pattern]].list] += 1
                ranks[name] = min(ranks.get(name, len(_RULES)), _RANKS[pattern])
                if len(ranks) > MAX_INSTANCES:
                    limit = f"MAX_INSTANCES = {MAX_INSTANCES:,}"
                    raise Unreadable(f"more instances than {limit}", pointer)
        if not ranks:
            raise Unreadable("no instance in it: no evidence")
        for name, rank in ranks.items():
            rule = _RULES[rank]
            yield tally.add(TestResult(id=name, outcome=rule.outcome, message=rule.message))
        tally.compare(claimed, found, "/")
        tally.finish()
