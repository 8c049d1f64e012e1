"""Judging starts when a bundle is stored."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.dispatch import receiver

from bouts.models import Bundle
from bouts.signals import bundle_stored
from judging import actions, tasks


@receiver(bundle_stored)
def start_judging(*, bundle: Bundle, **kwargs: Any) -> None:
    for step in actions.start(bundle):
        transaction.on_commit(lambda pk=step.pk: tasks.ring(pk))
