"""What every page's masthead shows of the queue."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse

from adjudication.models import Case
from bouts.models import User


class Badge:
    """How many cases wait, beside the queue's entry in the menu; counted only where it is shown."""

    def __init__(self, user: User, count: int | None = None) -> None:
        self._user = user
        self._count = count
        self.address = reverse("adjudication:case_queue")

    @property
    def count(self) -> int:
        if self._count is None:
            self._count = Case.objects.visible_to(self._user).unsettled().count()
        return self._count


def badge(request: HttpRequest) -> dict[str, Badge | None]:
    """Return the badge of whoever works through the queue."""
    user = getattr(request, "user", None)
    is_reviewer = user is not None and user.is_authenticated and user.is_reviewer
    return {"badge": Badge(user) if is_reviewer else None}
