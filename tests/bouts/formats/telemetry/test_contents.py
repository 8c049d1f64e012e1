"""What is known of files through the edits of a trajectory."""

from __future__ import annotations

import hashlib

import pytest

from bouts.formats.telemetry import contents as module
from bouts.formats.telemetry.contents import (
    Change,
    Contents,
    Copy,
    Delete,
    Edit,
    Insert,
    Replace,
    Restore,
    Swap,
    Undo,
    Write,
)
from bouts.formats.telemetry.patches import patch_edits


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def after(contents: Contents, *edits: Edit) -> Change:
    """Apply the edits and return the last one's change."""
    changes: list[Change] = []
    for edit in edits:
        changes = contents.apply(edit)
    (change,) = changes
    return change


def test_a_file_first_seen_being_written_has_no_known_before() -> None:
    change = after(Contents(), Write("a", "x\n"))
    assert change == Change("a", None, sha("x\n"), 1, None)


def test_edits_follow_a_known_content() -> None:
    files = Contents()
    files.apply(Write("a", "one\ntwo\nthree\n"))
    change = after(files, Replace("a", (Swap("two", "2"),)))
    assert (change.before, change.after) == (sha("one\ntwo\nthree\n"), sha("one\n2\nthree\n"))
    assert (change.lines_added, change.lines_removed) == (1, 1)
    assert after(files, Insert("a", 1, "half")).after == sha("one\nhalf\n2\nthree\n")
    assert after(files, Write("a", "four\n", appends=True)).after == sha(
        "one\nhalf\n2\nthree\nfour\n"
    )
    assert after(files, Replace("a", (Swap("e", "E", everywhere=True),))).after == sha(
        "onE\nhalf\n2\nthrEE\nfour\n"
    )


def test_an_edit_of_an_unknown_content_is_counted_and_has_no_digest() -> None:
    change = after(Contents(), Replace("a", (Swap("x\ny\n", "x\nz\nw\n"),)))
    assert change == Change("a", None, None, 2, 1)


@pytest.mark.parametrize(
    "swap", [Swap("missing", "x"), Swap("o", "x"), Swap("", "x")], ids=["missing", "twice", "empty"]
)
def test_a_passage_that_fits_nowhere_or_twice_leaves_the_content_unknown(swap: Swap) -> None:
    files = Contents()
    files.apply(Write("a", "one two"))
    assert after(files, Replace("a", (swap,))).after is None
    assert after(files, Write("a", "known again")).after == sha("known again")


def test_undo_comes_back_to_the_content_before() -> None:
    files = Contents()
    files.apply(Write("a", "1"))
    files.apply(Write("a", "2"))
    assert after(files, Undo("a")) == Change("a", sha("2"), sha("1"), 1, 1)
    assert after(files, Replace("a", (Swap("1", "3"),))).after == sha("3")


def test_restore_brings_back_what_was_there_first_or_committed_last() -> None:
    files = Contents()
    original = sha("original")
    files.apply(Write("a", "1"), before=original)
    assert after(files, Restore("a")).after == original
    files.apply(Write("a", "2"))
    files.commit()
    files.apply(Write("a", "3"))
    assert after(files, Restore(None)).after == sha("2")


def test_restore_changes_only_what_was_written() -> None:
    files = Contents()
    assert files.apply(Restore("branch")) == []
    assert files.apply(Restore(None)) == []
    files.apply(Write("a", "1"))
    files.apply(Write("b", "1"))
    assert [change.path for change in files.apply(Restore(None))] == ["a", "b"]


def test_copies_moves_and_deletions_are_followed() -> None:
    files = Contents()
    files.apply(Write("a", "1"))
    files.note_copy(Copy("a.bak", "a"))
    assert not files.knows("a.bak")
    files.apply(Write("a", "2"))
    assert after(files, Copy("a", "a.bak")).after == sha("1")
    assert after(files, Copy("b", "a", moves=True)).after == sha("1")
    assert not files.knows("a")
    assert after(files, Delete("b")) == Change("b", sha("1"), None, None, None)


def test_an_edit_that_failed_changes_nothing() -> None:
    files = Contents()
    files.apply(Write("a", "1"))
    (change,) = files.apply(Write("a", "2"), succeeded=False)
    assert change == Change("a", sha("1"), sha("1"), 0, 0)
    assert after(files, Write("a", "3")).before == sha("1")


def test_digests_that_are_told_are_believed_over_those_derived() -> None:
    files = Contents()
    (change,) = files.apply(Write("a", "1"), before=sha("0"), after=sha("formatted"))
    assert (change.before, change.after) == (sha("0"), sha("formatted"))
    # Its text is not what the digest says, so an edit of it is unknown again.
    assert after(files, Replace("a", (Swap("1", "2"),))) == Change(
        "a", sha("formatted"), None, 1, 1
    )


def test_a_told_digest_that_agrees_keeps_the_text() -> None:
    files = Contents()
    files.apply(Write("a", "1"), after=sha("1"))
    assert after(files, Replace("a", (Swap("1", "2"),))).after == sha("2")


def test_kept_texts_are_bounded_and_digests_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEPT_CHARS", 25)
    files = Contents()
    for name in "abc":
        assert after(files, Write(name, name * 10)).after == sha(name * 10)
    assert after(files, Replace("a", (Swap("a" * 10, "x"),))).after == sha("x")
    assert after(files, Replace("c", (Swap("c" * 10, "x"),))).after is None


# Patches


def test_a_codex_patch_adds_updates_moves_and_deletes() -> None:
    edits = patch_edits(
        "*** Begin Patch\n"
        "*** Add File: new.py\n+one\n+two\n"
        "*** Update File: old.py\n*** Move to: moved.py\n@@ def f():\n a\n-b\n+c\n@@\n-d\n+e\n"
        "*** Delete File: gone.py\n"
        "*** End Patch\n"
    )
    assert edits == [
        Write("new.py", "one\ntwo\n"),
        Copy("moved.py", "old.py", moves=True),
        Replace("moved.py", (Swap("a\nb\n", "a\nc\n"), Swap("d\n", "e\n")), whole_lines=True),
        Delete("gone.py"),
    ]


def test_a_unified_patch_is_carried_out_where_the_content_is_known() -> None:
    files = Contents()
    files.apply(Write("a.txt", "xb\nb\nc\n"))
    (edit,) = patch_edits("--- a/a.txt\n+++ b/a.txt\n@@ -2,2 +2,2 @@\n-b\n+B\n c\n")
    assert after(files, edit).after == sha("xb\nB\nc\n")


def test_a_unified_patch_tells_of_missing_newlines() -> None:
    (edit,) = patch_edits(
        "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
    )
    assert edit == Write("n", "x")


def test_a_broken_patch_gives_what_came_before_the_fault() -> None:
    edits = patch_edits(
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1,9 +1 @@\n-a\n"
    )
    assert [edit.path for edit in edits] == ["x"]
    assert patch_edits("*** Begin Patch\n") == []
