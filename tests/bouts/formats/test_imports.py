"""Readers depend on nothing of the application, so that anybody can take them as they are."""

from __future__ import annotations

import subprocess
import sys

from django.conf import settings

CHECK = """
import sys
import bouts.formats.sniff
packages = {".".join(name.split(".")[:2]) for name in sys.modules if name.startswith("bouts.")}
print(*sorted(packages), *sorted({"django", "pydantic"} & set(sys.modules)))
"""


def test_readers_load_archives_and_nothing_else_of_the_application() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHECK], cwd=settings.BASE_DIR, capture_output=True, text=True
    )
    assert done.stdout.split() == ["bouts.archives", "bouts.formats"], done.stderr
