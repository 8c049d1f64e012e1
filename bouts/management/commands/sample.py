"""`manage.py sample`: make the sample people and upload the sample matches.

Running it again adds what is missing and changes nothing else.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from bouts import samples
from bouts.actions.uploads import upload_path


class Command(BaseCommand):
    help = "Make the sample teams and people, and upload the challenges and matches in examples/."

    def handle(self, *args: Any, verbosity: int, **options: Any) -> None:
        samples.UNFINISHED.touch()
        operator = samples.make_people()
        for path in samples.uploads():
            upload = upload_path(path, by=operator)
            if verbosity:
                self.stdout.write(f"{path.name}: {upload.get_state_display()}")
        samples.UNFINISHED.unlink()
