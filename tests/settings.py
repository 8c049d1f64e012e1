"""The real settings, over a database and a folder that end with the test run.

The embedded server of the tests has a data folder of its own, and each run makes a database
named after its process: tests touch nobody's matches, and two runs at once do not meet.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

os.environ.setdefault("BOUTS_DATA", str(Path(__file__).resolve().parent.parent / ".data" / "test"))
os.environ.pop("CELERY_BROKER_URL", None)  # the broker of the tests is their own database
os.environ["BOUTS_OUTSIDE_QUEUE"] = "celery"  # one worker does all, where a test needs one

from bouts.settings import *  # noqa: F403
from bouts.settings import (
    CELERY_BROKER_TRANSPORT_OPTIONS,
    DATABASES,
    SEATS,
    STORAGES,
    broker_conninfo,
)

TEST_DATABASE = f"test_bouts_{os.getpid()}"
DATABASES["default"]["TEST"] = {"NAME": TEST_DATABASE}
# Nobody misses the data of a test after a power cut.
DATABASES["default"]["OPTIONS"]["options"] = "-c synchronous_commit=off"
CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"] = broker_conninfo(
    {**DATABASES["default"], "NAME": TEST_DATABASE}
)

_run_folder = tempfile.TemporaryDirectory(prefix="bouts-test-")
DATA_DIR = Path(_run_folder.name)
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir()
STORAGES["default"]["OPTIONS"]["location"] = DATA_DIR / "artifacts"
# The server that the browser visits has the real one, with its manifest.
STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"

# Nobody's models are asked by a test, whatever the environment says.
for _seat in SEATS.values():
    _seat["key"] = ""

# A panel that agrees opens no case in a test that does not ask for it.
RANDOM_AUDIT_PERCENT = 0

PASSWORD_HASHERS = ["tests.passwords.QuickHasher"]
