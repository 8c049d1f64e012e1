"""A shell's command line, taken apart as a shell would, but never expanded or run."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

MAX_COMMAND_CHARS = 100_000  # of a command, what is looked at
MAX_PIECES = 20_000  # of a command, such as words and quotes; what follows is not looked at
MAX_HEREDOCS = 100  # in one command line; what follows more is read as commands
MAX_UNWRAPPINGS = 8  # of `sudo env timeout 5 bash -c "…"`


@dataclass(slots=True)
class SimpleCommand:
    """A program with its arguments: ``words``, after assignments and redirections."""

    words: list[str] = field(default_factory=list)
    piped: bool = False  # takes its input from the command before it
    writes: str | None = None  # the file that its output goes to
    appends: bool = False
    has_heredoc: bool = False
    heredoc: str | None = None  # its text, where nothing in it expands


class CommandLine(tuple[SimpleCommand, ...]):
    """The simple commands of a line, and in how many pieces it was taken apart."""

    pieces: int = 0


_TOKEN = re.compile(
    r"""(?P<space>(?:[ \t\r]|\\\n)+)
      | (?P<newline>\n)
      | (?P<comment>\#[^\n]*)
      | <<-?[ \t]*(?:'(?P<quoted>[^'\n]+)'|"(?P<double_quoted>[^"\n]+)"|(?P<bare>[\w.!@%+-]+))
      | (?P<herestring><<<)
      | (?P<redirection>&>>?|\d*>>|\d*>\|?(?:&[\d-])?|\d*<(?:&[\d-])?)
      | (?P<operator>&&|\|\||;;?|\|&?|&|\(|\))
      | '(?P<single>[^']*)'?
      | "(?P<double>(?:[^"\\]|\\.)*)"?
      | \\(?P<escaped>.?)
      | (?P<plain>[^\s'"\\;&|<>()]+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
# Nothing of this in it: a line of bare words, as most are.
_SPECIAL = re.compile(r"""['"\\;&|<>()\n#]""")
_SPACES = re.compile(r"[ \t\r]+")
_EXPANDS = re.compile(r"[$`\\]")
_NO_FILE = re.compile(r"&[\d-]$")  # as in `2>&1`
_DOUBLE_ESCAPE = re.compile(r'\\([\\"$`])')


@lru_cache(maxsize=2048)
def simple_commands(line: str) -> CommandLine:
    """Split a command line into its simple commands. Do not change what comes back."""
    if len(line) < MAX_PIECES and not _SPECIAL.search(line):
        words = [word for word in _SPACES.split(line) if word]
        commands = CommandLine([SimpleCommand(words)] if words else ())
        commands.pieces = 2 * len(words)  # with the spaces between
        return commands
    splitter = _Splitter(line[:MAX_COMMAND_CHARS])
    commands = CommandLine(splitter.commands())
    commands.pieces = splitter.pieces
    return commands


class _Splitter:
    def __init__(self, line: str) -> None:
        self.pieces = 0
        self._line = line
        self._command = SimpleCommand()
        self._word: str | None = None
        self._redirection: str | None = None  # waits for its file
        self._heredocs: list[tuple[SimpleCommand, str, bool]] = []  # end mark, may expand
        self._heredocs_left = MAX_HEREDOCS

    def commands(self) -> Iterator[SimpleCommand]:
        position = 0
        while position < len(self._line) and self.pieces < MAX_PIECES:
            self.pieces += 1
            token = _TOKEN.match(self._line, position)
            if token is None:  # the pattern takes any character
                break
            position = token.end()
            kind = token.lastgroup
            text = token[kind] if kind else ""
            if kind in {"single", "plain", "other", "escaped"}:
                self._word = (self._word or "") + text
            elif kind == "double":
                self._word = (self._word or "") + _DOUBLE_ESCAPE.sub(r"\1", text)
            elif kind == "comment" and self._word is not None:
                self._word += text
            else:
                self._end_word()
                if kind in {"quoted", "double_quoted", "bare"}:
                    self._command.has_heredoc = True
                    if self._heredocs_left:
                        self._heredocs_left -= 1
                        self._heredocs.append((self._command, text, kind == "bare"))
                elif kind == "redirection":
                    self._redirection = None if _NO_FILE.search(text) else text
                elif kind == "herestring":
                    self._redirection = "<"
                elif kind in {"operator", "newline"}:
                    yield from self._end_command(piped=text.startswith("|") and text != "||")
                    if kind == "newline" and self._heredocs:
                        position = self._read_heredocs(position)
        self._end_word()
        yield from self._end_command(piped=False)

    def _end_word(self) -> None:
        word, self._word = self._word, None
        if word is None:
            return
        redirection, self._redirection = self._redirection, None
        if redirection is None:
            self._command.words.append(word)
        elif ">" in redirection and not redirection.startswith("2") and word != "/dev/null":
            self._command.writes = word
            self._command.appends = ">>" in redirection

    def _end_command(self, *, piped: bool) -> Iterator[SimpleCommand]:
        command, self._redirection = self._command, None
        if command.words or command.writes:
            yield command
        self._command = SimpleCommand(piped=piped)

    def _read_heredocs(self, position: int) -> int:
        """Give each waiting command its text; return where the line goes on."""
        for command, mark, may_expand in self._heredocs:
            end = re.compile(rf"^\t*{re.escape(mark)}[ \t]*$", re.MULTILINE)
            found = end.search(self._line, position)
            if found is None:  # no here-document but a shift, such as `$((1<<2))`
                continue
            text = self._line[position : found.start()]
            if not (may_expand and _EXPANDS.search(text)):
                command.heredoc = text
            position = min(found.end() + 1, len(self._line))
        self._heredocs.clear()
        return position


# What a command really runs

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"})
# Programs that run the command which follows them, with their options that take a value.
_WRAPPERS: dict[str, frozenset[str]] = {
    "bunx": frozenset(),
    "command": frozenset(),
    "env": frozenset({"-C", "-u"}),
    "exec": frozenset(),
    "nice": frozenset({"-n"}),
    "nohup": frozenset(),
    "npx": frozenset({"-p", "--package"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "sudo": frozenset({"-u", "-g"}),
    "timeout": frozenset({"-k", "-s", "--kill-after", "--signal"}),
    "xargs": frozenset({"-I", "-L", "-P", "-d", "-n"}),
    "xvfb-run": frozenset(),
}
# Programs that do so after the word `run` or `exec`.
_RUNNERS = frozenset({"bundle", "conda", "hatch", "pdm", "pipenv", "pixi", "poetry", "rye", "uv"})
_RUNNER_VALUES = frozenset({"-e", "-n", "-p", "--extra", "--group", "--name", "--python", "--with"})
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*|py")
_PYTHON_VALUES = frozenset({"-W", "-X"})


def unwrapped(words: list[str]) -> list[str]:
    """Return the command at the core: ``sudo env A=1 timeout 9 python3 -m pytest`` → pytest.

    The program comes without its folder; any Python is ``python``.
    """
    for _ in range(MAX_UNWRAPPINGS):
        while words and (_ASSIGNMENT.match(words[0]) or words[0] in _KEYWORDS):
            words = words[1:]
        if not words:
            break
        program = posixpath.basename(words[0])
        if program in _WRAPPERS:
            words = after_options(words[1:], _WRAPPERS[program])
            if program == "timeout":
                words = words[1:]  # the duration
        elif program in _RUNNERS and words[1:2] in (["run"], ["exec"]):
            words = after_options(words[2:], _RUNNER_VALUES)
        elif program == "coverage" and words[1:2] == ["run"]:
            words = ["python", *words[2:]]
        elif not _PYTHON.fullmatch(program):
            return [program, *words[1:]]
        elif (module := _module(words[1:])) is None:
            return ["python", *after_options(words[1:], _PYTHON_VALUES, until={"-c"})]
        else:
            words = module
    return words


def after_options(
    words: list[str], with_value: Collection[str], until: Collection[str] = ()
) -> list[str]:
    """Drop the leading options, and the values of those that take one."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        if words[position] in until:
            break
        position += 2 if words[position] in with_value else 1
    return words[position:]


def _module(words: list[str]) -> list[str] | None:
    """Return ``[module, …]`` of ``-m module …``, else None."""
    rest = after_options(words, _PYTHON_VALUES, until={"-c", "-m"})
    return rest[1:] if rest[:1] == ["-m"] and len(rest) > 1 else None
