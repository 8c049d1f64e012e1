"""The Celery application. Tasks live in each app's ``tasks.py``."""

import gc
import os
from typing import Any

from celery import Celery
from celery.signals import worker_process_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bouts.settings")

app = Celery("bouts")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_process_init.connect
def spare_what_stays(**kwargs: Any) -> None:
    """Take what is loaded out of the collector's sight: it stays, and would be gone through again
    and again while a match's many small values come and go."""
    gc.collect()
    gc.freeze()
