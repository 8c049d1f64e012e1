"""Embedded trajectories of subagents, which a file has at its end and its steps name before.

They are laid aside on disk, so that a large one costs no memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from bouts.formats.telemetry.spool import Spool
from bouts.formats.types import Unreadable

MAX_SUBAGENTS = 10_000


class Subagents:
    """Takes the steps of each embedded trajectory, and gives them out once, by its id."""

    def __init__(self, spool: Spool) -> None:
        self._aside = spool
        # Of each trajectory, by its pointer: its steps' pointers and their numbers in the spool.
        self._steps: dict[str, list[tuple[str, int]]] = {}
        self._places: dict[str, str] = {}  # id to pointer
        self._named: set[str] = set()  # pointers

    def name(self, pointer: str, trajectory_id: Any) -> bool:
        """Take a trajectory's id; False where it is none, or another one's already."""
        if not isinstance(trajectory_id, str) or trajectory_id in self._places:
            return False
        self._places[trajectory_id] = pointer.rpartition("/")[0]
        return True

    def keep(self, pointer: str, step: Any) -> None:
        trajectory = pointer.rsplit("/", 2)[0]
        kept = self._steps.setdefault(trajectory, [])
        if len(self._steps) > MAX_SUBAGENTS:
            limit = f"MAX_SUBAGENTS = {MAX_SUBAGENTS:,}"
            raise Unreadable(f"more embedded trajectories than {limit}", pointer)
        try:
            data = orjson.dumps(step)
        except orjson.JSONEncodeError:
            raise Unreadable("a step is nested too deep", pointer) from None
        kept.append((pointer, self._aside.add(data)))

    def steps_of(self, trajectory_id: Any) -> Iterator[tuple[str, Any]] | None:
        """Return the steps of a trajectory with their pointers; None where there is none.

        A second time there is nothing more of it.
        """
        place = self._places.get(trajectory_id) if isinstance(trajectory_id, str) else None
        if place is None:
            return None
        kept = [] if place in self._named else self._steps.get(place, [])
        self._named.add(place)
        return ((pointer, orjson.loads(self._aside.get(number))) for pointer, number in kept)

    def unnamed(self) -> list[str]:
        """Return the pointers of the trajectories whose steps nobody has asked for."""
        return [place for place in self._steps if place not in self._named]
