"""The queue as a table of plain values: the same columns in the CSV as on the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.conf import settings

from adjudication.queue import Row
from bouts.models import User

COLUMNS = (
    "case", "reason", "blocking", "stakes", "challenge", "challenge_version", "state",
    "opened_at", "target_at", "limit_at", "closed_at", "closed_reason", "holders",
)  # fmt: skip
FOR_LEADS = ("rule", "spread")


def columns_for(user: User) -> tuple[str, ...]:
    return COLUMNS + FOR_LEADS if user.is_lead else COLUMNS


def lines_of(rows: Iterable[Row], user: User) -> Iterator[list[object]]:
    for row in rows:
        case = row.case
        line: list[object] = [
            str(case),
            case.reason,
            "yes" if case.blocking else "no",
            case.stakes,
            case.challenge.slug,
            case.bundle.challenge_version.number,
            row.state.value,
            case.opened_at.isoformat(),
            (case.opened_at + settings.CASE_TARGET).isoformat(),
            (case.opened_at + settings.CASE_LIMIT).isoformat(),
            case.closed_at.isoformat() if case.closed_at else "",
            case.closed_reason,
            " ".join(claim.reviewer.username for claim in row.claims),
        ]
        yield [*line, row.rule, row.spread] if user.is_lead else line
