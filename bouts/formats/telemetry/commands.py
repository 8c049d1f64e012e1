"""What a command line does: a guess from its words, which events mark as ``inferred``.

Of a compound command the gravest part gives the kind: a test before a submission, a commit,
any other run and an edit; only where all parts merely look is it a read or a search. Its
edits are told beside the kind, so that one which edits and then tests loses neither. Of a
pipeline the first command counts, since the others filter what it says.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from bouts.formats.telemetry.contents import Copy, Delete, Edit, Restore, Write, moved
from bouts.formats.telemetry.editors import EDITOR_KINDS, edits_of
from bouts.formats.telemetry.patches import is_patch, patch_edits
from bouts.formats.telemetry.shell import SimpleCommand, after_options, simple_commands, unwrapped
from bouts.formats.types import EventKind

MAX_NESTED = 3  # of `bash -c "bash -c …"`


@dataclass(frozen=True, slots=True)
class Meaning:
    """The kind of a command line, the files that it edits, the file that it looks at."""

    kind: EventKind
    edits: tuple[Edit, ...] = ()
    path: str | None = None
    pieces: int = 0  # in which it was taken apart


_SHELLS = frozenset({"ash", "bash", "dash", "sh", "zsh"})

# Programs that run tests by themselves, and programs with subcommands that do.
_TESTS = {
    *("ava", "bats", "behave", "ctest", "gotestsum", "jest", "karma", "mocha", "nose2"),
    *("nosetests", "nox", "phpunit", "py.test", "pytest", "rspec", "runtests.py", "stestr"),
    *("tox", "trial", "unittest", "vitest", "ward"),
}
_TEST_WORDS: dict[str, frozenset[str]] = {
    program: frozenset(words)
    for programs, words in (
        (("bazel", "bun", "composer", "dart", "deno", "django-admin", "dotnet"), {"test"}),
        (("flutter", "go", "hatch", "manage.py", "meson", "mix", "playwright"), {"test"}),
        (("rails", "sbt", "setup.py", "stack", "swift", "yarn", "zig"), {"test"}),
        (("cargo",), {"nextest", "t", "test"}),
        (("gradle", "gradlew", "just", "make"), {"check", "test", "tests"}),
        (("mvn", "mvnw"), {"test", "verify"}),
        (("npm", "pnpm"), {"t", "test", "tst"}),
        (("rake",), {"spec", "test"}),
    )
    for program in programs
}
_TEST_WORD_AMONG = 6  # words after the program: `make -C lib test`, `cargo +nightly test`
_TEST_SCRIPT = re.compile(r"(?:test_\w+|\w+_test|tests|runtests)\.py")
_IN_PLACE = re.compile(r"-\w*i|--in-place")
_NO_RUN = {
    *("--co", "--collect-only", "--fixtures", "--help", "--list", "--listTests", "--markers"),
    *("--no-run", "--setup-plan", "--version", "-list"),
}

_READS = {
    *("awk", "bat", "batcat", "cat", "cmp", "diff", "file", "goto", "head", "hexdump", "jq"),
    *("less", "md5sum", "more", "nl", "od", "open", "scroll_down", "scroll_up", "sed"),
    *("sha256sum", "sort", "stat", "strings", "tail", "view", "wc", "xxd"),
}
_SEARCHES = {
    *("ack", "ag", "egrep", "fd", "fdfind", "fgrep", "find", "find_file", "grep", "locate"),
    *("ls", "rg", "search_dir", "search_file", "tree", "whereis", "which"),
}
_GIT_READS = {"blame", "diff", "log", "ls-files", "show", "status"}
# Say nothing about what a command line is for.
_NEUTRAL = {
    *(".", ":", "[", "alias", "chmod", "clear", "date", "done", "echo", "exit", "export"),
    *("false", "fi", "for", "mkdir", "popd", "printf", "pushd", "pwd", "read", "set", "sleep"),
    *("source", "test", "touch", "true", "unset", "wait", "whoami", "}"),
}
_EDITORS = {"create", "edit", "insert", "str_replace_editor"}
# As SWE-agent and mini-swe-agent end their work.
_SUBMITS = {"submit"}
_SUBMIT_MARK = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"

_FILTERS = {EventKind.READ, EventKind.SEARCH, EventKind.RUN}
_GRAVEST = (
    EventKind.TEST,
    EventKind.SUBMIT,
    EventKind.CHECKPOINT,
    EventKind.RUN,
    EventKind.EDIT,
)


@lru_cache(maxsize=4096)
def meaning_of(line: str) -> Meaning:
    """Tell what a command line does. A plain `run` is what nothing more can be said of."""
    return _meaning(line, MAX_NESTED)


def _meaning(line: str, nested: int) -> Meaning:
    parts: list[Meaning] = []
    folder = ""  # where a `cd` of this line has led
    line_commands = simple_commands(line)
    for command in line_commands:
        words = unwrapped(command.words)
        if words[:1] == ["cd"]:
            folder = posixpath.join(folder, words[1] if len(words) > 1 else "~")
        elif part := _part(words, command, nested):
            parts.append(_moved(part, folder))
    edits = tuple(edit for part in parts for edit in part.edits)
    kinds = [part.kind for part in parts]
    kind = next((kind for kind in _GRAVEST if kind in kinds), None)
    if kind is None:
        kind = kinds[0] if kinds else EventKind.RUN
    path = next((part.path for part in parts if part.kind is kind and part.path), None)
    pieces = line_commands.pieces + sum(part.pieces for part in parts)
    return Meaning(kind, edits, path, pieces)


def _moved(part: Meaning, folder: str) -> Meaning:
    """Return the meaning with its paths as seen from where the line began."""
    if not folder:
        return part
    edits = tuple(moved(edit, lambda path: posixpath.join(folder, path)) for edit in part.edits)
    path = posixpath.join(folder, part.path) if part.path else None
    return Meaning(part.kind, edits, path, part.pieces)


def _part(words: list[str], command: SimpleCommand, nested: int) -> Meaning | None:
    """Tell what a simple command does; None where it says nothing, such as ``echo``."""
    if words and words[0] in _SHELLS and (script := _script(words[1:])) is not None:
        return _meaning(script, nested - 1) if nested else None
    part = _plain_part(words, command)
    is_filter = command.piped and part and part.kind in _FILTERS
    return None if is_filter else part


def _script(words: list[str]) -> str | None:
    """Return what a shell is given to run: ``-c`` or ``-lc`` and the script."""
    for option, script in pairwise(words):
        if option.startswith("-") and not option.startswith("--") and option.endswith("c"):
            return script
    return None


def _plain_part(words: list[str], command: SimpleCommand) -> Meaning | None:
    program, arguments = (words[0], words[1:]) if words else ("", [])
    if is_test(words):
        return Meaning(EventKind.TEST)
    if program in _SUBMITS or (program == "echo" and _SUBMIT_MARK in arguments):
        return Meaning(EventKind.SUBMIT)
    if program == "git":
        return _git_part(arguments, command)
    if edits := _edits(program, arguments, command):
        return Meaning(EventKind.EDIT, tuple(edits))
    if program in {"patch", "apply_patch", "applypatch"}:
        return Meaning(EventKind.EDIT)
    if program in _EDITORS:
        return _editor_part(program, arguments)
    files = [word for word in arguments if not word.startswith("-")]
    if program in _READS:
        # `head -n 5 file`, `sed -n 1,5p file`: the file comes last, and `goto` has none.
        return Meaning(EventKind.READ, path=files[-1] if files else None)
    if program in _SEARCHES:
        return Meaning(EventKind.SEARCH)
    return None if program in _NEUTRAL or not words else Meaning(EventKind.RUN)


def _editor_part(program: str, arguments: list[str]) -> Meaning:
    """Tell what SWE-agent's editors do, which stand in a command line as programs."""
    if program != "str_replace_editor":
        path = arguments[0] if program == "create" and arguments else None
        return Meaning(EventKind.EDIT, (Write(path, ""),) if path else ())
    action, path, *options = [*arguments, "", ""][: max(len(arguments), 2)]
    values = {name.lstrip("-"): value for name, value in pairwise(options) if name[:2] == "--"}
    if EDITOR_KINDS.get(action) is EventKind.READ:
        return Meaning(EventKind.READ, path=path)
    given: dict[str, Any] = {**values, "path": path}
    if (line := values.get("insert_line", "")).isdecimal():
        given["insert_line"] = int(line)
    return Meaning(EventKind.EDIT, tuple(edits_of(action, given)))


def is_test(words: list[str]) -> bool:
    """Whether an unwrapped command runs tests, rather than listing them."""
    if not words or not _NO_RUN.isdisjoint(words):
        return False
    program, arguments = words[0], words[1:]
    if program == "python" and arguments:
        program = arguments[0].rpartition("/")[2]
        arguments = arguments[1:]
        if _TEST_SCRIPT.fullmatch(program):
            return True
    if program in _TESTS:
        return True
    if (
        arguments[:1] == ["run"]
        and len(arguments) > 1
        and program in {"npm", "pnpm", "yarn", "bun"}
    ):
        return arguments[1].startswith("test")
    return not _TEST_WORDS.get(program, frozenset()).isdisjoint(arguments[:_TEST_WORD_AMONG])


def _git_part(arguments: list[str], command: SimpleCommand) -> Meaning:
    arguments = after_options(arguments, ("-C", "-c"))
    words = [word for word in arguments if not word.startswith("-")]
    action, options = (words[0] if words else ""), set(arguments)
    paths = arguments[arguments.index("--") + 1 :] if "--" in options else words[1:]
    match action:
        case "commit" if "--dry-run" not in options:
            return Meaning(EventKind.CHECKPOINT)
        case "stash" if words[1:2] in ([], ["push"], ["save"]):
            return Meaning(EventKind.CHECKPOINT)
        case "tag" if len(words) > 1 and options.isdisjoint({"-l", "--list", "-d", "--delete"}):
            return Meaning(EventKind.CHECKPOINT)
        case "apply":
            return Meaning(EventKind.EDIT, _heredoc_edits(command))
        case "reset" if "--hard" in options:
            return Meaning(EventKind.EDIT, (Restore(None),))
        case "checkout" | "restore" if options.isdisjoint({"-b", "-B", "--staged", "-S"}):
            # A word may name a branch too: a path that was never written restores nothing.
            edits = [Restore(None if path in {".", ":/"} else path) for path in paths]
            return Meaning(EventKind.EDIT if edits else EventKind.RUN, tuple(edits))
        case "grep":
            return Meaning(EventKind.SEARCH)
    return Meaning(EventKind.READ if action in _GIT_READS else EventKind.RUN)


def _edits(program: str, arguments: list[str], command: SimpleCommand) -> list[Edit]:
    """Return the edits of a command that is there to write files, and of no other."""
    files = [word for word in arguments if not word.startswith("-")]
    options = [word for word in arguments if word.startswith("-")]
    if program in {"apply_patch", "applypatch"} and (patch := next(filter(is_patch, files), "")):
        return patch_edits(patch)
    if program in {"patch", "apply_patch", "applypatch"}:
        return list(_heredoc_edits(command))
    if program in {"sed", "perl"} and any(_IN_PLACE.match(option) for option in options):
        return [Write(path, None) for path in _after_script(arguments)]
    if program == "tee":
        appends = not {"-a", "--append"}.isdisjoint(options)
        return [Write(path, command.heredoc, appends) for path in files]
    if program in {"cp", "mv"} and len(files) == 2:
        return [Copy(files[1], files[0], moves=program == "mv")]
    if program in {"rm", "unlink"}:
        return [Delete(path) for path in files]
    if command.writes and program in {"", ":", "cat", "echo", "printf", "true"}:
        text = _written(program, arguments, command)
        return [Write(command.writes, text, command.appends)]
    return []


def _after_script(arguments: list[str]) -> list[str]:
    """Return the files of ``sed -i s/a/b/ file`` or ``perl -pi -e s/a/b/ file``."""
    files: list[str] = []
    has_script = is_script = False
    for word in arguments:
        if is_script:
            has_script, is_script = True, False
        elif word.startswith("-"):
            is_script = word in {"--expression", "--file"} or bool(re.match(r"-\w*[ef]$", word))
        else:
            files.append(word)
    return files if has_script else files[1:]


def _written(program: str, arguments: list[str], command: SimpleCommand) -> str | None:
    """Return the text that a command writes, where nothing in it needs a shell to know."""
    if program == "cat":
        return command.heredoc if not arguments else None
    if program in {":", "true"}:
        return ""
    if program == "echo" and not re.search(r"[$`\\*?~]", "".join(arguments)):
        if arguments[:1] == ["-n"]:
            return " ".join(arguments[1:])
        return " ".join(arguments) + "\n"
    return None


def _heredoc_edits(command: SimpleCommand) -> tuple[Edit, ...]:
    return tuple(patch_edits(command.heredoc)) if command.heredoc else ()
