"""The scripted agents' hands and the sandbox's log: what is written down is what happened."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pytest

from bouts.formats.atif import AtifReader
from bouts.formats.types import Event, EventKind, Report
from examples.agent import Agent, scaffold
from examples.sample_verdicts import Finder, NotThere, added_line
from examples.sandbox import telling
from tests.examples.committed import BUNDLES, EXAMPLES, files

MARKS = json.loads((EXAMPLES / "marks.json").read_text())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("x = 1\n")
    return tmp_path


def read(agent: Agent) -> list[Event]:
    trajectory = agent.trajectory(name="A", version="1", base_model="m")
    report = Report()
    events = list(AtifReader().read(io.BytesIO(json.dumps(trajectory).encode()), report))
    assert not [note for note in report.notes if "not as ATIF" in note.text]
    return events


@pytest.mark.parametrize("dialect", ["plain", "editor"])
def test_our_own_reader_sees_what_the_agent_did(tree: Path, dialect: str) -> None:
    agent = Agent(scaffold(dialect, 0), tree, pace=0)
    agent.hear("Make x two.")
    agent.read("a.py", "a.py")
    agent.plan("One edit.", mark="plan")
    agent.search("x", mark="search")
    agent.edit("a.py", "x = 1", "x = 2", mark="edit")
    agent.run("python3 -c 'raise SystemExit(3)'", mark="run")
    agent.submit("Done.", mark="submit")
    events = read(agent)
    kinds = {mark: events[seq - 1].kind for mark, seq in agent.marks.items()}
    assert kinds == {
        "plan": EventKind.PLAN,
        "search": EventKind.SEARCH,
        "edit": EventKind.EDIT,
        "run": EventKind.RUN,
        "submit": EventKind.SUBMIT,
    }
    edit, run = events[agent.marks["edit"] - 1], events[agent.marks["run"] - 1]
    assert edit.before == hashlib.sha256(b"x = 1\n").hexdigest()
    assert edit.after == hashlib.sha256(b"x = 2\n").hexdigest()
    assert run.exit_code == 3
    assert (tree / "a.py").read_text() == "x = 2\n"


def test_an_edit_that_fits_two_places_is_a_mistake_of_the_script(tree: Path) -> None:
    (tree / "a.py").write_text("x = 1\nx = 1\n")
    with pytest.raises(ValueError, match="2 places"):
        Agent(scaffold("plain", 0), tree, pace=0).edit("a.py", "x = 1", "x = 2")


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.stem)
def test_every_mark_is_an_event_that_the_reader_finds(bundle: Path) -> None:
    source = io.BytesIO(files(bundle)["telemetry.json"].encode())
    events = list(AtifReader().read(source, Report()))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    for mark, seq in MARKS[bundle.stem].items():
        assert 1 <= seq <= len(events), mark
        if "plan" in mark:
            assert events[seq - 1].kind is EventKind.PLAN
        if "revert" in mark:
            earlier = {event.before for event in events[: seq - 1] if event.before}
            assert events[seq - 1].after in earlier, "a revert restores what was there before"


# The sandbox log

OPENED = '7  1.5 openat(AT_FDCWD</tmp/bouts-examples/work>, "{}", O_RDONLY) = 3<{}>'


def test_the_log_keeps_what_the_agent_opens_and_where_it_connects() -> None:
    lines = [
        OPENED.format("../grader/hidden/test_x.py", "/tmp/bouts-examples/grader/hidden/test_x.py"),
        OPENED.format("refunds/money.py", "/tmp/bouts-examples/work/refunds/money.py"),
        OPENED.format("/etc/../root/.ssh/id", "/root/.ssh/id"),
        "7  1.5 connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80), ...}, 16) = -1",
        "7  1.5 what(is this) = ?",
        "no strace line at all",
    ]
    assert list(telling(lines)) == lines


def test_the_log_loses_what_the_machine_does_for_itself() -> None:
    lines = [
        OPENED.format("/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libc.so.6"),
        OPENED.format("/etc/ld.so.cache", "/etc/ld.so.cache"),
        OPENED.format(".git/index", "/tmp/bouts-examples/work/.git/index"),
        '7  1.5 execve("/usr/local/bin/git", ["git"], 0x1) = -1 ENOENT (No such file or directory)',
        "7  1.5 --- SIGCHLD {si_signo=SIGCHLD} ---",
        '7  1.5 connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1',
    ]
    assert list(telling(lines)) == []


def test_the_second_half_of_a_call_goes_where_its_first_half_goes() -> None:
    noise = '7  1.5 openat(AT_FDCWD</tmp>, "/usr/lib/a", O_RDONLY <unfinished ...>'
    deed = '8  1.5 openat(AT_FDCWD</tmp>, "/tmp/bouts-examples/grader/a", O_RDONLY <unfinished ...>'
    ends = ["7  1.6 <... openat resumed>) = 3", "8  1.6 <... openat resumed>) = 3"]
    assert list(telling([noise, deed, *ends])) == [deed, ends[1]]


# Evidence named by its words

DIFF = """\
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -3,4 +3,5 @@ def f():
 kept
-gone
+new one
+new two
 kept
@@ -20 +21 @@
-y = 1
+y = 2
"""


def test_an_added_line_is_found_by_its_number_in_the_new_file() -> None:
    assert added_line(DIFF, "a.py", "new two") == 5
    assert added_line(DIFF, "a.py", "y = 2") == 21


def test_evidence_that_is_not_there_stops_the_making() -> None:
    find = Finder("m", {"diff.patch": DIFF, "NOTES.md": "a\nb\n"}, {"plan": 4})
    assert find("event plan") == {"artifact": "telemetry.json", "place": "event:4"}
    assert find("line NOTES.md | b") == {"artifact": "NOTES.md", "place": "line:2"}
    for words in (
        "event peek",
        "diff a.py | gone",
        "line NOTES.md | c",
        "line PLAN.md | a",
        "hunch x",
    ):
        with pytest.raises(NotThere):
            find(words)
