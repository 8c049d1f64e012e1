"""Harbor's rewards: in a file of their own, and in a trial's result."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.harbor_reward import HarborRewardReader
from bouts.formats.harbor_trial import HarborTrialReader
from bouts.formats.sniff import find_reader
from bouts.formats.types import Kind, Outcome, TestResult, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read

NO_OUTCOME = "neither 0 nor 1 is no test's outcome"


def outcomes(document: str) -> dict[str, Outcome]:
    found: list[TestResult] = read(HarborRewardReader(), document)[0]
    return {result.id: result.outcome for result in found}


def test_a_reward_of_exactly_0_or_1_is_an_outcome_and_a_fraction_is_none() -> None:
    found, report = read(HarborRewardReader(), FIXTURES / "reward.json")
    assert [(result.id, result.outcome) for result in found] == [
        ("builds", Outcome.PASSED),
        ("passes", Outcome.FAILED),
    ]
    assert report.facts["rewards"] == {"reward": 0.5, "builds": 1.0, "passes": 0.0}
    assert f"{NO_OUTCOME}, and is kept as a fact [/reward]" in notes(report)


@pytest.mark.parametrize("reward", ["0.999999", "1.0001", "-1", "2", "1e-300"])
def test_a_file_of_fractions_has_no_test_and_invents_none(reward: str) -> None:
    for document in (reward, json.dumps({"reward": float(reward)})):
        found, report = read(HarborRewardReader(), document)
        assert found == []
        assert report.counts["cases"] == 0
        assert report.facts["rewards"] == {"reward": float(reward)}
        assert NO_OUTCOME in notes(report)


@pytest.mark.parametrize("written", ["1", "1.0\n", " 1e0 ", "+1.", "\ufeff1"])
def test_the_text_form_is_a_bare_number(written: str) -> None:
    if written.startswith("\ufeff"):  # which Harbor itself does not take either
        with pytest.raises(Unreadable):
            outcomes(written)
    else:
        assert outcomes(written) == {"reward": Outcome.PASSED}
        assert find_reader(Kind.TESTS, written.encode()) is not None


@pytest.mark.parametrize(
    "written",
    [
        *("nan", "inf", "-Infinity", "1e309", "1_0", "1.2.3", '{"reward": NaN}'),
        *('{"reward": 1e999}', '{"reward": true}', '{"a": 1, "b": false}'),
        *('{"reward": null}', '{"reward": "1"}', '{"reward": [1]}', '{"reward": {}}'),
    ],
)
def test_what_is_no_finite_number_is_refused_by_name(written: str) -> None:
    reader = find_reader(Kind.TESTS, written.encode())
    assert reader is not None
    with pytest.raises(Unreadable, match=r"no finite number|no number in JSON|not valid JSON"):
        read(reader, written)


@pytest.mark.parametrize("written", ["", " \n", "{}", "[]", "[1]", "null", "true", '"1"'])
def test_an_empty_reward_is_refused_and_never_none_passed(written: str) -> None:
    with pytest.raises(Unreadable, match=r"empty|no reward in it"):
        outcomes(written)


def test_a_number_of_rewards_is_refused_with_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bouts.formats.harbor_reward.MAX_REWARDS", 1)
    with pytest.raises(Unreadable, match="MAX_REWARDS = 1"):
        outcomes('{"a": 1, "b": 1}')


# A trial's result


def test_a_trials_rewards_are_read_as_a_reward_file_is() -> None:
    found, report = read(HarborTrialReader(), FIXTURES / "harbor-result.json")
    assert [(result.id, result.outcome) for result in found] == [
        ("reward", Outcome.PASSED),
        ("tests", Outcome.FAILED),
    ]
    assert report.facts["rewards"] == {"reward": 1.0, "tests": 0.0, "speed": 0.25}
    assert report.facts["task"] == "hello-world"
    assert f"{NO_OUTCOME}, and is kept as a fact [/verifier_result/rewards/speed]" in notes(report)
    assert "file:///room" not in json.dumps(report.facts)


def test_how_a_trial_ended_is_noted_beside_a_reward_that_counts() -> None:
    (result,), report = read(HarborTrialReader(), FIXTURES / "harbor-result-timeout.json")
    assert result.outcome is Outcome.FAILED
    assert "the trial ended in AgentTimeoutError [/exception_info]" in notes(report)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("harbor-result-unverified", "not measured: .* for it ended in VerifierTimeoutError"),
        ("harbor-result-invalid", "is not valid, for it ended in EnvironmentStartTimeoutError"),
    ],
)
def test_a_trial_without_a_reward_that_counts_is_unreadable(name: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(HarborTrialReader(), FIXTURES / f"{name}.json")


@pytest.mark.parametrize("rewards", [None, {}, [], 1, {"reward": True}, {"reward": "1"}])
def test_rewards_that_are_none_are_refused_in_a_trial_too(rewards: Any) -> None:
    document = {"task_name": "t", "trial_name": "t.1", "verifier_result": {"rewards": rewards}}
    with pytest.raises(Unreadable, match=r"gave no rewards|no reward in it|no finite number"):
        read(HarborTrialReader(), json.dumps(document))
