"""Several who do something at the same moment: threads, each with a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connections

Answer = TypeVar("Answer")


def at_once(works: list[Callable[[], Answer]]) -> list[Answer | Exception]:
    """Start all the works at the same moment; return what each gave or raised."""
    gate = threading.Barrier(len(works))

    def go(work: Callable[[], Answer]) -> Answer | Exception:
        try:
            gate.wait(timeout=30)
            return work()
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(go, works))
