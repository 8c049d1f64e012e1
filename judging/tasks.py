"""Doors to the work. The rows say what is to be done; a task only says: look."""

from __future__ import annotations

import logging

from celery import shared_task
from kombu.exceptions import OperationalError

from judging import steps

logger = logging.getLogger(__name__)


@shared_task
def work_on(bundle_id: int) -> None:
    if steps.work_on(bundle_id):
        ring(bundle_id)


@shared_task
def sweep() -> None:
    """Pick up what a dead worker or a lost message left."""
    for bundle_id in steps.stranded_bundles():
        ring(bundle_id)


def ring(bundle_id: int) -> None:
    """Ask a worker to look at a bundle. Where no broker answers, the sweep will find it."""
    try:
        work_on.delay(bundle_id)
    except (OperationalError, OSError) as error:
        logger.warning("no broker to ring for bundle %s: %s", bundle_id, error)
