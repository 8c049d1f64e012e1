"""What readers of benchmarks count alike, and what a time is to them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable

from bouts.formats.fields import number
from bouts.formats.remarks import Remarks
from bouts.formats.text import shorten_id
from bouts.formats.types import Report, Sample, Unreadable

MAX_BENCHMARKS = 10_000
MAX_TIMINGS = 100_000  # of one benchmark that are kept; above, only its median is


class Sheet:
    """Takes the benchmarks of one file and writes the report when all have been yielded."""

    def __init__(self, report: Report) -> None:
        self.remarks = Remarks()
        self._report = report
        self._counts: Counter[str] = Counter(benchmarks=0, timings=0)
        self._names: Counter[str] = Counter()

    def timings(self, written: object, pointer: str, unit_s: float = 1.0) -> tuple[float, ...]:
        """Return raw timings in seconds: all of a list, or none where one of it is no time."""
        if not isinstance(written, list):
            return ()
        times = [number(each) for each in written]
        known = tuple(time * unit_s for time in times if time is not None)
        if len(known) < len(times):
            self.remarks.add("raw timings that are no numbers of seconds are left out", pointer)
            return ()
        return known

    def sample(
        self,
        name: str,
        pointer: str,
        *,
        median_s: float | None = None,
        samples_s: Iterable[float] = (),
        rounds: object = None,
        fullname: str | None = None,
    ) -> Sample | None:
        """Count a benchmark and give it back; None, with a remark, where it has no time.

        The median is that of the timings where it is not given. A benchmark's name may be
        empty, where its format keeps the name elsewhere.
        """
        kept = tuple(samples_s)
        if median_s is None and kept:
            median_s = statistics.median(kept)
        if median_s is None:
            self.remarks.add("a row without a usable median", pointer)
            return None
        if len(kept) > MAX_TIMINGS:
            limit = f"MAX_TIMINGS = {MAX_TIMINGS:,}"
            self.remarks.add(f"more raw timings than {limit} are left out", pointer)
            kept = ()
        sample = Sample(
            name=shorten_id(name),
            median_s=median_s,
            samples_s=kept,
            rounds=rounds if type(rounds) is int and 0 < rounds < 2**31 else None,
            fullname=shorten_id(fullname) if fullname else None,
        )
        self._count(sample)
        return sample

    def _count(self, sample: Sample) -> None:
        self._counts["benchmarks"] += 1
        self._counts["timings"] += len(sample.samples_s)
        self._names[sample.name] += 1
        if self._counts["benchmarks"] > MAX_BENCHMARKS:
            raise Unreadable(f"more benchmarks than MAX_BENCHMARKS = {MAX_BENCHMARKS:,}")
        if self._names[sample.name] == 2:
            self.remarks.add("a name that stands for several benchmarks", sample.name[:200])

    def finish(self, place: str, **counts: int) -> None:
        if not self._counts["benchmarks"]:
            raise Unreadable("no benchmark with a median in it", place)
        self._report.counts.update({**self._counts, **counts})
        self.remarks.write(self._report)
