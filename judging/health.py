"""How the judges do that are no panel: what models were asked and what it cost, and how findings fared.

How the seats of the panel vote is in `judging.panel_health`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg, Count, Q

from judging import spending
from judging.models import Finding, ModelCall

OUTCOMES = ("answered", "refused", "timeout", "unavailable", "invalid")


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One judge, seat, model, template and rubric, with all calls since there are any."""

    judge: str
    seat: str
    model: str
    version: str
    calls: int
    outcomes: tuple[tuple[str, int], ...]
    spent: spending.Spent
    mean_latency_ms: float | None
    mean_attempts: float | None

    @property
    def answered(self) -> int:
        return dict(self.outcomes).get("answered", 0)

    @property
    def under_way(self) -> int:
        """The calls that have neither an answer nor been lost."""
        return self.calls - self.spent.lost - sum(count for _, count in self.outcomes)

    @property
    def silent_rate(self) -> Decimal | None:
        """The share of its finished calls that gave no verdict: refused, out of form, too late."""
        finished = sum(count for _, count in self.outcomes)
        return 1 - Decimal(self.answered) / finished if finished else None

    @property
    def spent_a_verdict(self) -> str:
        """What a verdict cost, calls that gave none paid by those that did; at least, where so."""
        if not self.answered:
            return ""
        least = spending.dollars(self.spent.least / self.answered)
        return f"≥ {least}" if self.spent.unknown else least


def seat_rows() -> Iterator[SeatRow]:
    """Count the calls, in two queries."""
    by = ("judge", "seat", "model", "template_version", "rubric_version")
    counts = {name: Count("pk", filter=Q(result__outcome=name)) for name in OUTCOMES}
    calls = ModelCall.objects.order_by(*by).values(*by)
    attempts = {
        tuple(row[name] for name in by): row["requests"] / row["calls"]
        for row in calls.exclude(result=None).annotate(
            requests=Count("result__attempts"), calls=Count("pk", distinct=True)
        )
    }
    rows = calls.annotate(mean_latency=Avg("result__latency_ms"), **counts, **_renamed_sums())
    for row in rows:
        yield SeatRow(
            judge=row["judge"],
            seat=row["seat"],
            model=row["model"],
            version=f"template {row['template_version']}, rubric {row['rubric_version']}",
            calls=row["sum_calls"],
            outcomes=tuple((name, row[name]) for name in OUTCOMES if row[name]),
            spent=spending.Spent(**{name: row[f"sum_{name}"] for name in spending.sums()}),
            mean_latency_ms=row["mean_latency"],
            mean_attempts=attempts.get(tuple(row[name] for name in by)),
        )


def _renamed_sums() -> dict[str, object]:
    return {f"sum_{name}": total for name, total in spending.sums().items()}


@dataclass(frozen=True, slots=True)
class FindingRow:
    """How findings of one trigger fared, by who found them. Only what is in force counts."""

    trigger: str
    source: str
    confirmed: int  # by a reviewer, as found or amended
    dismissed: int
    proposed: int  # nobody has decided yet
    proven: int  # applied by what a log in the bundle proves

    @property
    def source_text(self) -> str:
        return str(Finding(source=self.source).get_source_display())

    @property
    def precision(self) -> Decimal | None:
        """The share that reviewers confirmed of what they decided."""
        decided = self.confirmed + self.dismissed
        return Decimal(self.confirmed) / decided if decided else None


def finding_rows() -> list[FindingRow]:
    """Count the live findings of live bundles, in one query."""
    applied, by_person = Q(status=Finding.Status.APPLIED), Q(decided_by__isnull=False)
    rows = (
        Finding.objects.filter(is_live=True, bundle__is_live=True)
        .order_by("trigger", "source")
        .values("trigger", "source")
        .annotate(
            confirmed=Count("pk", filter=applied & by_person),
            dismissed=Count("pk", filter=Q(status=Finding.Status.DISMISSED)),
            proposed=Count("pk", filter=Q(status=Finding.Status.PROPOSED)),
            proven=Count("pk", filter=applied & ~by_person),
        )
    )
    return [FindingRow(**row) for row in rows]
