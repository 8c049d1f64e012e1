"""Doors to the work. The rows say what is to be done; a task only says: look."""

from __future__ import annotations

import logging

from celery import shared_task
from kombu.exceptions import OperationalError

from judging import actions

logger = logging.getLogger(__name__)


@shared_task
def run_step(step_id: int) -> None:
    for ready in actions.run_step(step_id):
        ring(ready.pk)


@shared_task
def sweep() -> None:
    """Pick up what a dead worker or a lost message left."""
    for step in actions.stranded_steps():
        ring(step.pk)


def ring(step_id: int) -> None:
    """Ask a worker to look at a step. Where no broker answers, the sweep will find it."""
    try:
        run_step.delay(step_id)
    except (OperationalError, OSError) as error:
        logger.warning("no broker to ring for step %s: %s", step_id, error)
