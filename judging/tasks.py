"""Doors to the work. The rows say what is to be done; a task only says: look."""

from __future__ import annotations

import logging

from celery import Task, shared_task
from kombu.exceptions import OperationalError

from judging import asks, narrow, standings, steps
from judging.models import Step

logger = logging.getLogger(__name__)


@shared_task
def work_on(bundle_id: int, with_asks: bool = True) -> None:
    if steps.work_on(bundle_id):
        ring(bundle_id, with_asks=with_asks)
    if with_asks:
        for step_id in asks.free(bundle_id):
            ring_for(step_id)


@shared_task
def ask(step_id: int) -> None:
    match asks.put(step_id):
        case asks.After.THE_ASK:
            ring_for(step_id)
        case asks.After.THE_JUDGES:
            # The other asks were rung for when this one was.
            ring(Step.objects.values_list("bundle", flat=True).get(pk=step_id), with_asks=False)


@shared_task
def sweep() -> None:
    """Pick up what a dead worker or a lost message left, and what need be held back no longer;
    settle the tie bands and the narrower boards where scores have changed."""
    for bundle_id in steps.stranded_bundles():
        ring(bundle_id)
    for step_id in asks.stranded():
        ring_for(step_id)
    standings.settle_bands()
    narrow.settle()


def ring(bundle_id: int, *, with_asks: bool = True) -> None:
    """Ask a worker to look at a bundle. Where no broker answers, the sweep will find it."""
    _ring(work_on, bundle_id, with_asks)


def ring_for(step_id: int) -> None:
    """Ask a worker to put a question to its model, as `ring` does."""
    _ring(ask, step_id)


def _ring(task: Task, *arguments: int) -> None:
    try:
        task.delay(*arguments)
    except (OperationalError, OSError) as error:
        logger.warning("no broker to ring %s for %s: %s", task.name, arguments[0], error)
