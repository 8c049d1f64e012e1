"""What a page shows as a file: the same rows in the same columns, as CSV or JSON, streamed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import orjson
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from bouts.csv_stream import BLOCK, CONTENT_TYPE, csv_blocks
from bouts.models import Match
from judging.models import Step
from judging.scoring.policy import CURRENT
from judging.sight import privately

KINDS = {"csv": CONTENT_TYPE, "json": "application/json"}
PROVISIONAL, FINAL = "provisional", "final"


@dataclass(frozen=True)
class Table:
    """Rows in columns, and what holds for all of them.

    Cells are text, numbers, scores as text, lists of text, or None where there is no answer.
    ``state`` says whether the figures can still change: a file outlives the page it came from.
    """

    name: str
    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    state: str
    policy: str = CURRENT.version
    facts: Mapping[str, Any] = field(default_factory=dict)


def state_of(matches: QuerySet[Match], *, is_settled: bool) -> str:
    """Say whether the figures of some matches can still change.

    They can while one of them is judged, whatever its scorecards say until then.
    """
    is_awaited = Step.objects.awaited().filter(bundle__match__in=matches).exists()
    return FINAL if is_settled and not is_awaited else PROVISIONAL


def answer(table: Table, kind: str) -> StreamingHttpResponse:
    """Send a table as a file of a kind of `KINDS`."""
    parts = _as_csv(table) if kind == "csv" else _as_json(table)
    response = StreamingHttpResponse(parts, content_type=KINDS[kind])
    response.headers["Content-Disposition"] = f'attachment; filename="{table.name}.{kind}"'
    privately(response)
    return response


def _as_csv(table: Table) -> Iterator[str]:
    """Return CSV, policy and state in every row: a line above the columns breaks readers."""
    head = [*table.columns, "policy", "state"]
    rows = ([*row, table.policy, table.state] for row in table.rows)
    return csv_blocks(chain([head], rows))


def _as_json(table: Table) -> Iterator[bytes]:
    head = orjson.dumps(
        {"policy": table.policy, "state": table.state, **table.facts, "columns": table.columns}
    )
    yield head[:-1] + b',"rows":['
    block, separator = bytearray(), b""
    for number, row in enumerate(table.rows, start=1):
        cells = dict(zip(table.columns, row, strict=True))
        block += separator + orjson.dumps(cells, default=str)
        separator = b","
        if number % BLOCK == 0:
            yield bytes(block)
            block.clear()
    yield bytes(block) + b"]}"


PLACES = ("page", "before", "after")  # in a list; a file holds all of it


def addresses(request: HttpRequest, **more: str) -> dict[str, str]:
    """Return where the page of a request is to be had as a file, with its filters, by kind.

    ``more`` is asked for beside them.
    """
    asked = request.GET.copy()
    for name in PLACES:
        asked.pop(name, None)
    asked.update(more)
    query = f"?{asked.urlencode()}" if asked else ""
    return {kind: f"{request.path.removesuffix('/')}.{kind}{query}" for kind in KINDS}
