"""`python -m judging.scoring FILE`: what it prints, how it exits, and what it imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from judging.scoring.__main__ import main

ROOT = Path(__file__).resolve().parents[3]

GOOD = {"id": "good-1", "kind": "panel", "input": {"scores": [70]}, "expected": {"votes": 1}}
BAD = {
    "id": "bad-1",
    "kind": "panel",
    "input": {"scores": [70]},
    "expected": {"votes": 2, "branch": "consensus"},
}


def vectors(path: Path, *given: object) -> str:
    path = path / "vectors.json"
    path.write_text(json.dumps({"policy": "2026.1", "vectors": given}))
    return str(path)


def test_vectors_that_pass_print_their_number_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([vectors(tmp_path, GOOD)]) == 0
    assert capsys.readouterr() == ("1 passed, 0 failed\n", "")


def test_each_vector_that_fails_has_one_line_before_the_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([vectors(tmp_path, GOOD, BAD)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        'bad-1 votes expected 2 found 1; branch expected "consensus" found "single"',
        "1 passed, 1 failed",
    ]


def test_a_malformed_file_exits_with_2_and_says_why_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{")
    assert main([str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"{path}: line 1: not JSON")


@pytest.mark.parametrize("arguments", [[], ["one", "two"]])
def test_without_exactly_one_file_it_says_how_it_is_used(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert "usage: python -m judging.scoring FILE" in capsys.readouterr().err


def test_it_runs_as_a_command_and_imports_no_django(tmp_path: Path) -> None:
    script = (
        "import sys; sys.argv[1:] = [sys.argv[1]];"
        "from judging.scoring.__main__ import main; code = main(sys.argv[1:]);"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'django'];"
        "sys.exit(code)"
    )
    path = vectors(tmp_path, BAD)
    for command in (["-c", script, path], ["-m", "judging.scoring", path]):
        ran = subprocess.run(
            [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stdout.splitlines()[-1]) == (1, "0 passed, 1 failed")
