"""Which build of the pages this is: what was rendered by another is rendered again."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from django.conf import settings

# Whatever shapes the page: its templates, the code that fills them, and the styles and
# scripts whose hashed names it holds.
SOURCES = ("templates", "judging", "bouts", "static")
KINDS = {".html", ".py", ".css", ".js"}


@cache
def build_id() -> str:
    """Return a digest over the sources of the pages, the same in every process of a build."""
    digest = hashlib.sha256()
    for source in SOURCES:
        for file in sorted((settings.BASE_DIR / source).rglob("*")):
            if file.suffix in KINDS and Path(file).is_file():
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
