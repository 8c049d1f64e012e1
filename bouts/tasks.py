"""Doors to the work on uploads. The row says what is to be done; a task only says: look."""

from __future__ import annotations

import logging

from celery import shared_task
from kombu.exceptions import OperationalError

from bouts.actions import uploads

logger = logging.getLogger(__name__)


@shared_task
def process_upload(upload_id: str) -> None:
    uploads.process(upload_id)


@shared_task
def sweep_uploads() -> None:
    """Pick up what a dead worker or a lost message left."""
    for row in uploads.stranded():
        ring(str(row.pk))


def ring(upload_id: str) -> None:
    """Ask a worker to look at an upload. Where no broker answers, the sweep will find it."""
    try:
        process_upload.delay(upload_id)
    except (OperationalError, OSError) as error:
        logger.warning("no broker to ring for upload %s: %s", upload_id, error)
