"""The browser of the tests. `python -m tests.chromium` sees to it that there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
# A browser that keeps to itself: no first-run pages, no updates, no calls home.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
INSTALL = (("apt-get", "update", "-q"), ("apt-get", "install", "-y", "-q", "chromium"))


def path() -> str | None:
    """Return where Chromium is, or None where it is not installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def ensure() -> None:
    """Install Debian's Chromium where it is missing; leave with what to run where that cannot be."""
    if path():
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        by_hand = " && ".join(f"sudo {' '.join(command)}" for command in INSTALL)
        sys.exit(
            f"The browser tests need Chromium, and only root can install it. Run:\n  {by_hand}"
        )
    for command in INSTALL:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, env=environment)


if __name__ == "__main__":
    ensure()
