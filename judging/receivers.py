"""What follows here when a bundle or a challenge is stored."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db import transaction
from django.dispatch import receiver

from bouts.models import Bundle, ChallengeVersion
from bouts.signals import bundle_stored, challenge_changed
from judging import standings, steps, tasks


@receiver(bundle_stored)
def start_judging(*, bundle: Bundle, **kwargs: Any) -> None:
    if not bundle.is_live:  # overtaken on its way in: no page shows its score
        return
    steps.lay_out(bundle)
    transaction.on_commit(partial(tasks.ring, bundle.pk))


@receiver(challenge_changed)
def recount_boards(*, version: ChallengeVersion, **kwargs: Any) -> None:
    standings.refresh_overall(version.challenge)
