"""What every page says of a person's notices."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from news.models import Notice


def notices(request: HttpRequest) -> dict[str, object]:
    """Return how many notices are unread. Only for reviewers does it take a query."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    if user.is_reviewer:
        return {
            "unread": SimpleLazyObject(lambda: Notice.objects.visible_to(user).unread().count())
        }
    return {"unread": getattr(user, "unread_notices", 0)}
