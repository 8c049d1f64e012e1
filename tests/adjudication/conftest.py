"""Two more reviewers than everybody has: high stakes want three of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from adjudication import tallies
from adjudication.actions.claims import note_slots
from adjudication.models import Case, Claim, Tally
from bouts.models import User
from tests.adjudication.making import case_of, make_match
from tests.factories import make_user


@pytest.fixture
def second(db: None) -> User:
    return make_user("silas", User.Role.REVIEWER)


@pytest.fixture
def third(db: None) -> User:
    return make_user("tove", User.Role.REVIEWER)


@pytest.fixture
def case(db: None) -> Case:
    """A panel that disagrees: 60, 76 and 92."""
    return case_of(make_match())


def lapse(claim: Claim) -> None:
    """Let so much time pass that a claim's lease is over."""
    past = timezone.now() - timedelta(seconds=1)
    Claim.objects.filter(pk=claim.pk).update(expires_at=past)
    held = Case.objects.get(pk=claim.case_id)
    note_slots(held, timezone.now())
    # Written while it lived: the case still names the moment when the lease ends.
    Case.objects.filter(pk=held.pk).update(held_until=past, full_until=past)


@pytest.fixture
def tallies_hold(db: None) -> Iterator[None]:
    """Whatever a test has done by our actions, what is kept is what there is."""
    yield
    assert kept() == counted_anew()


def counted_anew() -> Counter[tuple[object, ...]]:
    settled = Case.objects.filter(closed_at__isnull=False)
    return Counter(settled.order_by().values_list(*tallies.KEY))


def kept() -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for *key, number in Tally.objects.values_list(*tallies.KEY, "number"):
        found[tuple(key)] += number
    return +found
