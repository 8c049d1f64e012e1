"""What the trajectory's own commands name: files that they read, hosts that they reach for.

A guess from words, as a shell would split them; nothing is expanded or run. What a command
only writes about (an echo, a commit message, a pattern to search for) is not named by it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from bouts.formats.telemetry.shell import SimpleCommand, simple_commands, unwrapped

# Programs that print or run what a file holds, and those that only tell what files there are.
READERS = frozenset(
    {
        *("awk", "base64", "bat", "cat", "cmp", "cp", "diff", "egrep", "fgrep", "grep", "head"),
        *("hexdump", "jq", "less", "more", "mv", "nl", "od", "open", "paste", "perl", "rsync"),
        *("ruby", "sed", "sort", "source", ".", "strings", "tac", "tail", "tar", "vi", "view"),
        *("vim", "xxd", "zip", "bash", "sh", "node", "python", "pytest", "py.test", "rg", "ag"),
        *("ack", "scp", "ln", "git", "unittest"),
    }
)
# Of these, those that print what they read and nothing else.
PRINTERS = frozenset(
    {
        *("base64", "bat", "cat", "egrep", "fgrep", "grep", "head", "hexdump", "less", "more"),
        *("nl", "od", "rg", "sed", "strings", "tac", "tail", "xxd"),
    }
)
# What gives nothing out that did not come in.
_FILTERS = frozenset({"awk", "cut", "jq", "sort", "tr", "uniq"})
LISTERS = frozenset({"dir", "du", "fd", "file", "find", "ls", "stat", "tree", "wc"})
FETCHERS = frozenset({"aria2c", "curl", "http", "httpie", "https", "lynx", "wget", "xh"})
_SEARCHERS = frozenset({"ack", "ag", "awk", "egrep", "fgrep", "grep", "jq", "perl", "rg", "sed"})
_SHELLS = frozenset({"ash", "bash", "dash", "sh", "zsh"})
_INTERPRETERS = frozenset({"node", "perl", "php", "python", "ruby"})
_SHOWS_BLOB = re.compile(r"(?:[\w./~^@{}-]*):(?P<path>[^:\s].*)")  # of git: a revision, a path
_SCRIPT_FOLLOWS = re.compile(r"-[a-z]{0,4}c")  # also in a cluster, as in `bash -lc`
# How a printer names the file that its lines are of: `path:12:…`, `path-12-…`, `==> path <==`.
_OF_FILE = re.compile(r"^(?:==> (?P<head>.{1,300}) <==$|(?P<path>[^\s:]{1,300}):(?:\d+[:-])?)")
MOST_OUTPUT_LINES = 2_000
_QUOTED = re.compile(r"""["']([^"'\n]{2,300})["']""")
_NESTED = 3


@dataclass(frozen=True, slots=True)
class Named:
    """A path that a command names.

    ``is_read`` says that its content is taken in, not its name alone; ``is_printed`` that what
    the command line prints can be nothing but that content.
    """

    path: str
    is_read: bool
    is_printed: bool = False


def commands_of(line: str, nested: int = _NESTED) -> Iterator[tuple[list[str], SimpleCommand]]:
    """Yield the core of each simple command of a line, of `bash -c "…"` what is inside."""
    for command in simple_commands(line):
        words = unwrapped(command.words)
        if words and words[0] in _SHELLS and nested:
            script = _script(words) or command.heredoc
            if script:
                yield from commands_of(script, nested - 1)
                continue
        if words or command.writes:
            yield words, command


def _script(words: list[str]) -> str:
    """Return what a shell is given to run by `-c`; empty where it is not."""
    for option, script in pairwise(words[1:]):
        if _SCRIPT_FOLLOWS.fullmatch(option):
            return script
    return ""


def paths_of(line: str, output: str = "") -> Iterator[Named]:
    """Yield the paths that a command line reads or lists, after the `cd` before them.

    Of an output those count that a printer among the commands wrote before their lines.
    """
    folder = ""
    found: list[Named] = []
    # Whatever else prints may have written the output instead; a filter only passes it on.
    is_alone, prints = True, False
    for words, command in commands_of(line):
        if not words:
            continue
        program, rest = words[0], words[1:]
        if program == "cd":
            folder = posixpath.join(folder, rest[0] if rest else "~")
            continue
        shows = program in PRINTERS or (program == "git" and rest[:1] == ["show"])
        is_alone = is_alone and (shows or (command.piped and program in _FILTERS))
        prints = prints or shows
        found += (
            Named(posixpath.normpath(posixpath.join(folder, named.path)), named.is_read)
            for named in _named(program, rest, command)
        )
    yield from (Named(named.path, named.is_read, is_alone and prints) for named in found)
    if prints:
        for path in before_lines(output):
            yield Named(posixpath.normpath(posixpath.join(folder, path)), True, is_alone)


def before_lines(output: str) -> Iterator[str]:
    """Yield the paths that a printer wrote before the lines of several files."""
    for line in output.split("\n", MOST_OUTPUT_LINES)[:MOST_OUTPUT_LINES]:
        if named := _OF_FILE.match(line):
            path = named["head"] or named["path"]
            if "/" in path:
                yield path


def _named(program: str, rest: list[str], command: SimpleCommand) -> Iterator[Named]:
    if program in _INTERPRETERS and (rest[:1] in (["-c"], ["-e"]) or command.heredoc):
        for quoted in _QUOTED.finditer(command.heredoc or " ".join(rest[1:2])):
            yield Named(quoted[1], True)
        return
    if program == "find":
        for word in rest:
            if word.startswith(("-", "(", "!")):
                return
            yield Named(word, False)
        return
    if program == "git" and rest[:1] not in (["show"], ["diff"], ["grep"], ["log"]):
        return
    if program not in READERS and program not in LISTERS:
        return
    words = [word for word in rest if not word.startswith("-")]
    if program in _SEARCHERS and not {"-f", "-e"} & set(rest):
        words = words[1:]  # what is searched for
    if program in {"cp", "mv", "rsync", "scp", "ln"}:
        words = words[:-1]  # where it goes to
    for word in words:
        blob = _SHOWS_BLOB.fullmatch(word) if program == "git" else None
        yield Named(blob["path"] if blob else word, program in READERS)
