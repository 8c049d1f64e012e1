"""Upload match bundles and challenges: archives or folders, many at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from bouts.actions import uploads
from bouts.bundles.errors import Refused
from bouts.bundles.loading import with_its_tree
from bouts.models import Upload, User


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--check", action="store_true", help="validate only; store nothing")
        parser.add_argument("--by", help="the user name that the upload is recorded under")

    def handle(self, *, paths: list[Path], check: bool, by: str | None, **options: Any) -> None:
        user = self._user(by)
        refused = 0
        for path in paths:
            try:
                outcome = uploads.upload(
                    with_its_tree(path), name=path.name, by=user, is_check=check
                )
            except Refused as refusal:
                refused += 1
                count = len(refusal.faults)
                self.stderr.write(
                    f"{path}: refused, {count} fault{'s' * (count != 1)}, nothing stored"
                )
                for line in refusal.lines():
                    self.stderr.write(f"  {line}")
            except OSError as error:
                refused += 1
                self.stderr.write(f"{path}: {error.strerror}")
            else:
                self.stdout.write(f"{path}: {_said(outcome)}")
        if refused:
            raise CommandError(f"{refused} of {len(paths)} refused")

    def _user(self, name: str | None) -> User | None:
        if name is None:
            return None
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"--by {name}: no such user")
        return user


def _said(outcome: uploads.Outcome) -> str:
    if outcome.state is Upload.State.VALID:
        return "valid, nothing stored"
    return f"{outcome.state.label}, {outcome.bundle or outcome.challenge_version}"
