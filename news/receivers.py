"""What is told when judging or adjudication announce something."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from adjudication.models import Ruling
from adjudication.signals import case_ruled
from bouts.models import Match
from judging.models import Scorecard
from judging.signals import exclusion_changed, scorecard_recorded
from news import telling


@receiver(scorecard_recorded)
def tell_of_scorecard(*, scorecard: Scorecard, **kwargs: Any) -> None:
    telling.tell(scorecard)


@receiver(exclusion_changed)
def tell_of_exclusion(*, match: Match, **kwargs: Any) -> None:
    telling.tell_exclusion(match)


@receiver(case_ruled)
def tell_of_ruling(*, ruling: Ruling, **kwargs: Any) -> None:
    telling.tell_ruling(ruling)
