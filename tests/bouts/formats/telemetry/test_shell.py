"""A command line, taken apart as a shell would, and what it does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.formats.telemetry.commands import meaning_of
from bouts.formats.telemetry.contents import Copy, Delete, Insert, Replace, Restore, Swap, Write
from bouts.formats.telemetry.shell import _Splitter, simple_commands, unwrapped
from bouts.formats.types import EventKind
from tests import work


def words(line: str) -> list[list[str]]:
    return [command.words for command in simple_commands(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", []),
        ("ls", [["ls"]]),
        ("  ls   -la\t", [["ls", "-la"]]),
        ("a && b || c; d & e | f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a\nb\n\nc", [["a"], ["b"], ["c"]]),
        ("""echo 'a "b"' "c 'd' \\"e\\"" f\\ g""", [["echo", 'a "b"', "c 'd' \"e\"", "f g"]]),
        ("pre'fix'\"ed\"", [["prefixed"]]),
        ("echo 'a;b|c' # not; this", [["echo", "a;b|c"]]),
        ("echo a#b", [["echo", "a#b"]]),
        ("a \\\n b", [["a", "b"]]),
        ("cmd > out 2>&1 < in", [["cmd"]]),
        ("cmd 2> err >> out", [["cmd"]]),
        ("echo $((1<<2)); ls", [["echo", "$"], ["ls"]]),
        ("cat <<EOF; ls\n; rm x\nEOF\npwd", [["cat"], ["ls"], ["pwd"]]),
        ("unclosed 'quote", [["unclosed", "quote"]]),
    ],
)
def test_a_line_is_split_as_a_shell_splits_it(line: str, expected: list[list[str]]) -> None:
    assert words(line) == expected


def test_redirections_name_the_file_that_is_written() -> None:
    (first, second, third, fourth) = simple_commands("a > x; b >> y; c 2> z; d > /dev/null")
    assert (first.writes, first.appends) == ("x", False)
    assert (second.writes, second.appends) == ("y", True)
    assert third.writes is None
    assert fourth.writes is None


def test_a_here_document_is_given_to_its_command() -> None:
    commands = simple_commands("cat > a <<'X' && cat > b <<\"Y\"\n$one\nX\ntwo\nY\nls")
    assert [command.heredoc for command in commands] == ["$one\n", "two\n", None]
    (expanding,) = simple_commands("cat <<X\n$HOME\nX")
    assert expanding.has_heredoc
    assert expanding.heredoc is None


@pytest.mark.parametrize(
    ("line", "core"),
    [
        ("pytest -q", "pytest -q"),
        ("A=1 B=2 pytest", "pytest"),
        ("sudo -u me env -u X C=3 nice -n 5 timeout -k 3 60 python3 -m pytest -x", "pytest -x"),
        ("/usr/bin/python3.11 -W ignore -m unittest a", "unittest a"),
        ("python -u script.py arg", "python script.py arg"),
        ("python -c 'import x'", "python -c import x"),
        ("uv run --with pytest pytest", "pytest"),
        ("poetry run python -m pytest", "pytest"),
        ("coverage run -m pytest", "pytest"),
        ("if ! ./gradlew test", "gradlew test"),
        ("xargs -n 1 grep x", "grep x"),
        ("A=1", ""),
    ],
)
def test_wrappers_are_taken_off_a_command(line: str, core: str) -> None:
    (command,) = simple_commands(line)
    assert " ".join(unwrapped(command.words)) == core


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        *(
            (line, EventKind.TEST)
            for line in (
                *(
                    "pytest",
                    "python -m pytest tests -q 2>&1 | tail -5",
                    "cd x && py.test",
                    "tox -e py",
                ),
                *("python3 -m unittest -v", "./manage.py test app", "python manage.py test"),
                *("go test ./...", "cargo test --all", "cargo +nightly nextest run", "npm test"),
                *(
                    "npm run test:unit",
                    "yarn test",
                    "npx jest a",
                    "make -C lib check",
                    "mvn -q test",
                ),
                *(
                    "python tests/test_x.py",
                    "bash -lc 'cd x; pytest -q'",
                    "pip install . && pytest",
                ),
                *("pytest > out.txt; cat out.txt", "time pytest", "ctest --output-on-failure"),
                "if pytest; then echo ok; fi",
            )
        ),
        *(
            (line, EventKind.RUN)
            for line in (
                *(
                    "pytest --collect-only",
                    "pytest --version",
                    "cargo test --no-run",
                    "python x.py",
                ),
                *(
                    "pip install pytest",
                    "npm install",
                    "make",
                    "echo pytest",
                    "git stash pop",
                    "pwd",
                ),
                *(
                    "git push",
                    "git tag -l",
                    "python - <<'E'\nimport pytest\nE",
                    "./run | grep test",
                    "",
                ),
                *("git checkout -b new", "git add -A", "python x.py && cat out", "make build"),
            )
        ),
        *(
            (line, EventKind.CHECKPOINT)
            for line in (
                *("git commit -m 'run pytest'", "git add -A && git commit -qm x", "git stash"),
                *("git stash push -m x", "git tag v1", "git -C x commit -am y"),
            )
        ),
        *(
            (line, EventKind.READ)
            for line in (
                *("cat a.py", "head -5 a.py | grep x", "sed -n '1,5p' a.py", "cd x && less y"),
                *("git diff", "git log --oneline", "for f in a b; do cat $f; done", "wc -l a.py"),
            )
        ),
        *(
            (line, EventKind.SEARCH)
            for line in (
                "grep -rn x .",
                "rg x",
                "find . -name y | xargs cat",
                "ls -la",
                "git grep x",
            )
        ),
        *(
            (line, EventKind.EDIT)
            for line in (
                *("sed -i s/a/b/ f", "cat > f <<'E'\nx\nE", "echo x >> f", "git apply p.diff"),
                *("patch -p1 < x.diff", "tee f <<'E'\nx\nE", "mkdir -p d && echo x > d/f"),
            )
        ),
        *(
            (line, EventKind.SUBMIT)
            for line in ("submit", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
        ),
    ],
)
def test_a_command_line_has_the_kind_of_its_gravest_part(line: str, kind: EventKind) -> None:
    assert meaning_of(line).kind is kind


@pytest.mark.parametrize(
    ("line", "edits"),
    [
        ("cat > a.py <<'E'\nx = 1\nE\n", [Write("a.py", "x = 1\n")]),
        ("cat <<E > a.py\n$x\nE", [Write("a.py", None)]),
        ("echo one two > a", [Write("a", "one two\n")]),
        ("echo -n x >> a", [Write("a", "x", appends=True)]),
        ("echo $x > a", [Write("a", None)]),
        ("tee -a a b <<'E'\nx\nE", [Write("a", "x\n", True), Write("b", "x\n", True)]),
        ("sed -i 's/a b/c/' x.py y.py", [Write("x.py", None), Write("y.py", None)]),
        ("sed -i -e 's/a/b/' -e 's/c/d/' x.py", [Write("x.py", None)]),
        ("perl -pi -e 's/a/b/' x.py", [Write("x.py", None)]),
        ("rm -f a b", [Delete("a"), Delete("b")]),
        ("cp a b; mv c d", [Copy("b", "a"), Copy("d", "c", moves=True)]),
        ("git checkout -- a b", [Restore("a"), Restore("b")]),
        ("git checkout . && git reset --hard", [Restore(None), Restore(None)]),
        (
            "cd src && echo x > a && cd .. && echo y > b",
            [Write("src/a", "x\n"), Write("src/../b", "y\n")],
        ),
        ("sed -i s/a/b/ f && pytest -q", [Write("f", None)]),
        ("pytest > out.txt", []),
        ("python gen.py > data.json", []),
        (
            "apply_patch <<'E'\n*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\nE",
            [Replace("a", (Swap("x\n", "y\n"),), whole_lines=True)],
        ),
        (
            "str_replace_editor str_replace a.py --old_str 'x y' --new_str z",
            [Replace("a.py", (Swap("x y", "z"),))],
        ),
        ("str_replace_editor insert a.py --insert_line 3 --new_str z", [Insert("a.py", 3, "z")]),
    ],
)
def test_the_edits_of_a_command_line_are_told(line: str, edits: list[object]) -> None:
    assert list(meaning_of(line).edits) == edits


def test_the_file_that_is_looked_at_is_told() -> None:
    assert meaning_of("cd src && head -n 5 a.py | wc").path == "src/a.py"
    assert meaning_of("sed -n 1,5p b.py").path == "b.py"
    assert meaning_of("str_replace_editor view c.py").path == "c.py"


@given(st.text(st.sampled_from("ab '\"\\$`;|&<>()\n\tEOF#-=<"), max_size=60))
def test_no_command_line_is_too_odd(line: str) -> None:
    meaning_of(line)


@pytest.mark.parametrize(
    "part", ["<<A\n", "cat <<A\nx\n", "'", "a|", "bash -c ", "\\", "cd a && ", "sed -i x "]
)
def test_a_long_hostile_line_takes_little_work(part: str) -> None:
    line = part * (50_000 // len(part))
    assert work.calls(lambda: meaning_of(line)) <= 10 * len(line)


@given(st.text(st.sampled_from("ab-=.$*~\"'\\;&|<>()# \t\r\n\v\f\xa0é1"), max_size=12))
def test_a_line_of_bare_words_is_split_as_any_other(line: str) -> None:
    assert list(simple_commands(line)) == list(_Splitter(line).commands())
