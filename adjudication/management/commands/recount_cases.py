"""``manage.py recount_cases``: count every settled case anew."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from adjudication import tallies


class Command(BaseCommand):
    help = "Count every settled case anew, for the numbers that the queue shows."

    def handle(self, **options: Any) -> None:
        tallies.recount()
