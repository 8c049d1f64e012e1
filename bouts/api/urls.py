"""The API: every app's resources under one root."""

from __future__ import annotations

app_name = "api"
urlpatterns: list = []
