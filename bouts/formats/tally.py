"""What readers of test results count alike: outcomes, repeated ids, and a file's own numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from bouts.formats.remarks import Remarks
from bouts.formats.types import Outcome, Report, TestResult, Unreadable

MAX_CASES = 1_000_000
MAX_REMEMBERED_IDS = 200_000  # up to which repeated ids are noticed

MESSAGE_LIMIT = 2_000  # characters
LOG_LIMIT = 64 * 1024  # characters


class Tally:
    """Counts the results of one file and writes the report when they have all been yielded."""

    def __init__(self, report: Report) -> None:
        self.remarks = Remarks()
        self._report = report
        self._counts: Counter[str] = Counter()
        self._ids: set[int] = set()  # hashes of the ids seen

    @property
    def cases(self) -> int:
        return self._counts["cases"]

    def add(self, result: TestResult) -> TestResult:
        """Count a result and give it back."""
        self._counts["cases"] += 1
        if self._counts["cases"] > MAX_CASES:
            raise Unreadable(f"more test cases than MAX_CASES = {MAX_CASES:,}")
        self._counts[result.outcome] += 1
        self._counts["flaky"] += result.flaky
        key = hash(result.id)
        if key in self._ids:
            self._counts["repeated"] += 1
            place = f"test {result.id[:200]}"
            self.remarks.add("an id that occurred before in this file", place)
        elif len(self._ids) < MAX_REMEMBERED_IDS:
            self._ids.add(key)
        return result

    def compare(self, claimed: Mapping[str, int], found: Mapping[str, int], place: str) -> None:
        """Keep what the file says of its own tests, and note where it differs from them."""
        if claimed:
            self._report.facts["claimed"] = dict(claimed)
        wrong = [
            f"{name}={number:,} where there are {found.get(name, 0):,}"
            for name, number in claimed.items()
            if number != found.get(name, 0)
        ]
        if wrong:
            text = "the file's own numbers differ from its tests, which count: it says "
            self.remarks.add(text + ", ".join(wrong), place)

    def finish(self) -> None:
        self._report.counts.update({str(name): self._counts[name] for name in ("cases", *Outcome)})
        for name in ("flaky", "repeated"):
            if self._counts[name]:
                self._report.counts[name] = self._counts[name]
        if len(self._ids) == MAX_REMEMBERED_IDS:
            limit = f"MAX_REMEMBERED_IDS = {MAX_REMEMBERED_IDS:,}"
            self._report.note(f"repeated ids were looked for among the first {limit} only")
        self.remarks.write(self._report)


def whole_numbers(record: object, names: Mapping[str, str]) -> dict[str, int]:
    """Return the counts among a summary's fields, by the names that they go by here."""
    fields = record if isinstance(record, dict) else {}
    return {
        ours: value
        for theirs, ours in names.items()
        if type(value := fields.get(theirs)) is int and 0 <= value < 2**53
    }
