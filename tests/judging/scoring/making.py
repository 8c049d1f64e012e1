"""Events and other inputs for the tests of scoring: short to write, plain to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count, product

from hypothesis import settings
from hypothesis import strategies as st

from bouts.formats.types import Event, EventKind
from bouts.rules import Confidence, Judge
from judging.scoring.composite import JudgeScore
from judging.scoring.integrity import Finding, Status
from judging.scoring.policy import CURRENT, WEIGHED
from judging.scoring.reasons import Reason
from judging.scoring.telemetry import Recording, Telemetry, analyse

bounded = settings(max_examples=60, deadline=None)
"""For every property: enough to find what is wrong, and no clock on a busy machine."""

# Telemetry -------------------------------------------------------------------------------


def start(seq: int = 0, t: float | None = 0) -> Event:
    return Event(seq, EventKind.START, t)


def submit(seq: int, t: float | None) -> Event:
    return Event(seq, EventKind.SUBMIT, t)


def edit(
    seq: int,
    path: str | None = "a.py",
    before: str | None = None,
    after: str | None = None,
    *,
    t: float | None = None,
    call: str | None = None,
    ok: bool | None = None,
) -> Event:
    """An edit at ten seconds a step, where no time is given."""
    return Event(
        seq,
        EventKind.EDIT,
        10.0 * seq if t is None else t,
        path=path,
        before=before,
        after=after,
        call=call,
        ok=ok,
    )


def run(seq: int, outcomes: str, *, t: float | None = None, **more: object) -> Event:
    """A test run in which each letter is a test; one with `!` behind it fails."""
    results: dict[str, bool] = {}
    for letter in outcomes:
        if letter == "!":
            results[next(reversed(results))] = False
        else:
            results[letter] = True
    return Event(
        seq,
        EventKind.TEST,
        10.0 * seq if t is None else t,
        results=results,
        **more,  # type: ignore[arg-type]
    )


def command(seq: int, signature: str, ok: bool | None, **more: object) -> Event:
    return Event(
        seq,
        EventKind.RUN,
        10.0 * seq,
        signature=signature,
        ok=ok,
        **more,  # type: ignore[arg-type]
    )


def analysed(events: Sequence[Event], **known: object) -> Telemetry:
    return analyse(Recording(events, **known), CURRENT)  # type: ignore[arg-type]


CANONICAL = (
    start(),
    Event(1, EventKind.READ, 10),
    run(2, "T!U", t=30),
    edit(3, "a.py", "h0", "h1", t=60),
    run(4, "T!U!", t=90),
    edit(5, "a.py", "h1", "h0", t=130),
    edit(6, "b.py", "b0", "b1", t=150),
    run(7, "TU", t=180),
    edit(8, "c.py", "c0", "c1", t=210),
    run(9, "TU", t=240),
    submit(10, 300),
)
"""A failure at #4, answered at #5, repaired at #7: the stream of the shared vectors."""

# One draw an event, from all there is: drawing field by field takes most of a test's time.
_EDITS = [
    Event(0, EventKind.EDIT, path=path, before=before, after=after, call=call, ok=ok)
    for path in ("a", "b", "c", "d", None)
    for before in ("0", "1", None)
    for after in ("0", "1", "2", None)
    for call in (None, "c1", "c2")
    for ok in (None, False)
]
_OUTCOMES: list[dict[str, bool]] = [
    {test: passed for test, passed in zip("tuv", outcome, strict=True) if passed is not None}
    for outcome in product((True, False, None), repeat=3)
]
_RUNS = [
    Event(0, EventKind.TEST, results=results, infra=infra, signature=signature)
    for results in _OUTCOMES
    for infra in (False, False, True)
    for signature in (None, "pytest")
]
_UNNAMED = [
    Event(
        0, EventKind.TEST, results=results, passed=passed, failed=failed, signature="pytest", ok=ok
    )
    for results in (None, {}, {"t": False}, {"u": True})
    for passed, failed in ((None, None), (0, 0), (4, 0), (2, 1))
    for ok in (None, True, False)
]
_COMMANDS = [
    Event(0, EventKind.RUN, signature=signature, ok=ok, expected=expected)
    for signature in (None, "build", "lint")
    for ok in (None, True, False)
    for expected in (False, True)
]
_OTHERS = [Event(0, kind) for kind in EventKind]
_moments = st.sampled_from([None, 0, 35, 200, *["on time"] * 20])


@st.composite
def streams(draw: st.DrawFn, *, max_size: int = 30) -> list[Event]:
    """Streams of events in order, of every kind and with every gap."""
    kinds = [_EDITS, _EDITS, _RUNS, _RUNS, _UNNAMED, _COMMANDS, _OTHERS]
    drawn = draw(
        st.lists(
            st.tuples(st.one_of([st.sampled_from(kind) for kind in kinds]), _moments),
            max_size=max_size,
        )
    )
    return [
        replace(event, seq=seq, t=10.0 * seq if t == "on time" else t)  # type: ignore[arg-type]
        for seq, (event, t) in enumerate(drawn)
    ]


# Judges and findings ---------------------------------------------------------------------

scores = st.fractions(0, 100, max_denominator=1000)


def scored(**given: object) -> dict[Judge, JudgeScore]:
    """Scores of the weighed judges by name; a reason stands for no answer."""
    return {
        Judge(name): JudgeScore(None, value)
        if isinstance(value, Reason)
        else JudgeScore(Fraction(str(value)))
        for name, value in given.items()
    }


@st.composite
def judge_scores(draw: st.DrawFn) -> dict[Judge, JudgeScore]:
    """Any Objective score, and for each other judge a score, a reason, or nothing."""
    answers = {Judge.OBJECTIVE: JudgeScore(draw(scores))}
    for judge in WEIGHED[1:]:
        answer = draw(scores | st.sampled_from(Reason) | st.none())
        if isinstance(answer, Reason):
            answers[judge] = JudgeScore(None, answer)
        elif answer is not None:
            answers[judge] = JudgeScore(answer)
    return answers


_findings = st.builds(
    Finding,
    id=st.just(""),
    trigger=st.sampled_from(sorted(CURRENT.integrity.triggers)),
    status=st.sampled_from(Status),
    points=st.none() | st.integers(-12, 0),
    confidence=st.none() | st.sampled_from(Confidence),
    act=st.sampled_from([None, "x", "y", "z"]),
    is_confirmed=st.booleans(),
)


def numbered(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, each with an id of its own."""
    numbers = count(1)
    return [
        Finding(
            id=f"f{next(numbers):02}",
            trigger=finding.trigger,
            status=finding.status,
            points=finding.points,
            confidence=finding.confidence,
            act=finding.act,
            is_confirmed=finding.is_confirmed,
        )
        for finding in findings
    ]


def found(*triggers: str, **more: object) -> list[Finding]:
    """Applied findings of these triggers, each an act of its own."""
    return numbered([Finding("", trigger, **more) for trigger in triggers])  # type: ignore[arg-type]


finding_lists = st.lists(_findings, max_size=8).map(numbered)


@st.composite
def applied_penalties(draw: st.DrawFn) -> Finding:
    """An applied penalty whose id no other finding has."""
    penalties = [t.name for t in CURRENT.integrity.triggers.values() if not t.is_bonus]
    return Finding(
        id=draw(st.sampled_from(["a first", "z last"])),
        trigger=draw(st.sampled_from(penalties)),
        points=draw(st.none() | st.integers(-12, 0)),
        act=draw(st.sampled_from([None, "x", "y", "z"])),
    )


@st.composite
def weight_sets(draw: st.DrawFn) -> Mapping[Judge, Fraction]:
    """Any weights that a challenge may carry."""
    recovery = draw(st.integers(10, 15))
    process = draw(st.integers(15, 20))
    strategy = draw(st.integers(max(15, 45 - recovery - process), 20))
    rest = [process, strategy, recovery]
    return dict(zip(WEIGHED, map(Fraction, [100 - sum(rest), *rest]), strict=True))
