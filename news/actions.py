"""What ops do with endpoints, and people with their notices."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from bouts import audit
from bouts.models import User
from news import delivering, signing, tasks, telling
from news.models import Delivery, Endpoint, Notice


@transaction.atomic
def create_endpoint(*, by: User, **fields: Any) -> Endpoint:
    """Make an endpoint. Its secret is what `secrets_at` tells now; show it this once."""
    endpoint = Endpoint.objects.create(created_by=by, **fields)
    audit.record(by, "create_endpoint", endpoint, None, _told(endpoint))
    return endpoint


@transaction.atomic
def change_endpoint(endpoint: Endpoint, fields: Mapping[str, Any], *, by: User) -> Endpoint:
    endpoint = _locked(endpoint)
    before = _told(endpoint)
    for name, value in fields.items():
        setattr(endpoint, name, value)
    endpoint.save(update_fields=list(fields))
    if before != _told(endpoint):
        audit.record(by, "change_endpoint", endpoint, before, _told(endpoint))
    return endpoint


@transaction.atomic
def rotate_secret(endpoint: Endpoint, *, by: User) -> Endpoint:
    """Give an endpoint a new secret. The one before signs beside it for a while."""
    endpoint, at = _locked(endpoint), timezone.now()
    endpoint.nonce_before, endpoint.before_until = endpoint.nonce, at + settings.WEBHOOK_OVERLAP
    endpoint.nonce = signing.new_nonce()
    endpoint.save(update_fields=["nonce", "nonce_before", "before_until"])
    audit.record(by, "rotate_secret", endpoint, None, {"both_until": endpoint.before_until})
    return endpoint


@transaction.atomic
def turn_off(endpoint: Endpoint, *, by: User) -> Endpoint:
    """Send nothing more there. What happens meanwhile is not told; what waited is kept."""
    endpoint = _locked(endpoint)
    if endpoint.is_on:
        endpoint.off_at, endpoint.off_reason = timezone.now(), f"Turned off by {by}."
        endpoint.save(update_fields=["off_at", "off_reason"])
        audit.record(by, "turn_off_endpoint", endpoint, {"on": True}, {"on": False})
    return endpoint


@transaction.atomic
def turn_on(endpoint: Endpoint, *, by: User) -> Endpoint:
    """Send there again, what waited first."""
    endpoint = _locked(endpoint)
    if not endpoint.is_on:
        endpoint.off_at, endpoint.off_reason, endpoint.failing_since = None, "", None
        endpoint.save(update_fields=["off_at", "off_reason", "failing_since"])
        audit.record(by, "turn_on_endpoint", endpoint, {"on": False}, {"on": True})
    return endpoint


@transaction.atomic
def send_test(endpoint: Endpoint) -> Delivery:
    event = telling.test_event()
    event.save(force_insert=True)
    return telling.send(event, [endpoint])[0]


@transaction.atomic
def redeliver(delivery: Delivery, *, by: User) -> bool:
    """Send an event again under its own id; False while it is being sent at this moment."""
    if not delivering.redeliver(delivery):
        return False
    audit.record(by, "redeliver", delivery.endpoint, None, {"event": str(delivery.event_id)})
    transaction.on_commit(partial(tasks.ring, delivery.pk))
    return True


def mark_read(user: User, notice_id: int | None = None) -> int:
    """Mark one of a person's notices read, or all; return how many were not."""
    notices = Notice.objects.visible_to(user).unread()
    if notice_id is not None:
        notices = notices.filter(pk=notice_id)
    return Notice.objects.filter(pk__in=notices.values("pk")).update(read_at=timezone.now())


def _locked(endpoint: Endpoint) -> Endpoint:
    return Endpoint.objects.select_for_update().get(pk=endpoint.pk)


def _told(endpoint: Endpoint) -> dict[str, Any]:
    return {"name": endpoint.name, "url": endpoint.url, "events": sorted(endpoint.events)}
