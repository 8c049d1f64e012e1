"""Error episodes: what worked and broke, until it worked again (SCORING.md, 3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class ErrorKind(StrEnum):
    TEST = "test"
    COMMAND = "command"


@dataclass(slots=True)
class ErrorEpisode:
    """A test or command that failed, from there until it passed: the recovery window.

    Times are seconds, None where the event has none; what is still open has no close.
    """

    kind: ErrorKind
    signature: str  # a test's id, or what identifies a command
    opened_seq: int
    opened_t: float | None
    closed_seq: int | None = None
    closed_t: float | None = None

    @property
    def is_open(self) -> bool:
        return self.closed_seq is None


class Errors:
    """All episodes so far, in order; one open at a time for each test and command.

    What failed before the first change opens none until it has passed: `before_change`.
    """

    def __init__(self, known_to_pass: Iterable[str]) -> None:
        self.all: list[ErrorEpisode] = []
        self._open: dict[tuple[ErrorKind, str], ErrorEpisode] = {}
        # A test opens an episode only if it has passed; a command also if it is new.
        self._passed_tests = set(known_to_pass)
        self._failed_at_start: set[str] = set()

    def test_failed(
        self, test: str, seq: int, t: float | None, *, before_change: bool, excused: bool
    ) -> None:
        if before_change:
            self._passed_tests.discard(test)
        elif test in self._passed_tests and not excused:
            self._begin(ErrorKind.TEST, test, seq, t)

    def test_passed(self, test: str, seq: int, t: float | None) -> None:
        self._passed_tests.add(test)
        self._end(ErrorKind.TEST, test, seq, t)

    def command_failed(
        self, command: str, seq: int, t: float | None, *, before_change: bool, excused: bool
    ) -> None:
        if before_change:
            self._failed_at_start.add(command)
        elif command not in self._failed_at_start and not excused:
            self._begin(ErrorKind.COMMAND, command, seq, t)

    def command_passed(self, command: str, seq: int, t: float | None) -> None:
        self._failed_at_start.discard(command)
        self._end(ErrorKind.COMMAND, command, seq, t)

    def _begin(self, kind: ErrorKind, signature: str, seq: int, t: float | None) -> None:
        if (kind, signature) not in self._open:
            episode = ErrorEpisode(kind, signature, opened_seq=seq, opened_t=t)
            self._open[kind, signature] = episode
            self.all.append(episode)

    def _end(self, kind: ErrorKind, signature: str, seq: int, t: float | None) -> None:
        episode = self._open.pop((kind, signature), None)
        if episode is not None:
            episode.closed_seq, episode.closed_t = seq, t
