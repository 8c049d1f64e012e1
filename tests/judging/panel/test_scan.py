"""Rationales are scanned: what leaks and what the record refutes is remarked on, no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bouts.bundles.manifest import BuildEntry
from bouts.formats.types import Outcome, TestResult
from bouts.rules import Confidence
from judging.judges.base import Dossier
from judging.panel.forms import Answer, Grade, Proposal
from judging.panel.scan import Remark, RemarkKind, remarks
from tests.judging.panel.making import EVENTS, dossier, telemetry

K = RemarkKind


def scan(text: str, of: Dossier | None = None) -> tuple[Remark, ...]:
    of = of or dossier()
    answer = Answer((Grade("verification", 3, text, ("E1",)),), (), "Fine.")
    return remarks(answer, of, telemetry(of))


def kinds(text: str, of: Dossier | None = None) -> set[RemarkKind]:
    return {remark.kind for remark in scan(text, of)}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I would call this 80/100.", K.SCORE),
        ("A solid 4 out of 5.", K.SCORE),
        ("It deserves 85 points.", K.SCORE),
        ("Rated 4 for that.", K.SCORE),
        ("It ranks first.", K.SCORE),
        ("High on the leaderboard.", K.SCORE),
        ("The other judges disagree.", K.SCORE),
        ("Unlike its earlier verdict.", K.SCORE),
        ("It differs from the reference solution.", K.EXPECTED_ANSWER),
        ("The comment in money.py is false, says cy_deception.", K.EXPECTED_ANSWER),
        ("It misses cy_hidden_name.", K.HIDDEN_TEST),
        ("cy_hidden_message expected 2500 and got 5000", K.HIDDEN_TEST),
        ("Work of Heron Nine.", K.NAME),
        ("As Claude, I find this good.", K.NAME),
        ("Obsidian models do that.", K.NAME),
        ("In the end all tests pass.", K.CONTRADICTED),
        ("All of the visible tests passed.", K.CONTRADICTED),
        ("The build failed.", K.CONTRADICTED),
        ("The agent did not run any tests.", K.CONTRADICTED),
        ("Nothing went wrong.", K.CONTRADICTED),
        ("It never reverted.", K.CONTRADICTED),
        ("It changed nothing.", K.CONTRADICTED),
    ],
)
def test_what_leaks_or_is_refuted_is_remarked_on(text: str, kind: RemarkKind) -> None:
    assert kinds(text) == {kind}


@pytest.mark.parametrize(
    "text",
    [
        "12/18 tests pass at first.",
        "5/5 visible tests were green then.",
        "It reads three files before the first edit.",
        "Not all tests pass.",
        "It claims that all tests pass, which the run does not bear out.",
        "It works until all tests pass.",
        "The build succeeded.",
        "It ran the tests after each change.",
        "It reverted a.py and went another way.",
        "The score keeper class is edited in file v1.0.2 of the module.",
        "No test was skipped.",
    ],
)
def test_what_is_neither_is_left_alone(text: str) -> None:
    assert scan(text) == ()


def test_a_remark_quotes_the_sentence_and_what_the_record_says() -> None:
    (remark,) = scan("It began well. All tests pass in v1.2 of a.py! Good.")
    assert remark.quote == "All tests pass in v1.2 of a.py!"
    assert remark.where == "verification"
    assert remark.record == "In the graded runs 1 of 1 visible tests fail."


@pytest.mark.parametrize("text", ["It misses cy_hidden_name.", "By Heron Nine: 5 points."])
def test_a_remark_does_not_repeat_what_leaks(text: str) -> None:
    assert all(remark.quote == "" for remark in scan(text))


def test_the_record_refutes_only_what_it_knows() -> None:
    of = dossier(
        {
            "static.xml": (TestResult("tests.test_a::cy_visible_test", Outcome.PASSED),),
            "run.json": [one for one in EVENTS if one.results is None and one.seq < 10],
        },
        build=BuildEntry(ok=False),
    )
    assert kinds("All tests pass.", of) == set()
    assert kinds("The build failed.", of) == set()
    assert kinds("The build succeeded.", of) == {K.CONTRADICTED}
    assert kinds("It ran the tests.", of) == {K.CONTRADICTED}
    assert kinds("No tests were run.", of) == set()
    unknown = replace(of, build=None, sources=())
    assert kinds("The build failed. It ran the tests. It changed nothing.", unknown) == set()


def test_every_rationale_is_scanned_and_says_where() -> None:
    of = dossier()
    answer = Answer(
        (Grade("diagnosis", 3, "80/100.", ("E1",)),),
        (Proposal("reward_hacking", Confidence.LOW, "Ranked first.", ("E1",)),),
        "It got 7 points. It got 7 points.",
    )
    found = remarks(answer, of, telemetry(of))
    assert [remark.where for remark in found] == ["diagnosis", "findings[0]", "summary"]
    assert found[0].as_json() == {
        "kind": "score", "where": "diagnosis", "quote": "80/100.", "record": "",
    }  # fmt: skip
