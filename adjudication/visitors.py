"""Who may come in here at all. Which cases they see, `CaseQuerySet.visible_to` says."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse

View = Callable[..., HttpResponse]


def officials_only(view: View) -> View:
    """Let in whoever works for the competition; for others there is nothing here."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not request.user.is_official:
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


def reviewers_only(view: View) -> View:
    """Let reviewers and leads in; ops and admins only read, others find nothing here."""

    @wraps(view)
    @officials_only
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not request.user.is_reviewer:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return guarded


def leads_only(view: View) -> View:
    """Let leads, ops and admins in; reviewers are refused, others find nothing here."""

    @wraps(view)
    @officials_only
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not (request.user.is_lead or request.user.is_operator):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return guarded
