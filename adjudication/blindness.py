"""Coming to a case blind: for whom a match is dark, and what its texts must not say."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from django.db.models import Exists, OuterRef, QuerySet

from adjudication.models import BlindScore, Case, Claim
from bouts.hidden_words import pattern_of
from bouts.masking import mask
from bouts.models import Agent, Bundle, User
from bouts.rules import Seat
from judging.houses import TELLING
from judging.models import Verdict

Item = TypeVar("Item")

WITHHELD = "[withheld]"

SHORTEST_NAME = 3


def dark_matches(user: User) -> QuerySet:
    """Return the ids of the matches of which this reviewer must see nothing yet, as a query.

    Those with an unsettled case on a question that they have given no blind score on. Whoever
    declined a case is not asked again and may look. Whoever is in conflict with a match is
    not asked either, and yet stays in the dark while its cases are open: nothing there is
    their business. See `bouts.disclosure`.
    """
    committed = BlindScore.objects.filter(
        reviewer=user,
        case__match=OuterRef("match"),
        case__finding_key=OuterRef("finding_key"),
        case__evidence_digest=OuterRef("evidence_digest"),
    )
    declined = Claim.objects.filter(
        reviewer=user, case=OuterRef("pk"), ended_how=Claim.End.DECLINED
    )
    dark = Case.objects.unsettled().exclude(Exists(committed)).exclude(Exists(declined))
    return dark.order_by().values("match")


def blindfold(user: User, match_ids: Collection[int]) -> set[int]:
    """Return those of some matches that are dark to this reviewer."""
    return set(dark_matches(user).filter(match__in=match_ids).values_list("match", flat=True))


def shuffled(items: Sequence[Item], case: Case, reviewer: User) -> list[Item]:
    """Return items in an order of this reviewer's own, the same each time they look."""
    seed = hashlib.sha256(f"{case.pk}/{reviewer.pk}".encode()).digest()
    return random.Random(seed).sample(list(items), len(items))


@dataclass(frozen=True)
class Scrubber:
    """Takes out of texts what nobody who judges may know (SCORING.md, 7), and masks secrets."""

    names: tuple[str, ...] = ()  # agent, team, models: only where they stand as words
    hidden_words: tuple[str, ...] = ()  # whatever names or quotes a hidden test

    def __call__(self, text: str) -> str:
        text = mask(text)
        for pattern in self._patterns:
            text = pattern.sub(WITHHELD, text)
        return text

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        whole_words = "|".join(
            rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])"
            for name in sorted(set(self.names), key=len, reverse=True)
            if len(name) >= SHORTEST_NAME
        )
        patterns = [pattern_of(self.hidden_words)]
        if whole_words:
            patterns.append(re.compile(whole_words, re.IGNORECASE))
        return tuple(pattern for pattern in patterns if pattern)


def scrubber_of(bundle: Bundle, *, quotes_hidden_tests: bool) -> Scrubber:
    """Return the scrubber of a match's texts.

    `quotes_hidden_tests` lets what quotes a hidden test stand: a finding about reading such
    a test cannot be judged without it.
    """
    match = bundle.match
    models = Verdict.objects.filter(bundle=bundle).exclude(model="").values_list("model", flat=True)
    return Scrubber(
        names=(
            *names_of(match.agent),
            match.slug,
            match.bout,
            *Seat,
            *TELLING,
            *_spellings(models),
        ),
        hidden_words=() if quotes_hidden_tests else tuple(bundle.hidden_words),
    )


def names_of(agent: Agent) -> tuple[str, ...]:
    """Return all by which an agent may be known."""
    return (
        agent.team.name,
        agent.team.slug,
        agent.name,
        *_spellings([agent.base_model, agent.scaffold]),
    )


def _spellings(models: Iterable[str]) -> list[str]:
    """Return each model as it is, without its vendor (``openai/gpt-4o``) and without its date."""
    spellings = []
    for model in models:
        bare = model.rpartition("/")[2]
        spellings += [model, bare, re.sub(r"-\d{4}-?\d{2}-?\d{2}$", "", bare)]
    return [spelling for spelling in spellings if spelling]
