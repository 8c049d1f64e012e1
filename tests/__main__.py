"""The whole suite in parts, two side by side: `python -m tests`, as `make test` does.

Two cores are what a small machine has, and most of a test's time is its own processor's. The
parts are fixed, so that each test always comes after the same others: what Hypothesis draws
depends on the modules that are loaded, and CI is to draw what the desk drew. Whoever is free
takes the next part, the long ones first, so that both end at about the same time.
"""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AT_ONCE = 2
PARTS = {
    "formats": ("tests/bouts/formats",),
    "views": ("tests/judging/views",),
    "judging": ("tests/judging", "--ignore=tests/judging/views"),
    "browser": ("tests/e2e", "tests/broker"),
    "adjudication": ("tests/adjudication", "tests/news"),
    "bouts": ("tests/bouts", "--ignore=tests/bouts/formats"),
}
# And what is in no other part: so a new folder is not forgotten.
NAMED = [path for paths in PARTS.values() for path in paths if not path.startswith("--")]
PARTS["others"] = ("tests", *(f"--ignore={path}" for path in NAMED))


def main() -> int:
    """Run every part, print each when it is over, and fail where one of them does."""
    failed = []
    with ThreadPoolExecutor(AT_ONCE) as workers:
        for ended in as_completed(workers.submit(_run, name) for name in PARTS):
            code, output = ended.result()
            failed += [code] if code else []
            sys.stdout.buffer.write(output)
            sys.stdout.buffer.flush()
    print(f"{len(PARTS) - len(failed)} of {len(PARTS)} parts passed")
    return 1 if failed else 0


def _run(name: str) -> tuple[int, bytes]:
    print(f"{time.strftime('%H:%M:%S')} part {name} begins", flush=True)
    cache = f"cache_dir=.pytest_cache/{name}"
    command = [sys.executable, "-m", "pytest", "-o", cache, *PARTS[name]]
    ended = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    print(f"{time.strftime('%H:%M:%S')} part {name} ends with {ended.returncode}", flush=True)
    return ended.returncode, ended.stdout


if __name__ == "__main__":
    sys.exit(main())
