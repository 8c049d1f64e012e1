"""Sending what is due: take a row on a lease, send it outside any transaction, write it down."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from bouts import audit
from news import sending, signing
from news.models import Attempt, Delivery, Endpoint
from news.telling import tell_operators

# How long after each attempt that failed the next one follows; after the last it is given up.
BACKOFF = tuple(
    timedelta(seconds=seconds)
    for seconds in (10, 60, 5 * 60, 30 * 60, 2 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 24 * 3600)
)
A_SWEEP = 500  # deliveries that one sweep rings for


def due() -> list[int]:
    """Return the deliveries that are to be sent now, the longest due first."""
    rows = Delivery.objects.due(timezone.now()).order_by("next_at")
    return list(rows.values_list("pk", flat=True)[:A_SWEEP])


def deliver(delivery_id: int) -> None:
    """Send one delivery, if it is due and nobody else is at it."""
    delivery = _take(delivery_id)
    if delivery is None:
        return
    event, endpoint, at = delivery.event, delivery.endpoint, timezone.now()
    body = event.body.encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Bouts-Webhooks/1",
        **signing.headers_of(str(event.pk), int(at.timestamp()), body, endpoint.secrets_at(at)),
    }
    answer = sending.post(endpoint.url, body, headers, timeout_s=settings.WEBHOOK_TIMEOUT_S)
    _note(delivery, answer, at)


def _take(delivery_id: int) -> Delivery | None:
    with transaction.atomic():
        at = timezone.now()
        rows = Delivery.objects.due(at).select_related("event", "endpoint")
        delivery = (
            rows.select_for_update(of=("self",), skip_locked=True).filter(pk=delivery_id).first()
        )
        if delivery is None:
            return None
        delivery.state = Delivery.State.SENDING
        delivery.tries += 1
        delivery.lease_expires_at = at + settings.WEBHOOK_LEASE
        delivery.save(update_fields=["state", "tries", "lease_expires_at"])
    return delivery


@transaction.atomic
def _note(taken: Delivery, answer: sending.Answer, at: datetime) -> None:
    """Write down what came of an attempt. One whose lease went to another is only logged."""
    endpoint = Endpoint.objects.select_for_update().get(pk=taken.endpoint_id)
    delivery = Delivery.objects.select_for_update().get(pk=taken.pk)
    Attempt.objects.create(
        delivery=delivery,
        number=delivery.attempts.count() + 1,
        at=at,
        status=answer.status,
        failure=answer.failure,
        latency_ms=answer.latency_ms,
        excerpt=answer.excerpt,
    )
    is_mine = (
        delivery.state == Delivery.State.SENDING
        and delivery.lease_expires_at == taken.lease_expires_at
    )
    if not answer.failure:
        delivery.state, delivery.lease_expires_at = Delivery.State.DELIVERED, None
        delivery.save(update_fields=["state", "lease_expires_at"])
        Endpoint.objects.filter(pk=endpoint.pk).update(failing_since=None)
        return
    if is_mine:
        is_last = delivery.tries > len(BACKOFF)
        delivery.state = Delivery.State.GIVEN_UP if is_last else Delivery.State.WAITING
        delivery.lease_expires_at = None
        if not is_last:
            delivery.next_at = timezone.now() + BACKOFF[delivery.tries - 1]
        delivery.save(update_fields=["state", "lease_expires_at", "next_at"])
    _note_failure(endpoint, answer.failure, at)


def _note_failure(endpoint: Endpoint, failure: str, at: datetime) -> None:
    if endpoint.failing_since is None:
        endpoint.failing_since = at
        endpoint.save(update_fields=["failing_since"])
    if endpoint.is_on and at - endpoint.failing_since >= settings.WEBHOOK_OFF_AFTER:
        hours = settings.WEBHOOK_OFF_AFTER.total_seconds() / 3600
        endpoint.off_at = at
        endpoint.off_reason = f"Nothing was taken for {hours:g} hours. Last: {failure}"
        endpoint.save(update_fields=["off_at", "off_reason"])
        audit.record(None, "turn_off_endpoint", endpoint, {"on": True}, {"on": False}, failure)
        tell_operators(
            endpoint,
            f"The webhook “{endpoint}” is turned off: nothing was taken for {hours:g} hours. "
            "What waits for it is kept.",
            at,
        )


def redeliver(delivery: Delivery) -> bool:
    """Send an event again, with the same id; False while it is being sent."""
    again = Delivery.objects.filter(pk=delivery.pk).exclude(
        Q(state=Delivery.State.SENDING, lease_expires_at__gt=timezone.now())
    )
    return bool(
        again.update(
            state=Delivery.State.WAITING, tries=0, next_at=timezone.now(), lease_expires_at=None
        )
    )
