"""How far a bundle raises the memory of a worker: `python -m bench.memory SMALL LARGE`.

A process of its own, for the peak that the kernel keeps is that of a whole process. The small
bundle comes first: what any bundle makes a worker load is no part of what a large one costs.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")

import django

django.setup()

from bouts.actions import uploads  # noqa: E402
from bouts.celery import spare_what_stays  # noqa: E402
from judging import steps  # noqa: E402


def main(small: Path, large: Path) -> None:
    """Print the megabytes above idle: at most while storing, and at most while judging."""
    steps.run_steps(uploads.upload(small, name=small.name, by=None).bundle)
    spare_what_stays()
    idle = peak_kb()
    bundle = uploads.upload(large, name=large.name, by=None).bundle
    stored = peak_kb() - idle
    steps.run_steps(bundle)
    judged = peak_kb() - idle
    print(json.dumps({"stored": stored / 1024, "judged": judged / 1024}))


def peak_kb() -> int:
    """Return the peak since the last call."""
    status = Path("/proc/self/status").read_text()
    Path("/proc/self/clear_refs").write_text("5")
    return int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
