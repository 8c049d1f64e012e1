"""Steps that wait for what comes back: calls and results are records of their own."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.types import Event

MAX_WAITING = 1_000  # steps; the first of more goes without an answer


@dataclass(slots=True)
class Step:
    """Calls that were made in one go, or where there are none something that was said."""

    moment: Moment
    pointer: str
    calls: list[Call] = field(default_factory=list)
    by_user: bool = False
    open_calls: set[str] = field(default_factory=set)  # ids of calls without an answer


class WaitingRoom:
    """Lets steps out in the order in which they came, each once its calls are answered."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._steps: deque[Step] = deque()
        self._waiting: dict[str, tuple[Step, Call]] = {}
        self.unanswered = 0

    def add(self, step: Step) -> Iterator[Event]:
        """Take a step; a call is answered by its id, so that one without waits for nothing."""
        for call in step.calls:
            if call.id is not None and call.id not in self._waiting:
                step.open_calls.add(call.id)
                self._waiting[call.id] = step, call
        self._steps.append(step)
        return self._let_out(keep=MAX_WAITING)

    def answer(
        self, call_id: object, output: str, *extras: Mapping[str, Any]
    ) -> tuple[Step, Call] | None:
        """Give a waiting call what came back; None where no call of this id waits.

        The step stays in the room until `ready` lets it out.
        """
        waiting = self._waiting.pop(call_id, None) if isinstance(call_id, str) else None
        if waiting is None:
            return None
        step, call = waiting
        call.output = f"{call.output}\n{output}" if call.output else output
        call.extras += extras
        step.open_calls.discard(call_id)
        return waiting

    def ready(self) -> Iterator[Event]:
        """Yield the events of the steps that wait for nothing more."""
        return self._let_out(keep=MAX_WAITING)

    def rest(self) -> Iterator[Event]:
        """Yield the events of all steps that are left."""
        return self._let_out(keep=0)

    def _let_out(self, keep: int) -> Iterator[Event]:
        # Mostly nobody may leave yet: calls and results come by turns.
        if not self._steps or (self._steps[0].open_calls and len(self._steps) <= keep):
            return iter(())
        return self._leaving(keep)

    def _leaving(self, keep: int) -> Iterator[Event]:
        while self._steps and (not self._steps[0].open_calls or len(self._steps) > keep):
            step = self._steps.popleft()
            self.unanswered += len(step.open_calls)
            for call_id in step.open_calls:
                del self._waiting[call_id]
            if step.calls:
                yield from self._recorder.calls(step.calls, step.moment)
            else:
                yield self._recorder.message(step.moment, step.pointer, by_user=step.by_user)
