"""Teams and who is in them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from bouts.actions import people
from bouts.forms import MembershipForm, TeamForm
from bouts.htmx import confirm_kept, render_page
from bouts.models import Team
from bouts.visitors import operators_only, safe_next


def team_list(request: HttpRequest) -> HttpResponse:
    """Show the teams to ops; lead others to their own team, or to the list of theirs."""
    teams = Team.objects.visible_to(request.user).with_sizes()
    if not request.user.is_operator and len(teams) == 1:
        return redirect(teams[0])
    return render_page(request, "bouts/team_list.html", {"teams": teams, "form": TeamForm()})


@require_POST
@operators_only
def team_create(request: HttpRequest) -> HttpResponse:
    form = TeamForm(request.POST)
    if form.is_valid():
        try:
            team = people.create_team(**form.cleaned_data, by=request.user)
        except people.AlreadyThere as reason:
            form.add_error("slug", str(reason))
        else:
            confirm_kept(request, "team", f"{team} is made. Bundles name it {team.slug}.")
            return redirect(team)
    context = {"teams": Team.objects.with_sizes(), "form": form}
    return render_page(request, "bouts/team_list.html", context, status=422)


def team_detail(request: HttpRequest, slug: str) -> HttpResponse:
    team = get_object_or_404(Team.objects.visible_to(request.user), slug=slug)
    members = (
        team.members.all() if request.user.is_operator else team.members.filter(is_active=True)
    )
    context = {"team": team, "members": members, "agents": team.agents.order_by("name", "version")}
    return render_page(request, "bouts/team_detail.html", context)


@require_POST
@operators_only
def membership_add(request: HttpRequest) -> HttpResponse:
    form = MembershipForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(str(e) for errors in form.errors.values() for e in errors))
        return redirect(safe_next(request) or "bouts:team_list")
    team, person = form.cleaned_data["team"], form.cleaned_data["person"]
    try:
        people.add_member(team, person, by=request.user)
    except people.AlreadyThere as reason:
        messages.info(request, str(reason))
    else:
        messages.success(request, f"{person} is now in {team}.")
    return redirect(safe_next(request) or team)


@require_POST
@operators_only
def membership_remove(request: HttpRequest) -> HttpResponse:
    form = MembershipForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nobody was removed: team or person is not known.")
        return redirect(safe_next(request) or "bouts:team_list")
    team, person = form.cleaned_data["team"], form.cleaned_data["person"]
    people.remove_member(team, person, by=request.user)
    messages.success(request, f"{person} is no longer in {team}.")
    return redirect(safe_next(request) or team)
