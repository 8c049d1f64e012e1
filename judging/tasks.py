"""Doors to the work. The rows say what is to be done; a task only says: look."""

from __future__ import annotations

import logging

from celery import Task, shared_task
from kombu.exceptions import OperationalError

from judging import asks, narrow, standings, steps
from judging.models import Step
from judging.rejudging import actions as rejudging_actions
from judging.rejudging import work as rejudging_work

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
def rejudge(rejudging_id: int) -> None:
    """Preview one match of a rejudging, then ring for the next: other work comes in between."""
    if rejudging_work.work_on(rejudging_id):
        ring_for_rejudging(rejudging_id)


@shared_task
def apply_rejudging(rejudging_id: int) -> None:
    rejudging_actions.apply(rejudging_id)


@shared_task
def sweep() -> None:
    """Pick up what a dead worker or a lost message left, and what need be held back no longer;
    settle the tie bands and the narrower boards where scores have changed."""
    for rejudging_id in rejudging_work.stranded():
        ring_for_rejudging(rejudging_id)
    for rejudging_id in rejudging_work.to_be_applied():
        ring_to_apply(rejudging_id)
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


def ring_for_rejudging(rejudging_id: int) -> None:
    """Ask a worker to go on with a preview, as `ring` does."""
    _ring(rejudge, rejudging_id)


def ring_to_apply(rejudging_id: int) -> None:
    """Ask a worker to apply a rejudging, as `ring` does."""
    _ring(apply_rejudging, rejudging_id)


def _ring(task: Task, *arguments: int) -> None:
    try:
        task.delay(*arguments)
    except (OperationalError, OSError) as error:
        logger.warning("no broker to ring %s for %s: %s", task.name, arguments[0], error)
