"""One view, one template: a whole page for a browser, one part of it for htmx."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers


def render_page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any] | None = None,
    *,
    partial: str | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the page, or only its `partial` where htmx asked for a part of it.

    The view names the partial, never the request. When htmx restores a page from history it
    gets the whole page, so that Back never shows a bare fragment. Messages travel with a
    partial out of band and show as toasts; on a page they stand above its content.
    """
    context = dict(context or {})
    if partial is not None and wants_part(request):
        response = render(request, f"{template}#{partial}", context, status=status)
        toasts = render_to_string("bouts/_toasts.html", {}, request)
        response.write(toasts)
    else:
        response = render(request, template, context, status=status)
    return varied(response)


def varied(response: HttpResponse) -> HttpResponse:
    """Say of a page that htmx may be given another: a page that stood ready says it too."""
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request"])
    return response


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx will put the answer into a page that already stands."""
    htmx = request.htmx
    return bool(htmx) and not htmx.history_restore_request and not htmx.boosted


def confirm_kept(request: HttpRequest, form: str, message: str) -> None:
    """Tell the person that it is saved, and the browser that the draft of `form` may go.

    `form` is the form's `data-keep`; see static/js/keep.js.
    """
    messages.success(request, message, extra_tags=f"kept:{form}")
