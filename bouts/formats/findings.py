"""What readers of scans count alike, and which of their findings are critical.

*Critical* is what SCORING.md, 2 calls so, and a reader decides it by the means that its
scanner has. Critical ones are counted once by rule, path and line of code.
"""

from __future__ import annotations

import re
from collections import Counter

from bouts.formats.remarks import Remarks
from bouts.formats.types import Report, ScanFinding, Unreadable

MAX_RESULTS = 500_000
MESSAGE_LIMIT = 4_000  # characters
SNIPPET_LIMIT = 2_000

CRITICAL = "CRITICAL"  # a scanner's own word
HIGH = "HIGH"

# The words that scanners have for a severity, and the level of SARIF that each stands for.
LEVELS = {
    CRITICAL: "error",
    HIGH: "error",
    "ERROR": "error",
    "MEDIUM": "warning",
    "WARNING": "warning",
    "LOW": "note",
    "INFO": "note",
}

_SPACE = re.compile(r"\s+")


class ScanTally:
    """Counts the results of one scan and writes the report when all have been yielded."""

    def __init__(self, report: Report) -> None:
        self.remarks = Remarks()
        self._report = report
        self._counts: Counter[str] = Counter(results=0, live=0, suppressed=0, critical=0)
        self._critical: set[int] = set()  # hashes of rule, path and line of code

    @property
    def results(self) -> int:
        return self._counts["results"]

    def see(self, pointer: str) -> None:
        """Count a result, whatever becomes of it."""
        self._counts["results"] += 1
        if self._counts["results"] > MAX_RESULTS:
            raise Unreadable(f"more results than MAX_RESULTS = {MAX_RESULTS:,}", pointer)

    def drop(self, why: str) -> None:
        """Count a result that is no live finding: ``suppressed``, ``no_defect``, ``absent``."""
        self._counts[why] += 1

    def add(self, finding: ScanFinding) -> ScanFinding:
        """Count a live finding and give it back."""
        self._counts["live"] += 1
        if finding.critical:
            code = _SPACE.sub(" ", finding.snippet).strip() or finding.line
            self._critical.add(hash((finding.rule, finding.path, code)))
        return finding

    def finish(self, **counts: int) -> None:
        self._counts["critical"] = len(self._critical)
        self._report.counts.update({**counts, **self._counts})
        self.remarks.write(self._report)
