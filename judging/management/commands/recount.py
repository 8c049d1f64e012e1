"""Write every row of every leaderboard anew from the scorecards.

Rows follow each scorecard by themselves. This is for what was stored before a column existed,
and for whoever doubts them; it may run at any time.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from judging import narrow
from judging.models import Standing
from judging.showing.words import count


class Command(BaseCommand):
    help = __doc__

    def handle(self, **options: Any) -> None:
        agents = narrow.recount()
        rows = Standing.objects.count()
        if options["verbosity"]:
            self.stdout.write(f"{count(agents, 'agent')}, {count(rows, 'row')}")
