"""The application of Bouts with a task to watch; its messages come back after two seconds."""

from __future__ import annotations

import time
from pathlib import Path

import django
from django.conf import settings

from bouts.celery import app

QUEUE = "broker_test"

django.setup()
settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"] = 2


@app.task(name="tests.note")
def note(file: str, gate: str = "") -> None:
    """Write a line at the start and one at the end, which comes once the gate, if any, is there."""
    with Path(file).open("a") as lines:
        lines.write("started\n")
        lines.flush()
        while gate and not Path(gate).exists():
            time.sleep(0.05)
        lines.write("finished\n")
