"""The product's pages, and beside them the bare one that they are measured against."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from bouts.urls import *  # noqa: F403
from bouts.urls import urlpatterns as pages

ROWS = [(number, f"Agent {number}", f"{number * 1.37:.2f}", "final") for number in range(60)]


@login_not_required
def table(request: HttpRequest) -> HttpResponse:
    """A table of 60 rows through Django's templates, with no query but those for who looks."""
    return render(request, "bench/table.html", {"rows": ROWS})


urlpatterns = [path("bench/table/", table), *pages]
