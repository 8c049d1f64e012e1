"""The pages of this app."""

from __future__ import annotations

app_name = "bouts"
urlpatterns: list = []
