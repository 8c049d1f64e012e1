"""What every page says of a person's notices."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from news.models import Notice


def notices(request: HttpRequest) -> dict[str, object]:
    """Return how many notices are unread, which was counted when the person was fetched.

    A reviewer who has some takes a query more: not all of them may be shown now.
    """
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    unread = getattr(user, "unread_notices", 0)
    if unread and user.is_reviewer:
        unread = SimpleLazyObject(lambda: Notice.objects.visible_to(user).unread().count())
    return {"unread": unread}
