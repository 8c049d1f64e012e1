"""Cases follow the scorecards that judging records."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from adjudication.actions.opening import follow_scorecard
from judging.models import Scorecard
from judging.signals import scorecard_recorded


@receiver(scorecard_recorded)
def open_and_close_cases(*, scorecard: Scorecard, **kwargs: Any) -> None:
    follow_scorecard(scorecard)
