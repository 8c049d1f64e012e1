"""Test vectors: our own, the shared ones where they are, and what is wrong with a bad file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from judging.scoring.policy import CURRENT
from judging.scoring.vectors import Malformed, Vector, load, mismatches

OWN = Path(__file__).parent / "vectors" / "telemetry_and_rules.json"
SHARED = Path(__file__).resolve().parents[4] / "shared" / "scoring-vectors.json"

Write = Callable[[object], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write something as JSON, or as it is where it is text, and give its path."""

    def writing(content: object) -> Path:
        path = tmp_path / "vectors.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return writing


def faults(path: Path) -> list[str]:
    with pytest.raises(Malformed) as malformed:
        load(path)
    return malformed.value.faults


def vector(kind: str, given: object, expected: object) -> Vector:
    return Vector("v", kind, given, expected)  # type: ignore[arg-type]


def lines(tested: Vector) -> list[str]:
    return [str(mismatch) for mismatch in mismatches(tested, CURRENT)]


@pytest.mark.parametrize("own", load(OWN).vectors, ids=lambda vector: vector.id)
def test_our_own_vectors_hold(own: Vector) -> None:
    assert lines(own) == []


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared")
def test_the_shared_vectors_hold() -> None:
    file = load(SHARED)
    assert len(file.vectors) >= 88
    assert {each.id: lines(each) for each in file.vectors if lines(each)} == {}


# What fails, and how it is told -----------------------------------------------------------


def test_a_field_that_differs_is_told_with_both_values() -> None:
    wrong = vector("panel", {"scores": [70, 75, 80]}, {"score": "74.00", "votes": 3})
    assert lines(wrong) == ['score expected "74.00" found "75.00"']


def test_a_score_is_compared_as_it_is_shown() -> None:
    assert lines(vector("panel", {"scores": [70, 75, 80]}, {"score": 75})) == [
        'score expected 75 found "75.00"'
    ]


def test_a_nested_field_has_its_path() -> None:
    wrong = vector("process", {"events": []}, {"metric_scores": {"dwell_ratio": "1.00"}})
    assert lines(wrong) == ['metric_scores.dwell_ratio expected "1.00" found null']


def test_a_field_that_no_output_has_is_found_as_nothing() -> None:
    assert lines(vector("panel", {"scores": []}, {"mood": None})) == [
        "mood expected null found nothing"
    ]


def test_true_is_not_1() -> None:
    assert lines(vector("panel", {"scores": [None]}, {"votes": False, "flagged": 1})) == [
        "votes expected false found 0",
        "flagged expected 1 found true",
    ]


@pytest.mark.parametrize(
    ("kind", "given", "field"),
    [
        ("panel", {"scores": [101]}, "scores.0"),
        ("panel", {"scores": ["many"]}, "scores.0"),
        ("panel", {"scores": [1, 2, 3, 4]}, "scores"),
        ("panel", {"scores": [], "seats": 3}, "seats"),
        ("objective", {"static": [{"severity": "dire", "runs": [1]}]}, "static.0.severity"),
        ("objective", {"static": [{"severity": "high", "runs": []}]}, "static.0.runs"),
        ("objective", {"crashes": -1}, "crashes"),
        ("integrity", {"findings": [{"trigger": "rudeness"}]}, "findings"),
        (
            "integrity",
            {"findings": [{"trigger": "plagiarism", "status": "?"}]},
            "findings.0.status",
        ),
        ("composite", {"weights": {"objective": 45}}, "weights.process"),
        ("curve", {"metric": "charm", "value": "1"}, "metric"),
        ("curve", {"metric": "dwell_ratio", "value": "-1"}, "value"),
        ("agreement", {"matrix": [[1], [1, 2]]}, "matrix"),
        ("telemetry", {"events": [{"seq": 0, "kind": "dance"}]}, "events.0.kind"),
        ("telemetry", {"events": [], "budget_s": 0}, "budget_s"),
        ("recovery", {"events": [], "levels": {"diagnosis": 9}}, "levels"),
    ],
)
def test_an_input_against_the_rules_fails_its_vector_and_names_the_field(
    kind: str, given: object, field: str
) -> None:
    assert field in [line.split(" ")[0] for line in lines(vector(kind, given, {}))]


def test_a_long_value_is_cut_in_its_line() -> None:
    (line,) = lines(vector("curve", {"metric": "x" * 10_000, "value": "1"}, {}))
    assert len(line) < 1000


# Malformed files --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "line 1: not JSON"),
        ('{"policy": "2026.1",\n "vectors": [}', "line 2: not JSON"),
        ('{"policy": "2026.1", "vectors": NaN}', "NaN is not a number"),
        ("[" * 100_000, "not JSON"),
        ("[]", "file expected"),
        ({"policy": "2026.1"}, 'vectors expected "Field required"'),
        ({"policy": "1999.9", "vectors": []}, "'1999.9' expected to be 2026.1"),
    ],
)
def test_a_file_of_the_wrong_shape_is_refused(write: Write, content: object, told: str) -> None:
    assert told in "\n".join(faults(write(content)))


def test_all_faults_of_a_file_are_told_at_once(write: Write) -> None:
    bad = [
        {"id": "a", "kind": "panel", "input": {}},
        {"id": "b", "kind": "tarot", "input": {}, "expected": {}},
        {"kind": "panel", "input": [], "expected": {}},
    ]
    told = "\n".join(faults(write({"policy": "2026.1", "vectors": bad})))
    for place in ("vectors.0.expected", "vectors.1.kind", "vectors.2.id", "vectors.2.input"):
        assert place in told


def test_an_id_that_comes_twice_is_refused(write: Write) -> None:
    same = {"id": "a", "kind": "panel", "input": {"scores": []}, "expected": {}}
    assert "found again a" in faults(write({"policy": "2026.1", "vectors": [same, same]}))[0]


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.json"
    path.write_bytes(b'{"policy": "\xff"}')
    assert faults(path) == ["byte 12: not UTF-8"]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert faults(tmp_path / "none.json") == ["cannot be read: No such file or directory"]
