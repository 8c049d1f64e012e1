"""Signing in and out."""

from __future__ import annotations

from math import ceil

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from bouts.actions.sign_in import TooManyTries, WrongPassword, check_password
from bouts.forms import SignInForm
from bouts.htmx import render_page
from bouts.templatetags.bouts import plural
from bouts.visitors import client_address, safe_next


@login_not_required
@never_cache
@sensitive_post_parameters("password")
def sign_in(request: HttpRequest) -> HttpResponse:
    there = safe_next(request)
    if request.user.is_authenticated:
        return redirect(there or resolve_url(settings.LOGIN_REDIRECT_URL))
    form = SignInForm(request.POST or None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                user = check_password(
                    request,
                    form.cleaned_data["name"],
                    form.cleaned_data["password"],
                    address=client_address(request),
                )
            except WrongPassword as wrong:
                left = "No try" if not wrong.left else plural(wrong.left, "try,tries")
                form.add_error("password", f"Name and password do not match. {left} left.")
            except TooManyTries as stop:
                minutes = ceil((stop.until - timezone.now()).total_seconds() / 60)
                wait = plural(max(minutes, 1), "minute")
                form.add_error(None, f"Too many tries. Nothing was checked; try again in {wait}.")
                status = 429
            else:
                login(request, user)
                return redirect(there or resolve_url(settings.LOGIN_REDIRECT_URL))
    return render_page(request, "bouts/sign_in.html", {"form": form, "next": there}, status=status)


@require_POST
@login_not_required
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect(safe_next(request) or settings.LOGOUT_REDIRECT_URL)
