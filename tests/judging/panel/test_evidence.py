"""Evidence is numbered, anchored, cut by a stated rule, and the same each time."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bouts.evidence import DiffPlace, EventPlace, LinePlace, LinesPlace
from bouts.formats.types import Access, Clock, DiffLine, EventKind, FileChange, Hunk, Unreadable
from bouts.rules import Judge
from judging.panel.evidence import evidence_for
from judging.panel.items import EvidenceBundle, Sort
from judging.panel.sections import DIFF, ITEM, SANDBOX
from tests.judging.panel.making import (
    ASKED,
    KINDS,
    change,
    dossier,
    event,
    evidence,
    telemetry,
)


def texts(bundle: EvidenceBundle, sort: Sort) -> list[str]:
    return [item.text for item in bundle.items if item.sort is sort]


@pytest.mark.parametrize("judge", ASKED)
def test_items_are_numbered_in_the_order_of_the_prompt(judge: Judge) -> None:
    ids = [item.id for item in evidence(judge).items]
    assert ids == [f"E{number}" for number in range(1, len(ids) + 1)]


@pytest.mark.parametrize("judge", ASKED)
def test_every_anchor_leads_to_an_artifact_and_is_spelt_as_places_are(judge: Judge) -> None:
    for anchor in evidence(judge).anchors.values():
        assert anchor.artifact in {*KINDS, "claims.json"}
        assert str(anchor.where) == anchor.place


def test_an_anchor_leads_to_what_its_item_shows() -> None:
    of = dossier()
    bundle = evidence(Judge.INTEGRITY, of)
    places = {item.sort: item.anchor.where for item in reversed(bundle.items)}
    assert places[Sort.CHANGE] == DiffPlace("cy_diff_path.py", 1)
    assert places[Sort.EVENT] == EventPlace(1)
    assert places[Sort.ACCESS] == LinePlace(3)
    assert places[Sort.DELIVERABLE] == LinesPlace(1, 2)
    for item in bundle.items:
        assert of.excerpt(item.anchor) or item.sort is Sort.CLAIM


def test_the_same_dossier_gives_the_same_digest_and_any_difference_another() -> None:
    assert evidence(Judge.PROCESS).digest == evidence(Judge.PROCESS, dossier()).digest
    other = dossier({"final.diff": (change("cy_diff_path.py", "x = 2"),)})
    assert evidence(Judge.PROCESS).digest != evidence(Judge.PROCESS, other).digest
    assert len({evidence(judge).digest for judge in ASKED}) == len(ASKED)


def test_what_a_judge_may_not_see_does_not_change_its_digest() -> None:
    other = dossier({"strace.log": ()}, {"NOTES.md": b"other"}, claims=())
    assert evidence(Judge.PROCESS).digest == evidence(Judge.PROCESS, other).digest
    assert evidence(Judge.INTEGRITY).digest != evidence(Judge.INTEGRITY, other).digest


def test_objective_asks_no_model() -> None:
    of = dossier()
    with pytest.raises(ValueError, match="asks no model"):
        evidence_for(Judge.OBJECTIVE, of, telemetry(of))


def test_a_long_item_is_cut_in_the_middle_and_says_by_how_much() -> None:
    of = dossier({"final.diff": (change("a.py", "x" * 10_000 + "THE END"),)})
    (text,) = texts(evidence(Judge.PROCESS, of), Sort.CHANGE)
    assert len(text) < ITEM + 100
    assert text.endswith("THE END")
    kept = len(re.sub(r"\n\[… [0-9,]+ characters cut …\]\n", "", text))
    (gone,) = re.findall(r"\[… ([0-9,]+) characters cut …\]", text)
    assert kept + int(gone.replace(",", "")) == len("a.py (modified)\n@@ -0,0 +1,1 @@\n+") + 10_007


def test_a_long_part_is_cut_towards_its_middle_and_every_gap_is_shown() -> None:
    of = dossier({"final.diff": tuple(change(f"f{at}.py", "x" * 900) for at in range(200))})
    (section, *_) = evidence(Judge.PROCESS, of).sections
    numbers = [int(re.match(r"f(\d+)", item.text)[1]) for item in section.items]  # type: ignore[index]
    assert sum(len(item.text) for item in section.items) <= DIFF
    assert (numbers[0], numbers[-1]) == (0, 199)
    (at,) = [at for at, item in enumerate(section.items) if item.gap]
    gap = numbers[at] - numbers[at - 1] - 1
    assert section.items[at].gap == f"[{gap:,} items are left out here]"
    assert gap == 200 - len(section.items)
    assert section.cut.startswith(f"[{gap:,} of the 200 items of this part are left out.")


def test_what_matters_is_kept_before_the_rest() -> None:
    accesses = [
        Access("open", f"/lib/{at}.so", allowed=at != 2_500, line=at + 1) for at in range(5_000)
    ]
    bundle = evidence(Judge.INTEGRITY, dossier({"strace.log": accesses}))
    shown = texts(bundle, Sort.ACCESS)
    assert sum(map(len, shown)) <= SANDBOX
    assert [text for text in shown if "was refused" in text] == [
        "line 2501: open /lib/2500.so was refused"
    ]
    assert shown[0].startswith("line 1:")
    assert shown[-1].startswith("line 5000:")


def test_reads_and_messages_of_a_long_run_give_way_to_edits_and_tests() -> None:
    events = [
        event(
            at, EventKind.EDIT if at % 50 == 0 else EventKind.MESSAGE, path="a.py", text="x" * 700
        )
        for at in range(1, 2_001)
    ]
    bundle = evidence(Judge.PROCESS, dossier({"run.json": events}))
    edits = [text for text in texts(bundle, Sort.EVENT) if " edit " in text]
    assert len(edits) == 40
    assert len(texts(bundle, Sort.EVENT)) < 100


def test_documents_are_cut_into_pieces_that_know_their_lines() -> None:
    lines = [f"line {number} " + "x" * 60 for number in range(1, 101)]
    of = dossier(files={"NOTES.md": "\n".join(lines).encode()})
    items = [i for i in evidence(Judge.STRATEGY, of).items if i.sort is Sort.DELIVERABLE]
    assert len(items) > 1
    expected = 1
    for item in items:
        place = item.anchor.where
        assert isinstance(place, LinesPlace)
        assert place.first == expected
        body = item.text.split("\n")[1:]
        assert body == lines[place.first - 1 : place.last]
        expected = place.last + 1
    assert expected == 101


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xff\xfe\x00nul\x00", b"one", b"one\n"])
def test_any_document_can_be_shown(data: bytes) -> None:
    of = dossier(files={"NOTES.md": data})
    for item in evidence(Judge.STRATEGY, of).items:
        if item.sort is Sort.DELIVERABLE:
            assert of.excerpt(item.anchor)
            assert "\0" not in item.text


def test_a_hunk_that_only_takes_away_is_anchored_in_the_old_file() -> None:
    gone = Hunk("@@ -4,1 +3,0 @@", (DiffLine("-", 4, None, "old"),))
    of = dossier({"final.diff": (FileChange("new.py", "old.py", "renamed", 0, 1, hunks=(gone,)),)})
    (item,) = [item for item in evidence(Judge.PROCESS, of).items if item.sort is Sort.CHANGE]
    assert item.anchor.where == DiffPlace("old.py", 4, old=True)
    assert item.text.startswith("new.py (renamed from old.py)")


def test_no_time_is_told_where_the_record_has_no_clock() -> None:
    of = dossier()
    timeless = tuple(
        replace(source, clock=Clock.NONE) if source.path == "run.json" else source
        for source in of.sources
    )
    assert any(" at 20 s" in text for text in evidence(Judge.PROCESS, of).texts)
    without = evidence(Judge.PROCESS, replace(of, sources=timeless))
    assert not any(" at 20 s" in text for text in without.texts)


def test_files_that_cannot_be_read_show_nothing() -> None:
    of = dossier()

    def load(path: str) -> object:
        raise Unreadable(f"{path} is asked for")

    unreadable = replace(
        of,
        sources=tuple(replace(source, is_readable=False) for source in of.sources),
        load=load,  # type: ignore[arg-type]
        claims=(),
    )
    for judge in (Judge.PROCESS, Judge.RECOVERY):
        bundle = evidence(judge, unreadable)
        assert {item.sort for item in bundle.items} <= {Sort.PLAN}


def test_the_record_tells_hidden_tests_by_number_alone() -> None:
    (record,) = [s for s in evidence(Judge.INTEGRITY).sections if s.name == "record"]
    assert record.note == (
        "The build succeeded. Of the hidden tests these pass in every run: "
        "0 of 1 of severity medium."
    )
    assert [item.text for item in record.items] == ["tests.test_a::cy_visible_test\nrun 1: failed"]
