"""The whole suite, in two halves side by side: `python -m tests`, as `make test` does.

Two cores are what a small machine has, and most of a test's time is its own processor's. The
halves are fixed, so that each test always comes after the same others: what Hypothesis draws
depends on the modules that are loaded, and CI is to draw what the desk drew.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECOND = ("tests/judging/views", "tests/e2e", "tests/broker", "tests/news")
HALVES = (("tests", *(f"--ignore={path}" for path in SECOND)), SECOND)


def main() -> int:
    """Run both halves and print one after the other; fail where one of them does."""
    with tempfile.TemporaryFile() as log:
        second = _started(1, log)
        try:
            codes = [_started(0, None).wait(), second.wait()]
        finally:
            second.terminate()
        log.seek(0)
        sys.stdout.buffer.write(log.read())
    return max(codes)


def _started(half: int, output: object) -> subprocess.Popen[bytes]:
    cache = f"cache_dir=.pytest_cache/half-{half + 1}"
    command = [sys.executable, "-m", "pytest", "-o", cache, *HALVES[half]]
    return subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)  # type: ignore[call-overload]


if __name__ == "__main__":
    sys.exit(main())
