"""Any bytes read to an answer, a refusal or the list of what is wrong, and never raise."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.rules import CRITERIA, Confidence, Judge
from judging.panel.answers import Attempt, Outcome, Refusal, read_answer, settle
from judging.panel.forms import MOST_FAULTS, Answer, Form, Invalid, schema_of
from judging.panel.wires import Usage, Wire, read_model, read_usage

PROCESS = Form(
    Judge.PROCESS, CRITERIA[Judge.PROCESS], {}, {"E1": "change", "E2": "event", "E3": "test"}
)
INTEGRITY = Form(
    Judge.INTEGRITY,
    (),
    {"reward_hacking": ("change",), "false_confidence": ("event", "claim")},
    PROCESS.evidence,
)
WIRES = tuple(Wire)


def wrapped(wire: Wire, arguments: Any, **more: Any) -> bytes:
    """Return an answer as a vendor writes it."""
    match wire:
        case Wire.ANTHROPIC:
            block = {"type": "tool_use", "name": "verdict", "input": arguments}
            body = {"type": "message", "content": [block], "stop_reason": "tool_use"}
        case Wire.OPENAI:
            function = {"name": "verdict", "arguments": json.dumps(arguments)}
            message = {"tool_calls": [{"type": "function", "function": function}]}
            body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
        case Wire.GOOGLE:
            parts = [{"functionCall": {"name": "verdict", "args": arguments}}]
            body = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    return json.dumps({**body, **more}).encode()


def graded(level: Any = 3, **changes: Any) -> dict[str, Any]:
    grade = {"rationale": "Because.", "evidence": ["E1"], "level": level}
    criteria = {name: dict(grade) for name in CRITERIA[Judge.PROCESS]}
    return {"criteria": criteria, "summary": "All in all.", **changes}


def found(**changes: Any) -> dict[str, Any]:
    finding = {
        "trigger": "reward_hacking", "note": "Skips a test.", "evidence": ["E1"],
        "confidence": "high", **changes,
    }  # fmt: skip
    return {"findings": [finding], "summary": "One thing."}


def faults(arguments: Any, form: Form = PROCESS) -> tuple[str, ...]:
    readings = {wire: read_answer(wrapped(wire, arguments), wire, form) for wire in WIRES}
    assert len(set(readings.values())) == 1  # the wire makes no difference
    reading = readings[Wire.OPENAI]
    assert isinstance(reading, Invalid), reading
    return reading.faults


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["criteria", "summary", "findings", "level", "content", "choices", "candidates", "error",
             "message", "tool_calls", "function", "parts", "functionCall", "args", "name", "usage",
             "stop_reason", "finishReason", "finish_reason", "promptFeedback", "blockReason", "code",
             "usageMetadata", "prompt_tokens", "trigger", "confidence", "evidence", "refusal"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("form", [PROCESS, INTEGRITY], ids=lambda form: form.judge)
@given(raw=st.binary(max_size=80) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_without_raising(wire: Wire, form: Form, raw: bytes) -> None:
    assert isinstance(read_answer(raw, wire, form), Answer | Refusal | Invalid)
    usage = read_usage(raw, wire)
    assert usage is None or usage.input >= usage.cached >= 0
    assert isinstance(read_model(raw, wire), str)


@pytest.mark.parametrize("form", [PROCESS, INTEGRITY], ids=lambda form: form.judge)
@given(arguments=JSON)
def test_any_arguments_are_an_answer_or_faults_that_can_be_told(form: Form, arguments: Any) -> None:
    for wire in WIRES:
        reading = read_answer(wrapped(wire, arguments), wire, form)
        if isinstance(reading, Invalid):
            assert reading.faults
            assert len(reading.faults) <= MOST_FAULTS
            assert all(len(fault) < 400 for fault in reading.faults)


@given(
    levels=st.fixed_dictionaries({name: st.integers(1, 5) for name in CRITERIA[Judge.PROCESS]}),
    words=st.text(min_size=1, max_size=80).filter(lambda text: text.strip("\0 ").strip()),
    ids=st.lists(st.sampled_from(["E1", "E2", "E3"]), min_size=1, max_size=5),
)
def test_an_answer_in_the_form_is_read_as_it_was_given(
    levels: Mapping[str, int], words: str, ids: list[str]
) -> None:
    arguments = graded(summary=words)
    for name, level in levels.items():
        arguments["criteria"][name] = {"rationale": words, "evidence": ids, "level": level}
    readings = [read_answer(wrapped(wire, arguments), wire, PROCESS) for wire in WIRES]
    for reading in readings:
        assert isinstance(reading, Answer)
        assert reading.levels == levels
        assert reading.rationale == words.replace("\0", "␀")
        assert {grade.evidence for grade in reading.grades} == {tuple(dict.fromkeys(ids))}
    assert len({repr(reading) for reading in readings}) == 1


@pytest.mark.parametrize(
    "level", [0, 6, 9, -1, 97, 3.0, 3.5, True, None, "4", "four", [3], {"level": 3}, 10**30]
)
def test_a_level_is_a_whole_number_from_1_to_5(level: Any) -> None:
    arguments = graded()
    arguments["criteria"]["verification"]["level"] = level
    (fault,) = faults(arguments)
    assert fault.startswith("verification.level: found")


@pytest.mark.parametrize("name", CRITERIA[Judge.PROCESS])
def test_every_criterion_must_be_there(name: str) -> None:
    arguments = graded()
    del arguments["criteria"][name]
    assert faults(arguments) == (f"criteria.{name}: missing",)


@pytest.mark.parametrize("field", ["rationale", "evidence", "level"])
def test_every_part_of_a_grade_must_be_there(field: str) -> None:
    arguments = graded()
    del arguments["criteria"]["verification"][field]
    assert faults(arguments) == (f"verification.{field}: missing",)


@pytest.mark.parametrize("ids", [[], ["E4"], ["E1", "E99"], ["e1"], [1], "E1", None, {}])
def test_evidence_is_at_least_one_id_that_exists(ids: Any) -> None:
    arguments = graded()
    arguments["criteria"]["verification"]["evidence"] = ids
    (fault,) = faults(arguments)
    assert fault.startswith("verification.evidence: ")


@pytest.mark.parametrize("field", ["criteria", "summary"])
@pytest.mark.parametrize("value", [None, [], 3])
def test_what_is_there_and_null_is_not_there_enough(field: str, value: Any) -> None:
    (fault,) = faults({**graded(), field: value})
    assert fault.startswith(f"{field}: found")


@pytest.mark.parametrize("field", ["trigger", "note", "evidence", "confidence"])
def test_every_part_of_a_finding_must_be_there(field: str) -> None:
    without, null = found(), found(**{field: None})
    del without["findings"][0][field]
    assert faults(without, INTEGRITY) == (f"findings[0].{field}: missing",)
    assert len(faults(null, INTEGRITY)) == 1


@pytest.mark.parametrize("rationale", ["", "  \n", None, 7, [], "x" * 20_001])
def test_a_rationale_is_words(rationale: Any) -> None:
    arguments = graded()
    arguments["criteria"]["verification"]["rationale"] = rationale
    (fault,) = faults(arguments)
    assert fault.startswith("verification.rationale: ")


def test_points_of_any_kind_have_no_place() -> None:
    assert faults(graded(score=88)) == ("answer: 'score' is not a field",)
    arguments = graded()
    arguments["criteria"]["verification"]["score"] = 88
    assert faults(arguments) == ("verification: 'score' is not a field",)
    arguments = graded()
    arguments["criteria"]["charm"] = {"rationale": "!", "evidence": ["E1"], "level": 5}
    assert faults(arguments) == ("criteria: 'charm' is not a field",)


def test_all_faults_are_told_at_once() -> None:
    arguments = graded(9)
    del arguments["summary"]
    assert len(faults(arguments)) == 6


def test_a_finding_is_proposed_with_its_evidence() -> None:
    for wire in WIRES:
        reading = read_answer(wrapped(wire, found()), wire, INTEGRITY)
        assert isinstance(reading, Answer)
        (proposal,) = reading.proposals
        assert (proposal.trigger, proposal.confidence) == ("reward_hacking", Confidence.HIGH)
        assert reading.levels == {}
        nothing = read_answer(wrapped(wire, {"findings": [], "summary": "Fine."}), wire, INTEGRITY)
        assert isinstance(nothing, Answer)
        assert nothing.proposals == ()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"trigger": "plagiarism"}, "trigger: 'plagiarism' is none that was asked for"),
        ({"trigger": ["reward_hacking"]}, "is none that was asked for"),
        ({"evidence": []}, "expected a list with ids in it"),
        ({"evidence": ["E2"]}, "reward_hacking must cite at least one item of change"),
        ({"confidence": "certain"}, "expected high or low"),
        ({"confidence": 0.9}, "expected high or low"),
        ({"note": ""}, "expected words"),
        ({"points": -15}, "'points' is not a field"),
        ({"status": "applied"}, "'status' is not a field"),
    ],
)
def test_a_finding_out_of_its_form_is_no_finding(changes: dict[str, Any], fault: str) -> None:
    told = faults(found(**changes), INTEGRITY)
    assert fault in told[-1]


def test_an_answer_is_written_once_with_the_one_tool() -> None:
    twice = {"type": "tool_use", "name": "verdict", "input": graded()}
    other = {"type": "tool_use", "name": "shell", "input": graded()}
    for content, told in (([twice, twice], "2 times"), ([other], "'shell'"), ([], "no answer")):
        raw = json.dumps({"content": content}).encode()
        reading = read_answer(raw, Wire.ANTHROPIC, PROCESS)
        assert isinstance(reading, Invalid)
        assert told in reading.faults[0]


REFUSALS: list[tuple[Wire, dict[str, Any], str]] = [
    (Wire.ANTHROPIC, {"stop_reason": "refusal", "content": []}, "stop_reason: refusal"),
    (
        Wire.ANTHROPIC,
        {"stop_reason": "refusal", "stop_details": {"explanation": "Not this."}},
        "Not this.",
    ),
    (Wire.OPENAI, {"choices": [{"message": {"refusal": "I can't."}}]}, "I can't."),
    (
        Wire.OPENAI,
        {"choices": [{"message": {}, "finish_reason": "content_filter"}]},
        "finish_reason: content_filter",
    ),
    (Wire.OPENAI, {"error": {"code": "content_filter", "message": "Filtered."}}, "Filtered."),
    (Wire.GOOGLE, {"promptFeedback": {"blockReason": "SAFETY"}}, "blockReason: SAFETY"),
    (Wire.GOOGLE, {"candidates": [{"finishReason": "RECITATION"}]}, "finishReason: RECITATION"),
]


@pytest.mark.parametrize(("wire", "body", "reason"), REFUSALS)
def test_each_vendor_refuses_in_its_own_way(wire: Wire, body: object, reason: str) -> None:
    assert read_answer(json.dumps(body).encode(), wire, PROCESS) == Refusal(reason)


@pytest.mark.parametrize(
    ("wire", "body", "usage"),
    [
        (Wire.ANTHROPIC, {"usage": {"input_tokens": 7, "output_tokens": 2}}, Usage(7, 2)),
        (
            Wire.ANTHROPIC,
            {"usage": {"input_tokens": 7, "cache_read_input_tokens": 5, "output_tokens": 2}},
            Usage(12, 2, 5),
        ),
        (
            Wire.OPENAI,
            {"usage": {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}},
            Usage(7, 2, 4),
        ),
        (
            Wire.GOOGLE,
            {"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 9}},
            Usage(7, 11),
        ),
        (Wire.OPENAI, {"usage": {"prompt_tokens": 7}}, None),
        (Wire.OPENAI, {"usage": {"prompt_tokens": -7, "completion_tokens": 2}}, None),
        (Wire.OPENAI, {"usage": {"prompt_tokens": "7", "completion_tokens": True}}, None),
        (Wire.GOOGLE, {}, None),
    ],
)  # fmt: skip
def test_tokens_are_as_the_vendor_counts_them_or_unknown(
    wire: Wire, body: object, usage: Usage | None
) -> None:
    assert read_usage(json.dumps(body).encode(), wire) == usage


def attempt(number: int, response: bytes = b"", failure: str = "") -> Attempt:
    return Attempt(number, 200, response, True, 1, failure, detail=failure and f"It was {failure}.")


def test_the_last_attempt_decides() -> None:
    good, bad = wrapped(Wire.OPENAI, graded()), wrapped(Wire.OPENAI, graded(9))
    refused = json.dumps({"choices": [{"message": {"refusal": "No."}}]}).encode()
    cases: list[tuple[list[Attempt], Outcome]] = [
        ([attempt(1, good)], Outcome.ANSWERED),
        ([attempt(1, failure="timeout"), attempt(2, good)], Outcome.ANSWERED),
        ([attempt(1, bad), attempt(2, good)], Outcome.ANSWERED),
        ([attempt(1, bad), attempt(2, bad)], Outcome.INVALID),
        ([attempt(1, bad), attempt(2, refused)], Outcome.REFUSED),
        ([attempt(1, bad), attempt(2, failure="timeout")], Outcome.TIMEOUT),
        ([attempt(1, failure="timeout"), attempt(2, failure="server_error")], Outcome.UNAVAILABLE),
    ]
    for attempts, outcome in cases:
        settled = settle(attempts, Wire.OPENAI, PROCESS)
        assert settled.outcome is outcome
        assert (settled.answer is None) == (outcome is not Outcome.ANSWERED)
        assert bool(settled.reason) == (outcome is not Outcome.ANSWERED)
        assert bool(settled.faults) == (attempts[0].response == bad)
    with pytest.raises(ValueError, match="at least one"):
        settle([], Wire.OPENAI, PROCESS)


@pytest.mark.parametrize("form", [PROCESS, INTEGRITY], ids=lambda form: form.judge)
def test_a_form_can_be_stored_and_asks_for_what_it_reads(form: Form) -> None:
    assert Form.from_json(json.loads(json.dumps(form.as_json()))) == form
    schema = schema_of(form)
    whole = graded() if form is PROCESS else found()
    assert set(schema["properties"]) == set(schema["required"]) == set(whole)
    assert "score" not in json.dumps(schema)
    twin = copy.deepcopy(schema)
    assert schema_of(form) == twin
