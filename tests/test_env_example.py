"""`.env.example` lists every environment variable that Bouts reads."""

from __future__ import annotations

import re

from django.conf import settings

READ = re.compile(r"""env\.(?:text|required|flag|whole|amount|items)\(\s*"(\w+)\"""")
LISTED = re.compile(r"^#?([A-Z_]+)=", re.MULTILINE)


def test_every_variable_that_is_read_is_listed_and_the_other_way_round() -> None:
    read = {
        name
        for app in ("bouts", "judging", "adjudication", "news")
        for file in (settings.BASE_DIR / app).rglob("*.py")
        for name in READ.findall(file.read_text())
    }
    read |= {
        f"BOUTS_SEAT_{seat}_{field}".upper()
        for seat, fields in settings.SEATS.items()
        for field in fields
    }
    text, for_tests = (settings.BASE_DIR / ".env.example").read_text().split("# Only for tests")
    assert set(LISTED.findall(text)) == read
    assert set(LISTED.findall(for_tests)) == {"BOUTS_CASES", "BOUTS_SHOTS"}
