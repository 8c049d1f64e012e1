"""`manage.py sample`: make the sample people and upload the sample matches.

Running it again adds what is missing and changes nothing else.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from bouts import samples
from bouts.actions import uploads


class Command(BaseCommand):
    help = "Make the sample teams and people, and upload the challenges and matches in examples/."

    def handle(self, *args: Any, verbosity: int, **options: Any) -> None:
        samples.UNFINISHED.touch()
        operator = samples.make_people()
        for path in samples.examples():
            outcome = uploads.upload(path, name=path.name, by=operator, is_sample=True)
            if verbosity:
                self.stdout.write(f"{path.name}: {outcome.state.label}")
        samples.UNFINISHED.unlink()
