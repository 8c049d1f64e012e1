from __future__ import annotations

import html
import json
from xml.sax.saxutils import escape, quoteattr

import pytest

from bouts.bundles.manifest import TestEntry
from bouts.disclosure import Audience, Gate
from bouts.formats.types import Kind, Outcome, TestResult
from bouts.hidden_words import hidden_words, tells
from bouts.rules import Disclosure, Suite

WORDS = ("test_vault_key", "hidden.test_vault")
CLOSED = Gate(Audience.TEAM, Disclosure.CLOSED, WORDS)
OPEN = Gate(Audience.TEAM, Disclosure.OPEN, WORDS)
STAFF = Gate(Audience.STAFF, Disclosure.CLOSED)
OUTSIDE = [
    Gate(audience, disclosure, WORDS)
    for audience in (Audience.OTHERS, Audience.BLIND, Audience.NOBODY)
    for disclosure in Disclosure
]


def test_a_text_that_quotes_a_hidden_test_in_any_case_reads_withheld() -> None:
    for text in ("test_vault_key failed", "see TEST_VAULT_KEY", "\x1b[1mtest_vault_key\x1b[0m"):
        assert CLOSED.text(text) == "withheld"
        assert OPEN.text(text) == text
        assert STAFF.text(text) == text
    assert CLOSED.text("test_vault failed") == "test_vault failed"


@pytest.mark.parametrize("gate", OUTSIDE)
def test_outsiders_are_shown_no_text_no_file_and_no_value(gate: Gate) -> None:
    assert gate.text("anything") == "withheld"
    assert not gate.shows_evidence
    for kind in Kind:
        for suite in Suite:
            assert not gate.shows_file(kind, quotes_hidden=False)
            assert not gate.shows_values(kind, suite, quotes_hidden=False)


@pytest.mark.parametrize("kind", Kind)
def test_what_quotes_is_never_a_file_to_the_team_until_it_is_open(kind: Kind) -> None:
    assert not CLOSED.shows_file(kind, quotes_hidden=True)
    assert OPEN.shows_file(kind, quotes_hidden=True) is (kind is not Kind.VERDICTS)
    assert STAFF.shows_file(kind, quotes_hidden=True)


def test_some_kinds_are_shown_value_by_value_where_the_file_is_not() -> None:
    by_value = {kind for kind in Kind if CLOSED.shows_values(kind, "", quotes_hidden=True)}
    assert by_value == {Kind.TELEMETRY, Kind.DIFF, Kind.SANDBOX, Kind.SCAN}
    assert CLOSED.shows_values(Kind.TESTS, Suite.STATIC, quotes_hidden=True)
    assert not CLOSED.shows_values(Kind.TESTS, Suite.INVARIANT, quotes_hidden=False)


def test_equal_keys_mean_equal_pages() -> None:
    gates = [Gate(audience, disclosure) for audience in Audience for disclosure in Disclosure]
    assert len({gate.key for gate in gates}) == len(gates)


def test_names_messages_and_files_of_hidden_tests_are_secret_and_those_of_visible_ones_are_not() -> (
    None
):
    hidden = [
        TestEntry(
            id="hidden.test_vault::test_key[3]", suite=Suite.HIDDEN, path="hidden/test_vault.py"
        )
    ]
    visible = [TestEntry(id="tests.test_store::test_shared", suite=Suite.STATIC)]
    results = [
        TestResult(
            "hidden.test_vault::test_shared",
            Outcome.FAILED,
            message="expected one refund, got two\nmore",
        )
    ]
    gate = Gate(Audience.TEAM, Disclosure.CLOSED, tuple(hidden_words(hidden, visible, results)))
    for text in (
        "hidden.test_vault::test_key[3]", "test_key[3]", "test_key", "hidden.test_vault",
        "opened /grader/hidden/test_vault.py", "it said: Expected one refund, got two",
    ):  # fmt: skip
        assert gate.quotes_hidden(text), text
    assert not gate.quotes_hidden("tests.test_store::test_shared")


# A hidden test is told of in other spellings than its name

FAILURE = TestResult(
    id="hidden.t::test_sahara",
    outcome=Outcome.FAILED,
    message="AssertionError: okavango expected 3 refunds\nlimpopo, the second line",
    log="def test_sahara():\nE   orinoco, as pytest marks it\n    x = 1",
)


@pytest.mark.parametrize(
    "text",
    [
        "it failed in TEST_SAHARA",
        "okavango expected 3 refunds",  # without the exception's name
        "see: limpopo, the second line",
        "orinoco, as pytest marks it",
        "test_\x1b[01;31m\x1b[Ksahara\x1b[m",  # as grep --color prints it
        r"test_\u001b[01;31msahara\u001b[m",  # the same in a file of JSON
        "test_sa\u00adhara, test_\u200bsahara",  # soft hyphen, zero-width space
        "ｔｅｓｔ_sahara",  # full-width letters
        "test_sahara".encode("utf-16-le").decode(),  # as PowerShell redirects it
        "t␀e␀s␀t␀_␀s␀a␀h␀a␀r␀a␀",  # the same as a page marks it
        r"test_\u0000sahara",
    ],
)
def test_a_quotation_is_found_in_whatever_spelling(text: str) -> None:
    assert tells(text, hidden_words([], [], [FAILURE]))


def test_a_name_is_found_where_json_has_escaped_it() -> None:
    words = hidden_words([], [], [TestResult(id="hidden.t::test_übermaß", outcome=Outcome.PASSED)])
    assert tells(json.dumps({"ran": "test_übermaß"}), words)
    assert tells("test_ÜBERMAß", words)


def test_a_remark_is_found_in_a_file_whose_writer_escapes() -> None:
    said = 'Error: wants <a b="1"> & the vendor\'s "ok"'
    failure = TestResult(id="hidden.t::test_a", outcome=Outcome.FAILED, message=said)
    words = hidden_words([], [], [failure])
    in_go = json.dumps(said).replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
    for text in (
        json.dumps({"output": said}),
        in_go,
        f"<system-out>{escape(said)}</system-out>",
        f"<failure message={quoteattr(said)}/>",
        f'<failure message="{html.escape(said)}"/>',
    ):
        assert tells(text, words), text


def test_remarks_that_any_test_makes_and_the_frames_of_a_traceback_are_no_secret() -> None:
    words = hidden_words([], [], [FAILURE])
    assert not tells("assert 1 == 2", words)
    assert not tells("    x = 1", words)


@pytest.mark.parametrize(
    "line",
    [
        "Full diff: (-: missing in left side, +: extra in left side)",
        "Left contains 1 more item:",
        "Extra items in the right set:",
        "Omitting 12 identical items, use -vv to show",
        "Use -v to get more diff",
        "?        ++++++++",
        "IndexError: list index out of range",
        "pop from empty list",
    ],
)
def test_what_pytest_and_python_say_of_any_failure_is_no_secret(line: str) -> None:
    result = TestResult(
        id="hidden.t::test_one", outcome=Outcome.FAILED, message=line, log=f"E   {line}"
    )
    assert not tells(f"my own test said: {line}", hidden_words([], [], [result]))


def test_what_a_hidden_test_said_in_such_words_stays_one() -> None:
    said = "assert ['paid', 'refunded'] == ['paid']"
    result = TestResult(
        id="hidden.t::test_one", outcome=Outcome.FAILED, message=f"{said}\nFull diff: (-, +)"
    )
    assert tells(said, hidden_words([], [], [result]))
