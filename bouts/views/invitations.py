"""Inviting people, and coming in by an invitation."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from bouts.actions import people
from bouts.forms import AcceptForm, InvitationForm
from bouts.htmx import render_page
from bouts.models import Invitation, User
from bouts.visitors import operators_only

PER_PAGE = 50


@never_cache
@operators_only
def invitation_list(request: HttpRequest) -> HttpResponse:
    """Show invitations; a POST makes one, whose link stands on the answer alone."""
    form = InvitationForm(request.user, request.POST or None)
    made, status = None, 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                invitation, secret = people.invite_person(**form.cleaned_data, by=request.user)
            except people.AlreadyThere as reason:
                form.add_error("email", str(reason))
            else:
                link = request.build_absolute_uri(reverse("bouts:invitation_accept", args=[secret]))
                title = f"The link for {invitation.email}"
                made = {"invitation": invitation, "link": link, "title": title}
                form, status = InvitationForm(request.user), 201
    invitations = Invitation.objects.select_related("team", "invited_by", "accepted_by")
    context = {
        "form": form,
        "made": made,
        "page": Paginator(invitations, PER_PAGE).get_page(request.GET.get("page")),
    }
    return render_page(request, "bouts/invitation_list.html", context, status=status)


@require_POST
@operators_only
def invitation_revoke(request: HttpRequest, invitation_id: int) -> HttpResponse:
    get_object_or_404(Invitation, pk=invitation_id)
    try:
        people.revoke_invitation(invitation_id, by=request.user)
    except people.NotAllowed as reason:
        messages.error(request, str(reason))
    except people.LinkClosed as closed:
        messages.info(request, f"Nothing to revoke: it is {closed.link.state} already.")
    else:
        messages.success(request, "Revoked. The link no longer works.")
    return redirect("bouts:invitation_list")


@login_not_required
@never_cache
@sensitive_post_parameters("new_password", "again")
def invitation_accept(request: HttpRequest, secret: str) -> HttpResponse:
    """Make the account that the link is for. Looking at the page does not use the link up."""
    invitation = Invitation.objects.by_secret(secret).select_related("team").first()
    if invitation is None or not invitation.is_open:
        context = {"link": invitation, "what": "invitation"}
        return render_page(request, "bouts/link_closed.html", context, status=410)
    form = AcceptForm(User(email=invitation.email), request.POST or None)
    if request.method == "POST" and not request.user.is_authenticated and form.is_valid():
        try:
            user = people.accept_invitation(
                secret,
                username=form.cleaned_data["username"],
                name=form.cleaned_data["name"],
                password=form.cleaned_data["new_password"],
            )
        except people.AlreadyThere as reason:
            form.add_error("username", str(reason))
        except people.LinkClosed:
            return redirect(request.path)
        else:
            login(request, user)
            messages.success(request, f"Welcome, {user}. Your account is ready.")
            return redirect("home")
    status = 422 if form.errors else 200
    context = {"form": form, "invitation": invitation}
    return render_page(request, "bouts/invitation_accept.html", context, status=status)
