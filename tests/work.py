"""How much a call does, counted: the same on every machine, where its seconds are not."""

from __future__ import annotations

import cProfile
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def calls(work: Callable[[], object]) -> int:
    """Return how many functions are called by a call, those written in C among them."""
    profile = cProfile.Profile()
    with profile:
        work()
    return sum(entry.callcount for entry in profile.getstats())


def lines(work: Callable[[], object]) -> int:
    """Return how many lines of Python a call goes through: a loop that calls nothing is seen too."""
    count = 0

    def count_lines(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return count_lines

    before = sys.gettrace()
    sys.settrace(count_lines)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
