"""Make stored verdicts and scorecards again from stored bytes, with the network off, and compare.

Exits with 1 where anything differs, and says where.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from bouts.models import Match
from judging.network import network_off
from judging.replay import Replayed, replay
from judging.showing.words import count


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("matches", nargs="*", metavar="MATCH")
        parser.add_argument("--all", action="store_true", help="every match that is stored")

    def handle(self, *, matches: list[str], all: bool, **options: Any) -> None:
        if bool(matches) == all:
            raise CommandError("name the matches, or give --all")
        found = self._matches(matches)
        connection.ensure_connection()
        unequal = 0
        with network_off():
            for match in found:
                replayed = replay(match)
                unequal += not replayed.is_equal
                self.stdout.write("\n".join(_lines(replayed)))
        if unequal:
            raise CommandError(f"{unequal} of {count(len(found), 'match', 'matches')} differ")

    def _matches(self, names: list[str]) -> list[Match]:
        if not names:
            return list(Match.objects.order_by("slug"))
        found = {match.slug: match for match in Match.objects.filter(slug__in=names)}
        if unknown := [name for name in names if name not in found]:
            raise CommandError(f"no such match: {', '.join(unknown)}")
        return [found[name] for name in dict.fromkeys(names)]


def _lines(replayed: Replayed) -> list[str]:
    made = ", ".join(
        [
            count(replayed.verdicts, "verdict"),
            count(replayed.calls, "call"),
            count(replayed.findings, "finding"),
            count(replayed.scorecards, "scorecard"),
        ]
    )
    notes = [f"  {note}" for note in replayed.notes]
    if replayed.is_equal:
        return [f"{replayed.match}: {made}: equal", *notes]
    differences = [f"  {difference}" for difference in replayed.differences]
    told = count(len(differences), "difference")
    return [f"{replayed.match}: {made}: {told}", *differences, *notes]
