"""What every page's masthead shows."""

from __future__ import annotations

from django.http import HttpRequest


def masthead(request: HttpRequest) -> dict[str, object]:
    return {}
