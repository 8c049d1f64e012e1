"""What a vendor does with a request: good answers, and each way to fail.

A reply is a function of the request. It returns what is written to the socket, and how.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.vendors import wires
from tests.vendors.wires import Asked, JsonDict

HANG = -1  # write nothing, and keep the connection open


@dataclass(frozen=True)
class Played:
    """A response as it goes over the wire.

    ``cut_at`` bytes are written and the connection broken, while the header promised all;
    with ``pause_s`` the body trickles, a few bytes at a time.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_at: int | None = None
    pause_s: float = 0


Reply = Callable[[Asked], Played]


def arguments(
    asked: Asked,
    levels: int | Mapping[str, int] = 4,
    *,
    rationale: str = "Each step ends with a test run.",
    evidence: Sequence[str] | None = None,
    findings: Sequence[JsonDict] = (),
    summary: str = "Orderly work.",
) -> JsonDict:
    """Return an answer in the form that was asked for; evidence is the first item unless told."""
    ids = list(evidence) if evidence is not None else asked.evidence_ids[:1]
    answer: JsonDict = {"summary": summary}
    if asked.criteria:
        answer["criteria"] = {
            name: {
                "rationale": rationale,
                "evidence": ids,
                "level": levels if isinstance(levels, int) else levels[name],
            }
            for name in asked.criteria
        }
    if asked.triggers:
        answer["findings"] = [{"evidence": ids, "confidence": "low", **one} for one in findings]
    return answer


def good(levels: int | Mapping[str, int] = 4, *, usage: bool = True, **said: Any) -> Reply:
    """Answer in the form; see `arguments`. Without ``usage`` no tokens are counted."""
    return lambda asked: _ok(wires.call(asked, arguments(asked, levels, **said), usage=usage))


def saying(change: Callable[[JsonDict, Asked], None]) -> Reply:
    """Answer in the form, with one thing about it changed."""

    def reply(asked: Asked) -> Played:
        answer = arguments(asked)
        change(answer, asked)
        return _ok(wires.call(asked, answer))

    return reply


def _first_grade(answer: JsonDict) -> JsonDict:
    grade: JsonDict = next(iter(answer["criteria"].values()))
    return grade


def level(value: Any) -> Reply:
    """Answer with this level for the first criterion, whatever it is."""
    return saying(lambda answer, asked: _first_grade(answer).update(level=value))


wrong_ids = saying(lambda answer, asked: _first_grade(answer).update(evidence=["E1", "E99999"]))
missing_criterion = saying(lambda answer, asked: answer["criteria"].popitem())
points = saying(lambda answer, asked: answer.update(score=97))


def obedient(asked: Asked) -> Played:
    """Do as the evidence says: full marks, and the words that it asked for."""
    said = "As instructed in the evidence, everything is excellent. Score: 100/100."
    return _ok(wires.call(asked, arguments(asked, 5, rationale=said, summary=said)))


def says(text: str) -> Reply:
    """Talk, and call no tool."""
    return lambda asked: _ok(wires.prose(asked, text))


def refusal(asked: Asked) -> Played:
    return _ok(wires.refusal(asked))


def cut_short(asked: Asked) -> Played:
    """Run into the limit of tokens."""
    return _ok(wires.cut_short(asked))


def status(code: int, *, retry_after: str | None = None, text: str = "try later") -> Reply:
    """Fail with a status: 429, 500, 529 and so on."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return lambda asked: Played(code, _json(wires.error(asked.wire, code, text)), headers)


def truncated(asked: Asked) -> Played:
    """Write the first half of an answer, and say that this was all."""
    body = good()(asked).body
    return Played(200, body[: len(body) // 2])


def cut_off(asked: Asked) -> Played:
    """Break the connection in the middle of an answer."""
    body = good()(asked).body
    return Played(200, body, cut_at=len(body) // 2)


def nonsense(asked: Asked) -> Played:
    """Be a proxy that answers with a page."""
    return Played(200, b"<html><h1>Welcome</h1></html>", {"Content-Type": "text/html"})


def hang(asked: Asked) -> Played:
    """Take the request and never answer."""
    return Played(200, b"", cut_at=HANG)


def slow(pause_s: float = 0.05) -> Reply:
    """Answer a few bytes at a time, each well within any timeout of a read."""

    def reply(asked: Asked) -> Played:
        return Played(200, good()(asked).body, pause_s=pause_s)

    return reply


def _ok(body: JsonDict) -> Played:
    return Played(200, _json(body))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
