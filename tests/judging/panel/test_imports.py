"""The panel is plain Python, and whoever does not ask a model loads no vendor's library."""

from __future__ import annotations

import subprocess
import sys

from django.conf import settings

CHECK = """
import sys
import judging.panel.client, judging.panel.evidence, judging.panel.scan, judging.panel.seats
loaded = {name.partition(".")[0] for name in sys.modules}
print(*sorted(loaded & {"django", "pydantic_ai", "anthropic", "openai", "google", "httpx2"}))
"""


def test_nobody_pays_for_what_is_not_used() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHECK], cwd=settings.BASE_DIR, capture_output=True, text=True
    )
    assert (done.stdout.strip(), done.returncode) == ("", 0), done.stderr
