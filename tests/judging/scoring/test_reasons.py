"""Every reason has words, and those that hide evidence never pay."""

from __future__ import annotations

import pytest

from judging.scoring.reasons import Reason


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_sentence_for_people(reason: Reason) -> None:
    assert reason.sentence
    assert reason.sentence[-1] != "."


@pytest.mark.parametrize("code", ["no_errors", "no_contradictions", "too_few", "not_applicable"])
def test_what_lies_in_the_run_or_the_challenge_is_not_missing(code: str) -> None:
    assert not Reason(code).is_missing


@pytest.mark.parametrize(
    "code",
    [
        "no_telemetry",
        "unreadable",
        "no_clock",
        "degraded",
        "no_content",
        "tests_unreadable",
        "no_model",
        "invalid",
        "no_panel",
        "waiting",
    ],
)
def test_what_could_have_been_there_is_missing(code: str) -> None:
    assert Reason(code).is_missing
