"""The addresses of the whole site: each app brings its own."""

from __future__ import annotations

from django.urls import include, path
from django.views.generic import RedirectView

urlpatterns = [
    path("api/", include("bouts.api.urls")),  # first: a program asks most often
    path("", RedirectView.as_view(pattern_name="judging:leaderboard"), name="home"),
    path("", include("bouts.views.urls")),
    path("", include("judging.urls")),
    path("", include("adjudication.urls")),
    path("", include("news.urls")),
]
