"""Process and Recovery on a match's files: which recording, which lists, which model half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from fractions import Fraction
from io import BytesIO
from typing import Any

import pytest

from bouts.bundles.manifest import ChallengeFile, VerdictEntry
from bouts.formats.types import Clock, Event, FileChange, Kind
from bouts.rules import CRITERIA, Judge
from judging.judges.base import Dossier, Opinion, Source
from judging.judges.process import ProcessJudge
from judging.judges.recovery import RecoveryJudge
from judging.judges.strategy import SeatAnswer
from judging.judges.telemetry import analysed
from judging.scoring.policy import CURRENT
from judging.scoring.reasons import Reason
from judging.scoring.telemetry import Telemetry
from tests.judging.scoring.making import CANONICAL, edit, run, start, submit

RECORDING = Source("run.json", Kind.TELEMETRY, clock=Clock.RELATIVE)
DIFF = Source("final.diff", Kind.DIFF)


def dossier(
    values: Mapping[str, Sequence[Any]],
    *sources: Source,
    verdicts: Sequence[Mapping[str, Any]] = (),
    starting_paths: frozenset[str] | None = None,
    **challenge: Any,
) -> Dossier:
    """A match of some sources, each with what its reader gave."""
    document = {"schema": "bouts.challenge/1", "slug": "a", "title": "A", "briefing": ""}
    return Dossier(
        spec=ChallengeFile.model_validate({**document, **challenge}),
        build=None,
        sources=sources,
        load=lambda path: values[path],
        opened=lambda path: nullcontext(BytesIO()),
        names=tuple,
        hidden_words=tuple,
        verdicts=tuple(map(VerdictEntry.model_validate, verdicts)),
        starting_paths=starting_paths,
    )


def telemetry_of(events: Sequence[Event], **known: Any) -> Telemetry:
    return analysed(dossier({"run.json": events}, RECORDING, **known), CURRENT)


# Which recording


def test_without_telemetry_it_is_missing_and_unreadable_is_not_the_same() -> None:
    assert analysed(dossier({}), CURRENT).absent is Reason.NO_TELEMETRY
    broken = Source("run.json", Kind.TELEMETRY, is_readable=False)
    assert analysed(dossier({}, broken), CURRENT).absent is Reason.UNREADABLE


def test_of_several_recordings_the_first_that_can_be_read_counts() -> None:
    broken = Source("broken.json", Kind.TELEMETRY, is_readable=False)
    other = Source("other.json", Kind.TELEMETRY, clock=Clock.RELATIVE)
    values = {"run.json": CANONICAL, "other.json": CANONICAL[:4]}
    told = analysed(dossier(values, broken, RECORDING, other), CURRENT)
    assert told.counts.code_changes == 4


@pytest.mark.parametrize(
    ("clock", "reason"),
    [
        (Clock.ZONED, None),
        (Clock.NAIVE, None),
        (Clock.RELATIVE, None),
        (Clock.NONE, Reason.NO_CLOCK),
        (None, Reason.NO_CLOCK),
    ],
)
def test_of_the_four_grades_of_a_clock_three_are_scored(
    clock: Clock | None, reason: Reason | None
) -> None:
    source = Source("run.json", Kind.TELEMETRY, clock=clock)
    told = analysed(dossier({"run.json": CANONICAL}, source), CURRENT)
    assert told.metrics["pivot_latency_s"].reason is reason
    assert told.metrics["verification_density"].value == Fraction(3, 4)


# What the challenge says


def listed(name: str, suite: str = "static", **more: Any) -> dict[str, Any]:
    return {"id": name, "suite": suite, **more}


@pytest.mark.parametrize(
    ("test", "contradictions", "errors"),
    [
        (listed("T", fails_at_start=True), 1, 0),  # seen at the start, and fails again
        (listed("T", fails_at_start=False), 1, 1),  # passed at the start, and broke
        (listed("T"), 0, 0),  # first seen here
        (listed("T", "hidden", fails_at_start=False), 0, 0),  # no agent can have seen it
    ],
)
def test_what_is_known_of_the_starting_tree_counts_as_seen(
    test: dict[str, Any], contradictions: int, errors: int
) -> None:
    counts = telemetry_of([start(), edit(1), run(2, "T!")], tests=[test]).counts
    assert (counts.contradictions, counts.error_episodes) == (contradictions, errors)


def test_only_listed_visible_tests_count_for_the_first_fix() -> None:
    """T is mended by the change at 40 s of 100, U before it at 20 s: U is on no list."""
    events = [
        start(), run(1, "T!U!"), edit(2), run(3, "T!U"), edit(4), run(5, "TU"), submit(6, 100),
    ]  # fmt: skip
    for tests, value in (
        ([listed("T")], Fraction(4, 10)),
        ([listed("T"), listed("U", "hidden")], Fraction(4, 10)),
        ([], Fraction(2, 10)),
    ):
        assert telemetry_of(events, tests=tests).metrics["first_fix_ratio"].value == value


@pytest.mark.parametrize(
    ("challenge", "dwell"),
    [
        ({}, Fraction(1, 5)),  # 60 s of the 300 that the run took
        ({"time_budget_s": 600}, Fraction(1, 5)),
        ({"time_budget_s": 600, "ratio_base": "budget"}, Fraction(1, 10)),
    ],
)
def test_the_ratios_are_of_the_budget_only_where_the_challenge_says_so(
    challenge: dict[str, Any], dwell: Fraction
) -> None:
    assert telemetry_of(CANONICAL, **challenge).metrics["dwell_ratio"].value == dwell


def test_scratch_files_are_no_code_where_tree_and_diff_are_known() -> None:
    values = {
        "run.json": [edit(1, "a.py"), edit(2, "new.py"), edit(3, "scratch.py")],
        "final.diff": [FileChange("new.py", None, "added", 1, 0)],
    }
    tree = frozenset({"a.py"})
    known = analysed(dossier(values, RECORDING, DIFF, starting_paths=tree), CURRENT)
    assert known.counts.code_changes == 2
    for sources in ((RECORDING,), (RECORDING, Source("final.diff", Kind.DIFF, is_readable=False))):
        told = analysed(dossier(values, *sources, starting_paths=tree), CURRENT)
        assert told.counts.code_changes == 3


# The model half

LEVELS = dict.fromkeys(CRITERIA[Judge.PROCESS], 3)  # 50 points


def process(
    asked: SeatAnswer | None = None, *verdicts: Mapping[str, Any], events: Sequence[Event] = ()
) -> Opinion:
    of = dossier({"run.json": events}, RECORDING, verdicts=verdicts)
    return ProcessJudge().judge(of, analysed(of, CURRENT), CURRENT, asked)


def test_an_uploaded_verdict_is_the_model_half_as_levels_or_as_one_score() -> None:
    for said in ({"levels": LEVELS}, {"score": 50}):
        opinion = process(None, {"judge": "process", "model": "m", **said})
        assert (opinion.score, opinion.source) == (50, "uploaded")
        assert opinion.detail["marks"] == ["rubric_alone"]


def test_both_halves_together_bear_no_mark() -> None:
    """The metric half of this stream is 84.90 in the shared vectors: (84.90 + 50) ÷ 2 = 67.45."""
    opinion = process(None, {"judge": "process", "model": "m", "score": 50}, events=CANONICAL)
    assert opinion.why == "½ × metrics 84.9 + ½ × model 50"
    assert round(float(opinion.score or 0), 2) == 67.45
    assert opinion.detail["marks"] == []
    assert process(events=CANONICAL).detail["marks"] == ["metrics_alone"]


def test_a_model_of_our_own_comes_before_what_was_uploaded() -> None:
    own = SeatAnswer("reader", "scored", levels=dict.fromkeys(LEVELS, 5), source="own")
    opinion = process(own, {"judge": "process", "model": "m", "score": 50})
    assert (opinion.score, opinion.source) == (100, "own")
    assert opinion.detail["uploaded"]["score"] == "50.00"


def test_one_of_our_own_that_refused_leaves_no_half_to_what_was_uploaded() -> None:
    own = SeatAnswer("reader", "refused", reason="I decline.", source="own")
    opinion = process(own, {"judge": "process", "model": "m", "score": 50})
    assert (opinion.score, opinion.reason) == (None, Reason.NO_TELEMETRY)


def test_recovery_of_whoever_never_tested_is_zero_whatever_was_uploaded() -> None:
    verdict = {"judge": "recovery", "model": "m", "score": 90}
    of = dossier({"run.json": [start(), edit(1), submit(2, 60)]}, RECORDING, verdicts=[verdict])
    opinion = RecoveryJudge().judge(of, analysed(of, CURRENT), CURRENT)
    assert (opinion.score, opinion.reason) == (0, Reason.UNVERIFIED)
    assert opinion.why == "No test was ever run: unverified"


def test_a_level_is_told_with_its_points() -> None:
    opinion = process(
        None, {"judge": "process", "model": "m", "levels": {**LEVELS, "verification": 5}}
    )
    points = {name: one["score"] for name, one in opinion.detail["criteria"].items()}
    assert points == {**dict.fromkeys(LEVELS, "50.00"), "verification": "100.00"}


def test_metrics_are_told_to_four_places_and_whole_seconds_as_they_are() -> None:
    """Of three changes one is verified; the failure at 30 s is answered 10 s later."""
    events = [start(), run(1, "T"), edit(2, "a"), run(3, "T!"), edit(4, "b"), edit(5, "b")]
    metrics = process(events=events).detail["metrics"]
    assert repr(metrics["pivot_latency_s"]["value"]) == "10"
    assert metrics["verification_density"]["value"] == 0.3333
    assert metrics["verification_density"]["score"] == "53.33"  # 80 × ⅓ ÷ ½


def test_criteria_without_a_model_say_so() -> None:
    criteria = process(events=CANONICAL).detail["criteria"]
    assert {one["reason"] for one in criteria.values()} == {"not evaluated: no model"}
