"""Who is asking, from where, and where they want to go next."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from ipaddress import ip_address

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme


def operators_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let only ops and admins in; others get 403."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not request.user.is_operator:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return guarded


def safe_next(request: HttpRequest) -> str | None:
    """Return the address of ours in ``next``, or None: never one that leads elsewhere."""
    there = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(
        there, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return there if is_ours else None


def client_address(request: HttpRequest) -> str | None:
    """Return the visitor's IP address, or None where the server does not know it.

    Behind a proxy (BOUTS_HTTPS) it is what the proxy itself appended: what stands before
    that in the header came from the visitor, who can write anything there.
    """
    given = request.META.get("REMOTE_ADDR", "")
    if settings.HTTPS:
        given = request.headers.get("X-Forwarded-For", given).rpartition(",")[2].strip()
    try:
        return str(ip_address(given))
    except ValueError:
        return None
