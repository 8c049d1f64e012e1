"""Celery's transport over PostgreSQL, which makes no queue that is there."""

from __future__ import annotations

from typing import Any

from kombu.transport import pgmq


class Channel(pgmq.Channel):
    """A channel whose declarations wait for nobody.

    Every process declares a queue before it first puts something in. Making one locks its table
    until each worker's read has ended: for seconds, or for as long as a worker stands still. An
    upload, by page or from the command line, would hang with it.
    """

    def _new_queue(self, queue: str, **kwargs: Any) -> None:
        if not self._has_queue(queue):
            super()._new_queue(queue, **kwargs)


class Transport(pgmq.Transport):
    Channel = Channel
