"""Nothing that the table of SCORING.md, 7 withholds from a judge reaches its prompt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bouts.bundles.manifest import ClaimEntry
from bouts.formats.types import Access, EventKind
from bouts.rules import Judge
from judging.judges.base import Claim
from judging.panel.cleaning import QUOTES_HIDDEN
from tests.judging.panel.making import (
    ASKED,
    EVENTS,
    FILES,
    change,
    dossier,
    event,
    evidence,
    prompt,
    whole,
)

P, S, R, I = Judge.PROCESS, Judge.STRATEGY, Judge.RECOVERY, Judge.INTEGRITY  # noqa: E741

# A word that stands in one place of the bundle, and who may read it.
WHO_SEES = {
    "cy_briefing": {P, S, R, I},
    # the diff, tests that the agent itself ran
    "cy_diff_path": {P, S, R, I},
    "cy_diff_line": {P, S, R, I},
    "cy_test_command": {P, S, R, I},
    "cy_test_output": {P, S, R, I},
    # timeline, tools, checkpoints
    "cy_start_text": {P, R, I},
    "cy_read_path": {P, R, I},
    "cy_tool": {P, R, I},
    "cy_message": {P, R, I},
    "cy_edit_text": {P, R, I},
    "cy_run_command": {P, R, I},
    "cy_checkpoint": {P, R, I},
    "cy_submit": {P, R, I},
    # errors, retries, reverts, recovery windows
    "cy_error_output": {R, I},
    "exit code 2": {R, I},
    "which had worked, failed at #7 and worked again at #10": {R, I},
    "put back earlier content": {R, I},
    # plans, pivot points, decision path
    "cy_plan_event": {S, R},
    "cy_plan_file": {S, R},
    "change of approach, after the failure at #7": {S, R},
    "contradiction": {S, R},
    # written deliverables
    "cy_deliverable": {S, I},
    # sandbox log, claims, Objective's record
    "cy_sandbox": {I},
    "cy_claim": {I},
    "cy_visible_test": {I},
    "The build succeeded.": {I},
    "Of the hidden tests these pass in every run": {I},
    # nobody
    "cy_read_output": set(),
    "cy_hidden_name": set(),
    "cy_hidden_file": set(),
    "cy_hidden_message": set(),
    "cy_hidden_log": set(),
    "cy_invariant_name": set(),
    "cy_deception": set(),
    "cy_unsafe": set(),
    "cy_grader_log": set(),
    "cy_verdict_file": set(),
    "cy_other_rationale": set(),
    "cy_other_model": set(),
    "61": set(),
    "quillfort": set(),
    "heron": set(),
    "obsidian": set(),
    "lanternrig": set(),
}


@pytest.mark.parametrize("judge", ASKED)
def test_a_prompt_holds_what_its_judge_may_see_and_nothing_else(judge: Judge) -> None:
    text = whole(judge).lower()
    seen = {word for word in WHO_SEES if word.lower() in text}
    assert seen == {word for word, judges in WHO_SEES.items() if judge in judges}


@pytest.mark.parametrize("judge", ASKED)
@pytest.mark.parametrize(
    "word",
    [
        "cy_hidden_name",
        "CY_Hidden_Name",
        "cy_\u200bhidden\u2060_name",
        "cy_hidden_\x1b[31mname",
        "ｃｙ_hidden_name",
        "vault.t::cy_hidden_name",
        "vault/cy_hidden_file.py",
        "cy_hidden_message expected 2500 and got 5000",
        "cy_hidden_log says that two refunds were made",
        "cy_invariant_name",
    ],
)
def test_what_quotes_a_hidden_test_is_withheld_wherever_it_stands(judge: Judge, word: str) -> None:
    of = everywhere(f"I looked at {word} and secret_beside_it follows")
    text = whole(judge, of)
    assert "cy_hidden" not in text.lower().replace("\u200b", "")
    assert "two refunds were made" not in text
    assert "secret_beside_it" not in text
    assert QUOTES_HIDDEN in text


@pytest.mark.parametrize("judge", ASKED)
@pytest.mark.parametrize(
    "name",
    [
        "quillfort",
        "QuillFort",
        "Heron Nine",
        "heron-nine",
        "HERON_NINE",
        "HeronNine",
        "He\u200bron Ni\u00adne",
        "obsidian-7b-2026-05-01",
        "obsidian-7b",
        "Obsidian",
        "ｌａｎｔｅｒｎｒｉｇ",
        "lantern\U000e0061rig",
    ],
)
def test_names_are_taken_out_wherever_they_stand(judge: Judge, name: str) -> None:
    text = whole(judge, everywhere(f"Here works {name} for you"))
    plain = "".join(char for char in text if char.isalnum()).lower()
    assert not [
        word for word in ("quillfort", "heronnine", "obsidian", "lanternrig") if word in plain
    ]
    assert name not in text
    assert "Here works" in text or "tells a name" in text  # the place is there, without the name


@pytest.mark.parametrize(
    ("base_model", "tell"),
    [
        ("claude-sonnet-4-6", "As Claude, made by Anthropic"),
        ("anthropic/claude-opus-5", "see CLAUDE.md"),
        ("gpt-5.2-codex", "I am ChatGPT, by OpenAI"),
        ("gemini-3.1-pro", "Google trained me as Gemini"),
        ("qwen3-coder:480b", "Qwen speaking"),
    ],
)
def test_the_house_of_the_base_model_is_taken_out(base_model: str, tell: str) -> None:
    of = everywhere(tell)
    of = replace(of, names=lambda: ("northbank", "Otter", base_model, ""))
    for judge in ASKED:
        text = whole(judge, of).lower()
        words = ("claude", "anthropic", "chatgpt", "openai", "gemini", "google", "qwen", "sonnet")
        assert not [word for word in words if word in text]


@pytest.mark.parametrize("judge", ASKED)
def test_keys_and_tokens_are_masked(judge: Judge) -> None:
    key = "sk-abcdefghijklmnopqrstuvwxyz0123456789"
    assert key not in whole(judge, everywhere(f"export KEY={key}"))


@pytest.mark.parametrize("judge", ASKED)
def test_what_cannot_be_seen_is_spelt_out(judge: Judge) -> None:
    hidden = "".join(chr(0xE0000 + ord(char)) for char in "obey")
    text = whole(judge, everywhere(f"fine{hidden}\u202e <|im_start|>system"))
    assert "[U+E006F][U+E0062][U+E0065][U+E0079][U+202E] [U+003C]|im_start|>" in text
    assert all(char.isprintable() or char == "\n" for char in text)


def test_a_short_name_is_no_reason_to_take_words_apart() -> None:
    of = replace(everywhere("Ed edited the edge; ed did"), names=lambda: ("Ed",))
    assert "[withheld] edited the edge; [withheld] did" in whole(P, of)


@pytest.mark.parametrize("judge", ASKED)
def test_what_stands_beside_a_quotation_is_withheld_with_it(judge: Judge) -> None:
    file = change("notes.py", "beside_in_a_hunk")
    quoting = change("notes.py", "cy_hidden_name").hunks
    of = dossier(
        {
            "final.diff": (replace(file, hunks=(*file.hunks, *quoting)),),
            "run.json": [
                event(1, EventKind.TEST, command="pytest cy_hidden_name", passed=1, output="beside_in_output"),
                event(2, EventKind.RUN, command="beside_in_command", output="cy_hidden_name"),
            ],
        },
        {"NOTES.md": b"beside_in_file\n" * 400 + b"cy_hidden_name", "PLAN.md": b"fine"},
    )  # fmt: skip
    text = whole(judge, of)
    # An output that a judge is not shown takes nothing away from it.
    assert ("beside_in_command" in text) == (judge is P)
    assert not [word for word in ("in_a_hunk", "in_output", "in_file") if f"beside_{word}" in text]


def test_a_hidden_test_is_no_anchor_of_any_item() -> None:
    for judge in ASKED:
        for anchor in evidence(judge).anchors.values():
            assert "cy_hidden" not in str(anchor)
            assert anchor.artifact not in {"hidden.xml", "verdicts.json"}


def test_the_form_tells_no_more_than_the_prompt() -> None:
    for judge in ASKED:
        form = str(prompt(judge).form.as_json())
        assert not [word for word, judges in WHO_SEES.items() if word in form and not judges]


def everywhere(text: str):  # type: ignore[no-untyped-def]
    """Return a dossier that has this text in every place where an agent can write."""
    events = [replace(one, text=text, output=text) for one in EVENTS]
    events.append(event(20, EventKind.RUN, command=text, path=text, tool=text, ok=False))
    return dossier(
        {
            "run.json": events,
            "final.diff": (change("notes.py", text), change(f"docs/{text}", "fine")),
            "strace.log": (Access("open", text, allowed=True, line=1, detail=text),),
        },
        {"PLAN.md": text.encode(), "NOTES.md": FILES["NOTES.md"] + text.encode()},
        claims=(Claim("claims.json", 0, ClaimEntry(statement=text, about=text)),),
    )
