"""An agent's totals over time, as a figure that Plotly draws. Its numbers stand in a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

# What static/js/charts.js puts in the place of these, by the colours of the page.
PEN, PENCIL = "--pen", "--pencil"


def form_figure(points: Sequence[tuple[datetime, str, str, bool]], zone: str) -> dict[str, Any]:
    """Return a figure of (when, total, match, whether it counts), in order of time.

    Times are drawn as clocks in their zone show them, since Plotly takes no notice of an offset;
    ``zone`` is its name, for the axis.
    """
    traces = []
    for counts, name, colour, symbol in (
        (True, "counts", PEN, "circle"),
        (False, "does not count", PENCIL, "circle-open"),
    ):
        some = [point for point in points if point[3] is counts]
        if some:
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers" if counts else "markers",
                    "name": name,
                    "x": [when.replace(tzinfo=None).isoformat() for when, _, _, _ in some],
                    "y": [float(total) for _, total, _, _ in some],
                    "text": [match for _, _, match, _ in some],
                    "hovertemplate": "%{text}: %{y:.2f}<extra></extra>",
                    "line": {"color": colour, "width": 2},
                    "marker": {"color": colour, "symbol": symbol, "size": 9},
                }
            )
    layout = {
        "yaxis": {"range": [0, 104], "tickvals": [0, 15, 35, 55, 75, 90, 100]},
        "xaxis": {
            "type": "date",
            "tickangle": 0,
            "nticks": 6,
            "title": {"text": f"Fought, {zone}"},
        },
    }
    return {"data": traces, "layout": layout}
