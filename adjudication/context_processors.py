"""What every page's masthead shows of the queue."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse

from bouts.models import User


class Badge:
    """How many cases wait, beside the queue's entry in the menu.

    They were counted when the reviewer was fetched, so that no page takes a query for it.
    """

    def __init__(self, reviewer: User, count: int | None = None) -> None:
        self.count: int = reviewer.unsettled_cases if count is None else count
        self.address = reverse("adjudication:case_queue")


def badge(request: HttpRequest) -> dict[str, Badge | None]:
    """Return the badge of whoever works through the queue."""
    user = getattr(request, "user", None)
    is_reviewer = user is not None and user.is_authenticated and user.is_reviewer
    return {"badge": Badge(user) if is_reviewer else None}
