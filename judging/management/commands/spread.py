"""Print how far matches of one base model lie apart, by all judges and by Objective alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from judging.spread import Row, Spread, rows


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="not the sample matches alone")

    def handle(self, *, all: bool, **options: Any) -> None:
        found = list(rows(samples_only=not all))
        self.stdout.write("\n".join(_table(found)) if found else "no two matches of one base model")


def _table(found: list[Row]) -> Iterator[str]:
    yield (
        f"{'challenge':<24}{'base model':<14}{'matches':>8}"
        f"{'five judges':>24}{'Objective alone':>24}{'distinct':>10}"
    )
    for row in found:
        distinct = f"{row.total.different}:{row.objective.different}"
        yield (
            f"{row.challenge:<24}{row.base_model:<14}{row.matches:>8}"
            f"{_told(row.total):>24}{_told(row.objective):>24}{distinct:>10}"
        )
    yield "Points from the lowest to the highest, ± standard deviation; distinct scores of each."


def _told(spread: Spread) -> str:
    return f"{float(spread.lowest):.2f}–{float(spread.highest):.2f} ± {spread.deviation:.2f}"
