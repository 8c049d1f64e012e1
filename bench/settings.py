"""The product's settings over a database and folders of the benchmark's own."""

import os
from pathlib import Path

os.environ.setdefault("BOUTS_DATA", str(Path(".data/bench").resolve()))

from bouts.settings import *  # noqa: F403

ROOT_URLCONF = "bench.urls"
ALLOWED_HOSTS = ["127.0.0.1"]
