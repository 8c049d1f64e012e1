"""What the trajectory's own commands name: files that they read, hosts that they reach for.

A guess from words, as a shell would split them; nothing is expanded or run. What a command
only writes about (an echo, a commit message, a pattern to search for) is not named by it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

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
LISTERS = frozenset({"dir", "du", "fd", "file", "find", "ls", "stat", "tree", "wc"})
_SEARCHERS = frozenset({"ack", "ag", "awk", "egrep", "fgrep", "grep", "jq", "perl", "rg", "sed"})
_SHELLS = frozenset({"ash", "bash", "dash", "sh", "zsh"})
_QUOTED = re.compile(r"""["']([^"'\n]{2,300})["']""")
_NESTED = 3


@dataclass(frozen=True, slots=True)
class Named:
    """A path that a command names, and whether it prints the content or lists names only."""

    path: str
    is_read: bool


def commands_of(line: str, nested: int = _NESTED) -> Iterator[tuple[list[str], SimpleCommand]]:
    """Yield the core of each simple command of a line, of `bash -c "…"` what is inside."""
    for command in simple_commands(line):
        words = unwrapped(command.words)
        if words and words[0] in _SHELLS and "-c" in words and nested:
            script = words[words.index("-c") + 1 :][:1]
            if script:
                yield from commands_of(script[0], nested - 1)
                continue
        if words or command.writes:
            yield words, command


def paths_of(line: str) -> Iterator[Named]:
    """Yield the paths that a command line reads or lists, after the `cd` before them."""
    folder = ""
    for words, _ in commands_of(line):
        if not words:
            continue
        program, rest = words[0], words[1:]
        if program == "cd":
            folder = posixpath.join(folder, rest[0] if rest else "~")
            continue
        for named in _named(program, rest):
            path = posixpath.normpath(posixpath.join(folder, named.path))
            yield Named(path, named.is_read)


def _named(program: str, rest: list[str]) -> Iterator[Named]:
    if program == "python" and rest[:1] == ["-c"]:
        for quoted in _QUOTED.finditer(" ".join(rest[1:2])):
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
        yield Named(word, program in READERS)
