"""A run of the whole suite cannot pass in CI by leaving tests out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.skips import SHARED

ROOT = Path(__file__).resolve().parent.parent


def run(folder: Path, source: str, *, ci: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-p", "tests.skips"]
    return subprocess.run(
        [*command, "-c", os.devnull, "--rootdir", str(folder), str(folder)],
        env={
            **os.environ,
            "CI": ci,
            "PYTHONPATH": str(ROOT),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        cwd=folder,
        capture_output=True,
        text=True,
    )


ONE_SKIPPED = "import pytest\ndef test_a(): pass\ndef test_b(): pytest.skip('no browser')\n"
FILE_SKIPPED = "import pytest\npytest.skip('no browser', allow_module_level=True)\n"
FAILS_AS_EXPECTED = "import pytest\n@pytest.mark.xfail\ndef test_a(): assert False\n"


@pytest.mark.parametrize("source", [ONE_SKIPPED, FILE_SKIPPED])
def test_a_skip_fails_the_run_in_ci_and_is_named(tmp_path: Path, source: str) -> None:
    result = run(tmp_path, source, ci="true")
    assert result.returncode != 0
    assert "no browser" in result.stdout.partition("which CI does not allow")[2]


def test_a_skip_is_fine_at_home(tmp_path: Path) -> None:
    assert run(tmp_path, ONE_SKIPPED, ci="").returncode == 0


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    assert run(tmp_path, FAILS_AS_EXPECTED, ci="true").returncode == 0


def test_what_reads_shared_may_be_skipped_only_where_shared_is_absent(tmp_path: Path) -> None:
    source = ONE_SKIPPED.replace("no browser", "../shared is not here")
    assert (run(tmp_path, source, ci="true").returncode == 0) == (not SHARED.exists())
