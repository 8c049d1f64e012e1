"""One search for matches, agents and challenges: what begins with, or of challenges holds, a text."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.db.models.expressions import OrderBy
from django.db.models.functions import Upper
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.disclosure import open_to
from bouts.htmx import render_page
from bouts.models import Agent, ChallengeVersion, Match, User
from judging.board import Board
from judging.sight import privately

SHORTEST, LONGEST = 2, 120
MOST = 12  # of each kind; more than that wants a filter


class AsIndexed(OrderBy):
    """Orders texts byte by byte, as the index for their beginnings does: the first dozen of half
    a million that fit are read off it, and none of the others."""

    template = "%(expression)s USING ~<~ /* ASC */"  # Django looks for the word


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    text = " ".join(request.GET.get("q", "").split())[:LONGEST]
    context: dict[str, object] = {"text": text, "shortest": SHORTEST, "most": MOST}
    if len(text) >= SHORTEST:
        found = {
            "matches": list(_matches(request.user, text)[: MOST + 1]),
            "agents": list(_agents(request.user, text)[: MOST + 1]),
            "challenges": list(_challenges(text)[: MOST + 1]),
        }
        context |= {name: rows[:MOST] for name, rows in found.items()}
        context |= {f"more_{name}": len(rows) > MOST for name, rows in found.items()}
        context["is_empty"] = not any(found.values())
    return privately(render_page(request, "judging/search.html", context))


def _matches(user: User, text: str) -> QuerySet[Match]:
    """Return matches whose id begins so. An index serves that; the middle of an id has none."""
    return (
        open_to(user)
        .filter(slug__istartswith=text)
        .select_related("agent__team", "challenge")
        .order_by(AsIndexed(Upper("slug")))
    )


def _agents(user: User, text: str) -> QuerySet[Agent]:
    """Return agents whose name, with its version or not, or whose team's name begins so.

    As on the board a reviewer finds none whose match they may still be asked to score blind.
    """
    name, _, version = text.rpartition(" ")
    wanted = Q(name__istartswith=text) | Q(team__name__istartswith=text)
    if name:
        wanted |= Q(name__iexact=name, version__istartswith=version)
    agents = Agent.objects.filter(wanted).select_related("team").order_by("name", "version", "pk")
    if user.is_reviewer:
        agents = agents.exclude(pk__in=Board(None, user).dark.values("agent"))
    return agents


def _challenges(text: str) -> QuerySet[ChallengeVersion]:
    """Return challenges whose title or slug holds the text: there are never many."""
    return (
        ChallengeVersion.objects.filter(
            Q(title__icontains=text) | Q(challenge__slug__icontains=text), is_live=True
        )
        .select_related("challenge")
        .defer("document", "starting_tree")
        .order_by("title")
    )
