"""Headers that every response carries, and the way to the sign-in page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django_htmx.http import HttpResponseClientRedirect

from bouts.api import errors


class ContentSecurityPolicyMiddleware:
    """Send the one strict policy: no inline script, no other host."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        return response


class HeadMiddleware:
    """Answer HEAD as GET is answered, without the content.

    The server leaves it out too, but with a warning in its log each time. A length that is known
    stays in the headers.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.method == "HEAD":
            if response.streaming:
                response.streaming_content = ()
            else:
                response.content = b""
        return response


class SignInRequiredMiddleware(LoginRequiredMiddleware):
    """Send whoever is not signed in to the sign-in page, and from there back to their page.

    Django's own returns to the address that was asked for. That is wrong for two requests: a
    POST, whose address shows nothing, and a part fetched by htmx, which would put the sign-in
    form into the middle of a page. Both return to the page that the person was looking at.
    """

    def handle_no_permission(
        self, request: HttpRequest, view_func: Callable[..., Any]
    ) -> HttpResponse:
        if request.htmx:
            there = request.htmx.current_url_abs_path or resolve_url(settings.LOGIN_REDIRECT_URL)
            return HttpResponseClientRedirect(redirect_to_login(there).url)
        if request.method not in {"GET", "HEAD"}:
            return redirect_to_login(page_before(request))
        return redirect_to_login(request.get_full_path())


class NulMiddleware:
    """Find nothing at an address with a NUL in it, whichever page reads it.

    PostgreSQL stores none and refuses to look for one, so that it names nothing there is.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., Any],
        view_args: Sequence[Any],
        view_kwargs: Mapping[str, Any],
    ) -> HttpResponse | None:
        if not any("\0" in text for text in _texts(request)):
            return None
        if "api" in request.resolver_match.app_names:
            return errors.NotThere.as_view()(request)
        raise Http404


def _texts(request: HttpRequest) -> Iterator[str]:
    yield request.path_info
    for name, values in request.GET.lists():
        yield name
        yield from values


def page_before(request: HttpRequest) -> str:
    """Return the path of the page that sent this request, where it is one of ours."""
    referrer = urlsplit(request.headers.get("Referer", ""))
    if referrer.netloc != request.get_host() or not referrer.path:
        return resolve_url(settings.LOGIN_REDIRECT_URL)
    return referrer._replace(scheme="", netloc="", fragment="").geturl()
