"""What everybody does about their own account: password and API tokens."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from bouts.actions import people
from bouts.actions.sign_in import TooManyTries, WrongPassword, check_password
from bouts.forms import ChangePasswordForm, TimeZoneForm, TokenForm
from bouts.htmx import render_page
from bouts.models import ApiToken
from bouts.visitors import client_address, safe_next


@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """Show the account; a POST makes a token, whose secret stands on the answer alone."""
    form = TokenForm(request.user, request.POST or None)
    made, status = None, 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                token, secret = people.create_token(request.user, **form.cleaned_data)
            except people.AlreadyThere as reason:
                form.add_error("name", str(reason))
            else:
                made, form, status = (
                    {"token": token, "secret": secret},
                    TokenForm(request.user),
                    201,
                )
    context = {
        "form": form,
        "made": made,
        "tokens": request.user.api_tokens.all(),
        "teams": request.user.teams.all(),
        "zone_form": TimeZoneForm({"time_zone": request.user.time_zone}),
    }
    return render_page(request, "bouts/account.html", context, status=status)


@require_POST
def time_zone_change(request: HttpRequest) -> HttpResponse:
    """Take a zone that is on the list; anything else is no choice of the form's."""
    form = TimeZoneForm(request.POST)
    if not form.is_valid():
        messages.error(request, "There is no such time zone.")
        return redirect("bouts:account")
    request.user.time_zone = form.cleaned_data["time_zone"]
    request.user.save(update_fields=["time_zone"])
    messages.success(request, "Times are shown in that zone from now on.")
    return redirect("bouts:account")


@require_POST
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Revoke a token: one's own, or that of somebody whom one may manage."""
    try:
        token = people.revoke_token(token_id, by=request.user)
    except (ApiToken.DoesNotExist, people.NotAllowed) as error:
        raise Http404 from error
    messages.success(request, f"Revoked: {token.name}. Whatever used it gets 401 from now on.")
    return redirect(safe_next(request) or "bouts:account")


@never_cache
@sensitive_post_parameters()
def password_change(request: HttpRequest) -> HttpResponse:
    form = ChangePasswordForm(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            # Throttled like the sign-in page: a stolen session must not find the password out.
            check_password(
                request,
                request.user.username,
                form.cleaned_data["password"],
                address=client_address(request),
            )
        except WrongPassword:
            form.add_error("password", "This is not your password now.")
        except TooManyTries:
            form.add_error("password", "Too many tries. Wait a quarter of an hour.")
        else:
            people.change_password(request.user, form.cleaned_data["new_password"])
            update_session_auth_hash(request, request.user)
            messages.success(request, "Password changed. You are signed out everywhere else.")
            return redirect("bouts:account")
    status = 422 if form.errors else 200
    return render_page(request, "bouts/password_change.html", {"form": form}, status=status)
