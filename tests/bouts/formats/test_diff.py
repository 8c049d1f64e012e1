"""Unified diffs: what git writes, what others write, and what only looks like one."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unidiff import PatchSet

from bouts.formats import crumbs, diff
from bouts.formats.diff import DiffReader
from bouts.formats.text import single_line
from bouts.formats.types import DiffLine, FileChange, Report, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def changes(document: str | bytes | Path) -> list[FileChange]:
    return read(DiffReader(), document)[0]


def only(document: str | bytes) -> FileChange:
    (change,) = changes(document)
    return change


def git(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def edit(*body: str, old: str = "a/f.py", new: str = "b/f.py", at: str = "-1 +1") -> str:
    return git(f"--- {old}", f"+++ {new}", f"@@ {at} @@", *body)


# What git itself wrote


def test_every_sort_of_change_that_git_makes_is_told() -> None:
    found, report = read(DiffReader(), FIXTURES / "git.diff")
    assert [(change.status, change.path, change.old_path) for change in found] == [
        ("modified", "binary.bin", None),
        ("modified", "changed.txt", None),
        ("added", "empty.txt", None),
        ("modified", "ending.txt", None),
        ("deleted", "gone.txt", None),
        ("modified", "mit Umlaut ä.txt", None),
        ("mode", "mode.sh", None),
        ("added", "new.txt", None),
        ("modified", "returns.txt", None),
        ("copied", "second.txt", "copied.txt"),
        ("added", "tab␉here.txt", None),
        ("renamed", "target.txt", "moved.txt"),
    ]
    assert [change.path for change in found if change.binary] == ["binary.bin"]
    assert report.counts["files"] == 12
    assert (report.counts["added"], report.counts["removed"]) == (10, 8)
    assert not report.notes


def test_lines_carry_their_numbers_in_both_files() -> None:
    found = {change.path: change for change in changes((FIXTURES / "git.diff").read_bytes())}
    first, second = found["changed.txt"].hunks
    assert first.lines[:4] == (
        DiffLine(" ", 1, 1, "line 1"),
        DiffLine("-", 2, None, "line 2"),
        DiffLine("+", None, 2, "line two"),
        DiffLine(" ", 3, 3, "line 3"),
    )
    assert second.header == "@@ -26,5 +26,7 @@ line 25"
    assert second.lines[3:5] == (
        DiffLine("+", None, 29, "-- "),
        DiffLine("+", None, 30, "line 28b"),
    )


def test_a_missing_newline_is_a_mark_and_no_line() -> None:
    found = {change.path: change for change in changes((FIXTURES / "git.diff").read_bytes())}
    ending = found["ending.txt"]
    assert (ending.added, ending.removed) == (1, 1)
    assert [line.sign for line in ending.hunks[0].lines] == ["-", "\\", "+", "\\"]


def test_cr_and_other_separators_stay_inside_their_line() -> None:
    found = {change.path: change for change in changes((FIXTURES / "git.diff").read_bytes())}
    assert [line.text for line in found["returns.txt"].hunks[0].lines] == [
        "one\rstill one",
        "one\rstill one\x0b\u2028and on",
        "two",
    ]


def test_a_mail_is_its_diff_without_header_and_signature() -> None:
    assert changes((FIXTURES / "git-mail.patch").read_bytes()) == changes(
        (FIXTURES / "git.diff").read_bytes()
    )


@pytest.mark.parametrize("name", ["no-prefix", "mnemonic", "prefixes"])
def test_prefixes_that_git_was_given_are_no_part_of_a_name(name: str) -> None:
    found, report = read(DiffReader(), FIXTURES / f"git-{name}.diff")
    assert found == changes(FIXTURES / "git.diff")
    said = "prefixes are left out of the names: 'old/' and 'new/' (10 times)"
    assert [note.text for note in report.notes] == ([said] if name == "prefixes" else [])


def test_a_flip_of_line_endings_is_reported_apart() -> None:
    (flip,), report = read(DiffReader(), FIXTURES / "git-crlf.diff")
    assert flip.line_endings_only
    assert (flip.added, flip.removed) == (30, 30)
    assert report.counts["line_endings_only"] == 1


@pytest.mark.parametrize(
    ("body", "only_endings"),
    [
        (("-a", "+a\r"), True),
        (("-a\r", "+a"), True),
        (("-a", "+a"), False),
        (("-a", "+b\r"), False),
        (("-a", "+a "), False),
        (("-a\rb", "+ab"), False),
    ],
)
def test_only_a_cr_at_the_end_of_a_line_is_a_line_ending(
    body: tuple[str, ...], only_endings: bool
) -> None:
    assert only(edit(*body)).line_endings_only is only_endings


def test_moved_lines_are_not_taken_for_line_endings() -> None:
    body = ("-a", "-b", "+b\r", "+a\r")
    assert not only(edit(*body, at="-1,2 +1,2")).line_endings_only


# Names


@pytest.mark.parametrize(
    ("lines", "path", "old_path", "status"),
    [
        # Without prefixes, in a folder that looks like one.
        (
            ("diff --git a/x a/x", "--- a/x", "+++ a/x", "@@ -1 +1 @@", "-1", "+2"),
            "a/x",
            None,
            "modified",
        ),
        (
            (
                "diff --git b/new b/new",
                "new file mode 100644",
                "--- /dev/null",
                "+++ b/new",
                "@@ -0,0 +1 @@",
                "+1",
            ),
            "b/new",
            None,
            "added",
        ),
        (("diff --git i/x w/x", "old mode 100644", "new mode 100755"), "x", None, "mode"),
        # Prefixes with a folder's name, and ones that end alike.
        (("diff --git x/old/a/b y/new/a/b", "new file mode 100644"), "a/b", None, "added"),
        (("diff --git golden/a broken/a", "deleted file mode 100644"), "a", None, "deleted"),
        (("diff --git old/two words new/two words", "new file mode 1"), "two words", None, "added"),
        (
            ("diff --git a/two words b/two words", "new file mode 100644", "index 0..e"),
            "two words",
            None,
            "added",
        ),
        (
            (
                "diff --git a/a b/c b/d e",
                "similarity index 100%",
                "rename from a b/c",
                "rename to d e",
            ),
            "d e",
            "a b/c",
            "renamed",
        ),
        (
            ('diff --git "a/\\"q\\"\\n" "b/\\"q\\"\\n"', "deleted file mode 100644"),
            '"q"␊',
            None,
            "deleted",
        ),
        (
            ('diff --git a/plain "b/\\303\\244"', "rename from plain", 'rename to "\\303\\244"'),
            "ä",
            "plain",
            "renamed",
        ),
        (
            ("diff --git a/sub/one b/sub/two", "rename from one", "rename to two"),
            "sub/two",
            "sub/one",
            "renamed",
        ),
        (
            ("--- old.txt\t2026-01-01", "+++ new.txt\t2026-01-02", "@@ -1 +1 @@", "-1", "+2"),
            "new.txt",
            "old.txt",
            "modified",
        ),
        (
            ("--- x\t(revision 1)", "+++ x\t(working copy)", "@@ -1 +0,0 @@", "-1"),
            "x",
            None,
            "deleted",
        ),
        (("Binary files a/x.png and b/x.png differ",), "x.png", None, "modified"),
        (("Binary files /dev/null and b/x.png differ",), "x.png", None, "added"),
    ],
)
def test_names_are_read_as_each_tool_writes_them(
    lines: tuple[str, ...], path: str, old_path: str | None, status: str
) -> None:
    change = only(git(*lines))
    assert (change.path, change.old_path, change.status) == (path, old_path, status)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../etc/passwd", "x/../../y", "..\\..\\y", "\\\\host\\share"]
)
def test_a_path_that_leads_out_is_shown_noted_and_never_opened(name: str) -> None:
    (change,), report = read(DiffReader(), edit("-1", "+2", old=name, new=name))
    assert change.path == name
    assert "leads out of the project" in notes(report)


def test_a_name_that_could_not_be_stored_is_marked() -> None:
    (change,), report = read(
        DiffReader(), edit("-1", "+2", old="a/x\0\x1b[31m", new="b/x\0\x1b[31m")
    )
    assert change.path == "x␀␛[31m"
    assert "NUL" in notes(report)


def test_a_file_without_a_name_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"without a name \(line 1\)"):
        changes(git("--- ", "+++ ", "@@ -1 +1 @@", "-1", "+2"))
    with pytest.raises(Unreadable, match="without a name"):
        changes(git("diff --git a b c d e", "new file mode 100644"))


def test_awkward_names_and_lines_count_as_git_counts_them() -> None:
    fields = iter((FIXTURES / "git-awkward.numstat").read_bytes().split(b"\0")[:-1])
    expected: dict[str, tuple[int, int]] = {}
    for field in fields:
        *numbers, name = field.split(b"\t", 2)
        if not name:  # of a rename or copy both names follow
            next(fields)
            name = next(fields)
        added, removed = (int(number.replace(b"-", b"0")) for number in numbers)
        expected[single_line(name.decode(errors="replace"))] = (added, removed)
    found: dict[str, tuple[int, int]] = {}
    for change in changes(FIXTURES / "git-awkward.diff"):
        # What becomes a file from a link stands there as gone and as new.
        added, removed = found.get(change.path, (0, 0))
        found[change.path] = (added + change.added, removed + change.removed)
    assert found == expected
    assert {"tab␉name", "new␊line", 'q"uote', "back\\slash", "latin-�", "trail "} <= set(found)


# svn


@pytest.mark.parametrize("name", ["svn.diff", "svn-git.diff"])
def test_what_svn_wrote_is_each_file_once(name: str) -> None:
    found, report = read(DiffReader(), FIXTURES / name)
    # An empty new file has no line of its own but in git's way; neither has a copy with svn.
    is_git = name == "svn-git.diff"
    assert [(change.path, change.status, change.added, change.removed) for change in found] == [
        ("added.txt", "added", 1, 0),
        ("b.bin", "modified", 0, 0),
        ("empty.txt", "added" if is_git else "modified", 0, 0),
        ("gone.txt", "deleted", 0, 1),
        ("kept.txt", "modified", 1, 1),
        ("new.txt", "renamed" if is_git else "modified", 1, 1),
        ("old.txt", "deleted", 0, 4),
        ("two words.txt", "modified", 1, 1),
    ]
    assert [change.path for change in found if change.binary] == ["b.bin"]
    assert found[5].old_path == ("old.txt" if is_git else None)
    assert not report.notes


@pytest.mark.parametrize("name", ["svn.diff", "svn-git.diff"])
def test_a_propertys_own_hunk_is_no_part_of_the_file(name: str) -> None:
    kept = next(change for change in changes(FIXTURES / name) if change.path == "kept.txt")
    (hunk,) = kept.hunks
    assert [(line.sign, line.text) for line in hunk.lines] == [
        (" ", "one"),
        ("-", "two"),
        ("+", "2"),
        (" ", "three"),
    ]


def test_an_index_line_stands_for_its_file_until_another_line_names_it() -> None:
    lone = git("Index: a.txt", "=" * 67, "Index: b.txt", "=" * 67)
    assert [change.path for change in changes(lone)] == ["a.txt", "b.txt"]
    named = git("Index: a.txt", "=" * 67) + edit("-1", "+2", old="a.txt", new="a.txt")
    assert [change.path for change in changes(named)] == ["a.txt"]


# Hunks


def test_a_hunk_that_breaks_off_is_refused_with_what_is_missing() -> None:
    with pytest.raises(Unreadable, match=r"1 old and 2 new lines to come \(line 4\)"):
        changes(edit(" a", at="-1,2 +1,3"))
    with pytest.raises(Unreadable, match=r"breaks off .* \(line 5\)"):
        changes(edit(" a", "diff --git a/x b/x", at="-1,2 +1,2"))
    with pytest.raises(Unreadable, match="breaks off"):
        changes(edit("+a", "+b", at="-1,2 +1"))


def test_a_hunk_that_goes_on_too_long_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"longer than its header says \(line 6\)"):
        changes(edit("-a", "+b", "+c"))


def test_a_hunk_that_goes_on_after_a_newline_mark_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"longer than its header says \(line 7\)"):
        changes(edit("-a", "+b", "\\ No newline at end of file", "+c"))


def test_a_mark_that_follows_no_hunk_is_none() -> None:
    change = only(edit("-a", "+b") + "\n\\ not a mark\n")
    assert [line.sign for line in change.hunks[0].lines] == ["-", "+"]


def test_a_trimmed_empty_line_is_context() -> None:
    change = only(edit("", "-a", "+b", at="-1,2 +1,2"))
    assert change.hunks[0].lines[0] == DiffLine(" ", 1, 1, "")


def test_a_hunk_without_a_file_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"before any file name \(line 1\)"):
        changes(git("@@ -1 +1 @@", "-a", "+b"))


def test_a_combined_diff_of_a_merge_is_refused() -> None:
    with pytest.raises(Unreadable, match="combined diff"):
        changes(git("diff --cc x", "index 1,2..3", "--- a/x", "+++ b/x", "@@@ -1 -1 +1 @@@", "++a"))


def test_prose_around_a_diff_is_passed_over() -> None:
    document = "Please apply:\n---\n- one\n+ two\n" + edit("-a", "+b") + "\n---\nThanks\n--- \nme\n"
    assert only(document).added == 1


# Nothing, and not a diff


@pytest.mark.parametrize("document", ["", "\n", " \r\n\n"])
def test_an_empty_diff_changed_nothing(document: str) -> None:
    found, report = read(DiffReader(), document)
    assert found == []
    assert report.counts == {"files": 0, "added": 0, "removed": 0}


@pytest.mark.parametrize("document", ["hello\n", "--- a\n", "+++ b\n--- a\n", "* x\n", "\0"])
def test_text_without_a_change_is_unreadable_and_never_no_change(document: str) -> None:
    with pytest.raises(Unreadable, match="not a unified diff"):
        changes(document)


# Limits


def test_hunks_with_nothing_in_them_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crumbs, "FREE", 10)
    hunk = git("@@ -1 +1 @@", "-a", "+b")
    assert only(edit("-a", "+b") + hunk * 9).added == 10
    with pytest.raises(Unreadable, match=r"hunks of less than 128 bytes each"):
        changes(edit("-a", "+b") + hunk * 100)


def test_a_long_line_is_refused_with_its_limit() -> None:
    with pytest.raises(Unreadable, match=r"MAX_LINE_BYTES = .* \(line 4\)"):
        changes(edit("-" + "x" * 10_000_000, "+b"))


def test_a_huge_change_is_counted_in_full_and_kept_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "MAX_KEPT_LINES", 10)
    body = [f"+{number}" for number in range(100)]
    (change,), report = read(DiffReader(), edit(*body, at="-0,0 +1,100"))
    assert (change.status, change.added) == ("added", 100)
    assert len(change.hunks[0].lines) == 10
    assert "counted but not kept" in notes(report)


def test_a_number_of_files_is_refused_with_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "MAX_FILES", 3)
    with pytest.raises(Unreadable, match="MAX_FILES = 3"):
        changes(edit("-a", "+b") * 4)


def test_changes_come_while_the_file_is_still_being_read() -> None:
    source = io.BytesIO((edit("-a", "+b") * 5000).encode())
    stream = DiffReader().read(source, Report())
    next(stream)
    assert source.tell() < 100_000


def test_a_path_changed_twice_is_noted() -> None:
    _, report = read(DiffReader(), edit("-a", "+b") * 2)
    assert "changed more than once" in notes(report)


# Against another parser

words = st.sampled_from(["a", "b", "-- ", "++x", "--- q", "@@ -1 +1 @@", "\\ No", "", " c", "d\r"])


@settings(max_examples=60)
@given(st.lists(words, max_size=12), st.lists(words, max_size=12))
def test_the_counts_are_those_of_unidiff(old: list[str], new: list[str]) -> None:
    import difflib

    lines = list(
        difflib.unified_diff(
            [f"{line}\n" for line in old], [f"{line}\n" for line in new], "a/f", "b/f"
        )
    )
    document = "".join(lines)
    if not lines:
        return
    theirs = PatchSet(io.StringIO(document, newline="\n"))
    ours = changes(document)
    assert [(change.added, change.removed) for change in ours] == [
        (file.added, file.removed) for file in theirs
    ]
    for mine, file in zip(ours, theirs, strict=True):
        for hunk, other in zip(mine.hunks, file, strict=True):
            assert [(line.sign, line.old, line.new, line.text) for line in hunk.lines] == [
                (
                    line.line_type,
                    line.source_line_no,
                    line.target_line_no,
                    line.value.removesuffix("\n"),
                )
                for line in other
            ]
