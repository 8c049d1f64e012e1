"""Doors to the sending. The rows say what is to be sent; a task only says: look."""

from __future__ import annotations

import logging

from celery import shared_task
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


@shared_task
def deliver(delivery_id: int) -> None:
    from news import delivering

    delivering.deliver(delivery_id)


@shared_task
def sweep() -> None:
    """Send what is due: a retry, what a dead worker left, what a lost message was about."""
    from news import delivering

    for delivery_id in delivering.due():
        ring(delivery_id)


def ring(delivery_id: int) -> None:
    """Ask a worker to look at a delivery. Where no broker answers, the sweep will find it."""
    try:
        deliver.delay(delivery_id)
    except (OperationalError, OSError) as error:
        logger.warning("no broker to ring for delivery %s: %s", delivery_id, error)
