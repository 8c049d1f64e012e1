"""JSON is parsed with care, and faults speak English."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.bundles.documents import parse, plain, validate
from bouts.bundles.errors import Fault, Refused, shown
from bouts.bundles.manifest import (
    ChallengeFile,
    ClaimsFile,
    Document,
    MatchFile,
    VerdictsFile,
    schemas,
)
from tests.bouts.bundles.making import CHALLENGE, CLAIMS, MATCH, VERDICTS, one

MODELS: dict[str, type[Document]] = {
    "bouts.match/1": MatchFile,
    "bouts.challenge/1": ChallengeFile,
    "bouts.verdicts/1": VerdictsFile,
    "bouts.claims/1": ClaimsFile,
}
EXAMPLES = [
    (MatchFile, MATCH),
    (ChallengeFile, CHALLENGE),
    (VerdictsFile, VERDICTS),
    (ClaimsFile, CLAIMS),
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("data", "field", "expected"),
    [
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "b.c", "Each key once"),
        (b'{"a": "x\\u0000"}', "a", "Text without NUL characters"),
        (b'{"a": ["\\ud800"]}', "a[0]", "Unicode text without lone surrogates"),
        (b'{"x\\u0000": 1}', "x\\u0000", "Text without NUL characters"),
        (b'{"a": "\xff"}', "byte 7", "Text in UTF-8"),
        (b'{"a": 1', "line 1, column 8", "Valid JSON"),
        (b'{"a": 1}\n{"b": 2}', "line 2, column 1", "Valid JSON"),
        (b"", "line 1, column 1", "Valid JSON"),
        (b"[" * 40 + b"]" * 40, "[0]" * 32, "At most 32 levels of nesting"),
        (b"[" * 100_000, "document", "At most 32 levels of nesting"),
    ],
)
def test_odd_json_is_told_with_its_place(data: bytes, field: str, expected: str) -> None:
    fault = one(parse(data, "x.json")[1])
    assert (fault.file, fault.field, fault.expected) == ("x.json", field, expected)


def test_a_document_of_too_many_values_is_refused_after_a_moment() -> None:
    _, faults = parse(b"[" + b"[]," * 400_000 + b"[]]", "x.json")
    assert one(faults).expected == "At most 300,000 values in a document"
    assert len(parse(b"[" + b'"\\u0000",' * 900 + b"1]", "x.json")[1]) == 500


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse(b'\xef\xbb\xbf{"a": 1}', "x.json") == ({"a": 1}, [])


def test_numbers_are_taken_as_written() -> None:
    value, faults = parse(b'{"a": 57.14, "b": 0.1, "c": 3}', "x.json")
    assert faults == []
    assert value == {"a": Decimal("57.14"), "b": Decimal("0.1"), "c": 3}
    assert plain(value) == {"a": 57.14, "b": 0.1, "c": 3}


@pytest.mark.parametrize(
    "number", ["1e999999999999999999999", "9" * 5_000, "1" * 19, "-1E+99", f"0.{'0' * 30}1"]
)
def test_absurd_numbers_are_refused_quickly_where_they_stand(number: str) -> None:
    data = json.dumps(CLAIMS).replace("0.9", number).encode()
    value, _ = parse(data, "claims.json")
    fault = one(validate(ClaimsFile, value, "claims.json")[1])
    assert (fault.field, fault.expected) == ("claims[0].confidence", "A number from 0 to 1")


@pytest.mark.parametrize(("model", "document"), EXAMPLES)
def test_a_good_document_is_taken(model: type[Document], document: dict[str, Any]) -> None:
    value, faults = parse(json.dumps(document).encode(), "x.json")
    assert faults == []
    assert validate(model, value, "x.json")[1] == []


@pytest.mark.parametrize(("model", "document"), EXAMPLES)
def test_a_stored_document_makes_the_same_model_again(
    model: type[Document], document: dict[str, Any]
) -> None:
    value, _ = parse(json.dumps(document).encode(), "x.json")
    stored = json.loads(json.dumps(plain(value)))
    assert model.model_validate(stored) == model.model_validate(value)


@given(json_values)
def test_whatever_the_json_every_fault_is_a_sentence_without_jargon(value: Any) -> None:
    for model in MODELS.values():
        for fault in validate(model, value, "x.json")[1]:
            text = str(fault)
            assert fault.expected[0].isupper() or fault.expected.startswith(("true", "bouts."))
            assert not any(word in text for word in ("pydantic", "http", "Input should", "``"))


def test_an_unknown_field_names_the_known_ones() -> None:
    fault = one(validate(ClaimsFile, {**CLAIMS, "claim": 1}, "claims.json")[1])
    assert (fault.field, fault.found) == ("claim", "1")
    assert fault.expected == "No such field; there are schema, claims"


def test_a_missing_object_names_its_fields() -> None:
    match = {key: value for key, value in MATCH.items() if key != "agent"}
    fault = one(validate(MatchFile, match, "match.json")[1])
    assert (fault.field, fault.found) == ("agent", "nothing")
    assert fault.expected == "An object with team, name, version, base_model, scaffold"


def test_text_where_a_number_belongs_is_shown_with_its_quotes() -> None:
    value = {"claims": [{"statement": "x", "confidence": "0.9"}]}
    assert one(validate(ClaimsFile, value, "claims.json")[1]).found == '"0.9"'


def test_a_document_with_faults_without_end_is_told_of_in_short() -> None:
    value = {"claims": [{f"x{number}": 1 for number in range(600)}]}
    faults = validate(ClaimsFile, value, "claims.json")[1]
    assert len(faults) == 501
    assert faults[-1].found == "101 more faults"
    value = {"claims": [{f"x{number}": 1 for number in range(11_000)}]}
    assert "11,001 faults" in one(validate(ClaimsFile, value, "claims.json")[1]).found


@given(st.text(), st.text(), st.text(), st.text())
def test_a_fault_is_safe_to_show_and_to_store(
    file: str, field: str, found: str, expected: str
) -> None:
    fault = Fault(file, field, found, expected)
    for text in fault.as_json().values():
        assert "\0" not in text
        assert "\n" not in text
        assert len(text) < 11_000
        text.encode()


def test_what_is_shown_is_cut_and_escaped() -> None:
    assert shown("a" * 200, 10) == "aaaaaaaaa…"
    assert shown("a\x00b\u202ec\ud800\U000e0041") == "a\\u0000b\\u202ec\\ud800\\U000e0041"
    assert shown("naïve 日本\u00a0x") == "naïve 日本\u00a0x"


def test_a_refusal_says_everything_as_lines_and_as_json() -> None:
    refused = Refused([Fault("a", "b", "c", "D"), Fault("e", "f", "g", "H")])
    assert refused.lines() == ["a: b: found c. Expected: D.", "e: f: found g. Expected: H."]
    assert str(refused) == "\n".join(refused.lines())
    assert refused.as_json()[0] == {"file": "a", "field": "b", "found": "c", "expected": "D"}


def test_the_published_schemas_cover_every_document_and_every_field() -> None:
    published = schemas()
    assert set(published) == set(MODELS)
    for name, schema in published.items():
        json.dumps(schema)
        assert schema["additionalProperties"] is False
        fields = {field.alias or key for key, field in MODELS[name].model_fields.items()}
        assert set(schema["properties"]) == fields
    weights = published["bouts.challenge/1"]["$defs"]["Weights"]["properties"]
    assert (weights["objective"]["minimum"], weights["objective"]["maximum"]) == (40, 55)
    entry = published["bouts.match/1"]["$defs"]["ArtifactEntry"]
    assert entry["required"] == ["path", "kind"]
