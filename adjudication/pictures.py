"""The leads' pictures, as Plotly takes them. Each has its table on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjudication.figures import ReviewerRow, SeatRow, Week

MOST_REVIEWERS = 30  # bars; the table has everybody

Figure = dict[str, Any]


def of_time(weeks: Sequence[Week]) -> Figure:
    """Draw hours from opening to ruling by week: the median, and what nine in ten kept within."""
    starts = [week.starts.isoformat() for week in weeks]

    def line(name: str, hours: list[float], colour: str, dash: str) -> Figure:
        return {
            "type": "scatter", "mode": "lines+markers", "name": name, "x": starts, "y": hours,
            "line": {"color": colour, "dash": dash}, "marker": {"color": colour},
        }  # fmt: skip

    return {
        "data": [
            line("Median", [_hours(week.median) for week in weeks], "--pen", "solid"),
            line("Nine in ten within", [_hours(week.p90) for week in weeks], "--warn", "dot"),
        ],
        "layout": {
            "xaxis": {"title": {"text": "Week from"}, "type": "category"},
            "yaxis": {"title": {"text": "Hours"}, "rangemode": "tozero"},
        },
    }


def of_load(reviewers: Sequence[ReviewerRow]) -> Figure:
    shown = reviewers[:MOST_REVIEWERS]
    names = [row.reviewer for row in shown]
    return {
        "data": [
            _bars("Rulings in force", names, [row.rulings for row in shown], "--pen"),
            _bars("Held now", names, [row.held for row in shown], "--pencil", is_hollow=True),
        ],
        "layout": {"barmode": "group", "yaxis": {"title": {"text": "Cases"}}},
    }


def of_seats(seats: Sequence[SeatRow]) -> Figure:
    names = [row.seat for row in seats]
    return {
        "data": [
            _bars("Discarded", names, [row.discarded for row in seats], "--bad"),
            _bars("Upheld", names, [row.upheld for row in seats], "--good", is_hollow=True),
            _bars("Adopted", names, [row.adopted for row in seats], "--pen"),
        ],
        "layout": {"barmode": "group", "yaxis": {"title": {"text": "Votes"}}},
    }


def _bars(name: str, x: list[str], y: list[int], colour: str, *, is_hollow: bool = False) -> Figure:
    """Draw bars with their figures, full or hollow: colour alone does not tell them apart."""
    fill = "--paper" if is_hollow else colour
    marker = {"color": fill, "line": {"color": colour, "width": 2}}
    return {
        "type": "bar", "name": name, "x": x, "y": y, "marker": marker,
        "text": [str(value) for value in y], "textposition": "outside", "cliponaxis": False,
    }  # fmt: skip


def _hours(length: Any) -> float:
    return round(length.total_seconds() / 3600, 2)
