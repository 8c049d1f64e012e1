"""Errors of the API: always JSON, always with a sentence in ``detail``."""

from __future__ import annotations

from typing import Any

from rest_framework.response import Response
from rest_framework.views import exception_handler

from bouts.bundles.errors import Refused


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn a refused bundle into 422 with all its faults; leave the rest to DRF."""
    if isinstance(error, Refused):
        faults = [fault.as_json() for fault in error.faults]
        detail = f"Refused: {len(faults)} fault{'s' * (len(faults) != 1)}. Nothing was stored."
        return Response({"detail": detail, "faults": faults}, status=422)
    return exception_handler(error, context)
