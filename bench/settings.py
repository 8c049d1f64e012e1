"""The product's settings over a data folder of the benchmark's own."""

import os
from pathlib import Path

os.environ.setdefault("BOUTS_DATA", str(Path(".data/bench").resolve()))

from bouts.settings import *  # noqa: F403
from bouts.settings import BASE_DIR, TEMPLATES

ROOT_URLCONF = "bench.urls"
TEMPLATES[0]["DIRS"] = [*TEMPLATES[0]["DIRS"], BASE_DIR / "bench" / "templates"]

CASES_HELD_AT_ONCE = 100_000  # sixteen reviewers claim two thousand cases and settle none
RANDOM_AUDIT_PERCENT = 0
