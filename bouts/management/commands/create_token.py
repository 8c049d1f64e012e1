"""Make an API token from the command line, for scripts and for servers without a browser."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from bouts.actions import people
from bouts.models import ApiToken, User


class Command(BaseCommand):
    help = "Make an API token for somebody and print it. It cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("person", help="name or email address")
        parser.add_argument("--name", default="command line", help="what uses the token")
        parser.add_argument("--days", type=int, default=90, help="how long it works (90)")
        parser.add_argument(
            "--scope",
            action="append",
            choices=ApiToken.Scope.values,
            help="what it may do; may be given several times (read)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        owner = User.objects.by_login(options["person"])
        if owner is None:
            raise CommandError(f"Nobody is called {options['person']}.")
        scopes = options["scope"] or [ApiToken.Scope.READ.value]
        try:
            _, secret = people.create_token(
                owner, options["name"], scopes, timedelta(days=options["days"])
            )
        except (people.NotAllowed, people.AlreadyThere) as reason:
            raise CommandError(str(reason)) from reason
        self.stdout.write(secret)
