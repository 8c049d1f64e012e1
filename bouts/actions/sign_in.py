"""Signing in, with a limit on wrong guesses that holds over all workers."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth import authenticate
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from bouts.locks import one_at_a_time
from bouts.models import SignInTry, User
from bouts.tokens import digest_of

WINDOW = timedelta(minutes=15)
# How many tries without success a window allows: for a name from one address; for a name
# from anywhere, more, so that a stranger does not easily lock somebody out; and for an
# address, which may be a whole office behind one router.
LIMITS = ((("name_digest", "address"), 5), (("name_digest",), 25), (("address",), 100))


class WrongPassword(Exception):
    """Name and password do not match; `left` tries are left."""

    def __init__(self, left: int) -> None:
        super().__init__(left)
        self.left = left


class TooManyTries(Exception):
    """Nothing was checked; the next try is allowed at `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__(until)
        self.until = until


def check_password(request: HttpRequest, name: str, password: str, *, address: str | None) -> User:
    """Return the active person with this name (or email address) and password.

    Whether the name exists shows in nothing: not in what is raised, nor in the count of
    tries, nor in the time it takes (Django hashes the password of a stranger too).
    """
    given = {"name_digest": digest_of(name.lower()), "address": address}
    left = take_try(given)
    known = User.objects.by_login(name)
    username = known.username if known else name
    user = authenticate(request, username=username, password=password)
    if user is None:
        raise WrongPassword(left)
    SignInTry.objects.filter(**given).delete()
    return user


@transaction.atomic
def take_try(given: dict[str, str | None]) -> int:
    """Count a try before it is made, so that guesses sent at once count too.

    Return how many are left after it. Raises `TooManyTries` where none is.
    """
    one_at_a_time("sign in")
    start = timezone.now() - WINDOW
    SignInTry.objects.filter(at__lte=start).delete()
    left = []
    for fields, limit in LIMITS:
        if given["address"] is None and fields == ("address",):
            continue  # behind a socket all visitors look alike
        tries = SignInTry.objects.filter(**{field: given[field] for field in fields})
        times = list(tries.order_by("-at").values_list("at", flat=True)[:limit])
        if len(times) == limit:
            raise TooManyTries(until=times[-1] + WINDOW)
        left.append(limit - len(times) - 1)
    SignInTry.objects.create(**given)
    return min(left)
