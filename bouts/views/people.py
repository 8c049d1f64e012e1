"""The people here, as ops see them: who they are, and what can be done about their accounts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from bouts import audit
from bouts.actions import people
from bouts.forms import NewPasswordForm, PersonFilter, ReasonForm, RoleForm
from bouts.htmx import render_page
from bouts.models import AuditEntry, PasswordReset, Team, User
from bouts.visitors import operators_only

PER_PAGE = 50
NEWS = 10  # the entries of the log that a person's page shows


@operators_only
def person_list(request: HttpRequest) -> HttpResponse:
    form = PersonFilter(request.GET, label_suffix="")
    form.is_valid()  # what does not make sense in an address is left out
    asked = form.cleaned_data
    found = User.objects.prefetch_related("teams")
    if asked.get("q"):
        found = found.matching(asked["q"])
    if asked.get("role"):
        found = found.filter(role=asked["role"])
    if asked.get("status") != "all":
        found = found.filter(is_active=asked.get("status") != "inactive")
    context = {
        "form": form,
        "page": Paginator(found, PER_PAGE).get_page(request.GET.get("page")),
    }
    return render_page(request, "bouts/person_list.html", context, partial="people")


@operators_only
def person_detail(request: HttpRequest, username: str) -> HttpResponse:
    person = get_object_or_404(User, username=username)
    return _show(request, person)


def _show(
    request: HttpRequest, person: User, *, reset: dict[str, object] | None = None, status: int = 200
) -> HttpResponse:
    teams = list(person.teams.all())
    context = {
        "person": person,
        "may_manage": request.user.may_manage(person),
        "role_form": RoleForm(request.user, initial={"role": person.role}),
        "teams": teams,
        "other_teams": Team.objects.exclude(pk__in=[team.pk for team in teams]),
        "tokens": person.api_tokens.live(),
        "log": AuditEntry.objects.filter(subject=audit.subject_of(person)).select_related("actor")[
            :NEWS
        ],
        "reset": reset,
    }
    return render_page(request, "bouts/person_detail.html", context, status=status)


def _changes_person(change: Callable[[HttpRequest, User], str]) -> Callable[..., HttpResponse]:
    """Make a view of a change: it finds the person, and says what came of it on their page.

    `change` returns the sentence to say, or raises `people.NotAllowed`.
    """

    @require_POST
    @operators_only
    @wraps(change)
    def view(request: HttpRequest, username: str) -> HttpResponse:
        person = get_object_or_404(User, username=username)
        try:
            messages.success(request, change(request, person))
        except people.NotAllowed as reason:
            messages.error(request, str(reason))
        return redirect(person)

    return view


@_changes_person
def person_role(request: HttpRequest, person: User) -> str:
    form = RoleForm(request.user, request.POST)
    if not form.is_valid():
        raise people.NotAllowed("Nothing was changed: you cannot give that role.")
    person = people.change_role(person.pk, **form.cleaned_data, by=request.user)
    return f"{person} is now {person.get_role_display()}."


@_changes_person
def person_deactivate(request: HttpRequest, person: User) -> str:
    people.deactivate_person(person.pk, by=request.user, reason=_reason(request))
    return f"{person} can no longer sign in, and their tokens do not work. You can undo this."


@_changes_person
def person_reactivate(request: HttpRequest, person: User) -> str:
    people.reactivate_person(person.pk, by=request.user, reason=_reason(request))
    return f"{person} can sign in again."


def _reason(request: HttpRequest) -> str:
    form = ReasonForm(request.POST)
    form.is_valid()
    return form.cleaned_data.get("reason", "")


@never_cache
@operators_only
def person_reset(request: HttpRequest, username: str) -> HttpResponse:
    """Make a link for a new password. It stands on the answer alone; a GET leads back."""
    person = get_object_or_404(User, username=username)
    if request.method != "POST":
        return redirect(person)
    try:
        link, secret = people.make_reset_link(person.pk, by=request.user)
    except people.NotAllowed as reason:
        messages.error(request, str(reason))
        return redirect(person)
    address = request.build_absolute_uri(reverse("bouts:password_reset", args=[secret]))
    return _show(request, person, reset={"link": link, "address": address}, status=201)


@login_not_required
@never_cache
@sensitive_post_parameters()
def password_reset(request: HttpRequest, secret: str) -> HttpResponse:
    """Set a new password by a link that ops made. Looking at the page does not use it up."""
    link = PasswordReset.objects.by_secret(secret).select_related("user").first()
    if link is None or not link.is_open or not link.user.is_active:
        context = {"link": link, "what": "link"}
        return render_page(request, "bouts/link_closed.html", context, status=410)
    form = NewPasswordForm(link.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            people.reset_password(secret, form.cleaned_data["new_password"])
        except people.LinkClosed:
            return redirect(request.path)
        messages.success(request, "Your new password is set. Sign in with it.")
        return redirect("bouts:sign_in")
    status = 422 if form.errors else 200
    return render_page(
        request, "bouts/password_reset.html", {"form": form, "person": link.user}, status=status
    )
