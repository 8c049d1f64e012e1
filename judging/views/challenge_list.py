"""The challenges, each in its live version."""

from __future__ import annotations

from django.db.models import Count, F, Q
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.htmx import render_page
from bouts.models import ChallengeVersion


@require_safe
def challenge_list(request: HttpRequest) -> HttpResponse:
    versions = (
        ChallengeVersion.objects.filter(is_live=True)
        .select_related("challenge")
        .only("title", "family", "number", "created_at", "challenge")
        .annotate(
            disclosure=F("document__disclosure"),
            stakes=F("document__stakes"),
            matches=Count(
                "challenge__matches", filter=Q(challenge__matches__bundles__is_live=True)
            ),
        )
        .order_by("title")
    )
    return render_page(request, "judging/challenge_list.html", {"versions": versions})
