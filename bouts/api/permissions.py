"""Who may use the API for what. Rows are narrowed by ``visible_to()``, not here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework import permissions
from rest_framework.request import Request

from bouts.models import ApiToken

if TYPE_CHECKING:  # that module imports this one, by its name in the settings
    from rest_framework.views import APIView


class SignedInWithScope(permissions.IsAuthenticated):
    """Signed in; and a token must have the scope that the view asks for.

    A view says ``required_scope``; without one, reading asks for ``read`` and nothing else
    is let through. Sessions carry every scope of their user.
    """

    message = "This token lacks the scope for that."

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not super().has_permission(request, view):
            return False
        scope = getattr(view, "required_scope", None)
        if scope is None:
            if request.method not in permissions.SAFE_METHODS:
                return False
            scope = ApiToken.Scope.READ
        return not isinstance(request.auth, ApiToken) or scope in request.auth.scopes


class IsOperator(permissions.BasePermission):
    message = "Only ops may do this."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated and request.user.is_operator)
