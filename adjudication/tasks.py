"""Background work of this app."""

from __future__ import annotations

from celery import shared_task

from adjudication import tallies


@shared_task
def add_up_tallies() -> None:
    tallies.add_up()
