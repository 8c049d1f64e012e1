"""A receiver, and an endpoint at it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from bouts.models import User
from news import actions
from news.models import Endpoint
from tests.news.receiver import Receiver, receiving


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_HTTP = settings.WEBHOOK_PRIVATE = True
    with receiving() as found:
        yield found


@pytest.fixture
def endpoint(receiver: Receiver, operator: User) -> Endpoint:
    made = actions.create_endpoint(
        by=operator,
        name="Dashboard",
        url=f"{receiver.address}/hook?team=1",
        events=[event.value for event in Endpoint.Event],
    )
    receiver.secret = made.secrets_at(timezone.now())[0]
    return made
