"""One line of the benchmark: our figure, the floor beside it, and the goal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """``floor`` None compares the figure itself with the goal, else the ratio to the floor.

    Without a goal it is only told.
    """

    what: str
    ours: float
    floor: float | None
    beside: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def ratio(self) -> float:
        return self.ours if self.floor is None else self.ours / self.floor

    @property
    def is_met(self) -> bool:
        return (self.at_least is None or self.ratio >= self.at_least) and (
            self.at_most is None or self.ratio <= self.at_most
        )

    def __str__(self) -> str:
        goal = met = ""
        if self.at_least is not None or self.at_most is not None:
            goal = f"≥ {self.at_least:g}" if self.at_least is not None else f"≤ {self.at_most:g}"
            met = "met" if self.is_met else "missed"
        floor = "" if self.floor is None else f"{self.floor:,.1f}"
        ratio = "" if self.floor is None else f"{self.ratio:.2f}"
        return f"{self.what:<38}{self.ours:>12,.1f}{floor:>12}{ratio:>8}  {goal:<10}{met:<8}{self.beside}"
