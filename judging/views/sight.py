"""A match as one viewer sees it. Every page, part and download of a match starts here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any

from django.db.models import BooleanField, Exists, ExpressionWrapper, F, OuterRef
from django.http import Http404, HttpRequest, HttpResponse

from bouts.disclosure import Audience, Gate, audience_of, dark_to, effective_disclosure
from bouts.models import Bundle, Match, User
from bouts.rules import Disclosure
from judging.disclosed import disclosed
from judging.models import Scorecard, Step
from judging.scoring.policy import CURRENT, POLICIES, Policy
from judging.showing.addresses import Addresses

# As whom staff may look at a match: always somebody who sees less.
LOOKS = {"team": Audience.TEAM, "others": Audience.OTHERS}

DISCLOSURE = "challenge_version__document__disclosure"

# Long columns that a page which is cached never needs.
HEAVY = (
    "bundle__manifest",
    "bundle__hidden_words",
    "challenge_version__document",
    "challenge_version__starting_tree",
)

Page = Callable[..., HttpResponse]


@dataclass(frozen=True)
class Sight:
    """One viewer before one match: the scorecard asked for, and the gate between them.

    ``card`` is None while nothing has been scored. Breakdown and hidden words are fetched
    when they are asked for, so that a cached page costs no more than finding out whose it is.
    """

    user: User
    match: Match
    bundle: Bundle | None  # of the card, else the live one
    card: Scorecard | None
    audience: Audience
    disclosure: Disclosure
    looking_as: str = ""  # "team" or "others": staff who look through a competitor's eyes
    is_live: bool = True  # whether the live card was asked for, not a numbered one
    has_unfinished_work: bool = False

    @property
    def key(self) -> str:
        """Equal keys, equal pages."""
        return self._gate_without_words.key

    @property
    def shows_evidence(self) -> bool:
        return self._gate_without_words.shows_evidence

    @property
    def _gate_without_words(self) -> Gate:
        """The gate as far as it can be had without fetching what it hides."""
        return Gate(self.audience, self.disclosure)

    @cached_property
    def gate(self) -> Gate:
        needs_words = self.audience is Audience.TEAM and self.bundle is not None
        words = tuple(self.bundle.hidden_words) if needs_words and self.bundle else ()
        return Gate(self.audience, self.disclosure, words)

    @cached_property
    def breakdown(self) -> dict[str, Any]:
        """The breakdown as this audience may see it."""
        assert self.card is not None
        return disclosed(self.card.breakdown, self.gate)

    @property
    def pages(self) -> Addresses:
        """The addresses of the match's pages; those of evidence need `addresses`."""
        return Addresses(
            match=self.match.slug,
            viewing_as=self.looking_as,
            revision=None if self.is_live or self.card is None else self.card.number,
        )

    @cached_property
    def addresses(self) -> Addresses:
        rows = self.breakdown.get("artifacts", [])
        return replace(
            self.pages, digests={row["path"]: row["digest"] for row in rows if row["digest"]}
        )

    @property
    def policy(self) -> Policy:
        return POLICIES.get(self.card.policy, CURRENT) if self.card else CURRENT

    @property
    def is_superseded(self) -> bool:
        """Whether another revision has taken the place of this one."""
        return self.card is not None and not self.card.is_live

    @property
    def is_of_old_bundle(self) -> bool:
        return self.bundle is not None and not self.bundle.is_live

    @property
    def may_look_as_others(self) -> bool:
        return self.audience is Audience.STAFF or bool(self.looking_as)


def sight_of(request: HttpRequest, slug: str, number: int | None = None) -> Sight:
    """Find a match and its scorecard, the live one or that of a number. Raises 404."""
    user = request.user
    cards = Scorecard.objects.filter(match__slug=slug, match__in=Match.objects.visible_to(user))
    cards = cards.live() if number is None else cards.filter(number=number)
    unfinished = Step.objects.filter(
        bundle__match=OuterRef("match"),
        bundle__is_live=True,
        state__in=[Step.State.WAITING, Step.State.RUNNING],
    )
    card = (
        cards.select_related(
            "match__agent__team", "match__challenge", "bundle", "challenge_version"
        )
        .defer("breakdown", *HEAVY)
        .annotate(
            stated_disclosure=F(DISCLOSURE),
            has_unfinished_work=Exists(unfinished),
            is_dark=ExpressionWrapper(dark_to(user, "match"), BooleanField()),
        )
        .first()
    )
    is_dark: bool | None = None
    if card is not None:
        match, bundle = card.match, card.bundle
        stated, working, is_dark = (
            card.stated_disclosure,
            card.has_unfinished_work,
            card.is_dark,
        )
        # One object for one match, whichever way it is reached.
        bundle.match, bundle.challenge_version = match, card.challenge_version
    elif number is None:
        match, bundle = _unscored(user, slug)
        stated = bundle.stated_disclosure if bundle else None
        working = True
    else:
        raise Http404
    audience = audience_of(user, match, is_dark=is_dark)
    look = request.GET.get("as", "") if audience is Audience.STAFF else ""
    look = look if look in LOOKS else ""
    return Sight(
        user=user,
        match=match,
        bundle=bundle,
        card=card,
        audience=LOOKS.get(look, audience),
        disclosure=effective_disclosure(match.challenge, stated or Disclosure.CLOSED),
        looking_as=look,
        is_live=number is None,
        has_unfinished_work=working,
    )


def _unscored(user: User, slug: str) -> tuple[Match, Bundle | None]:
    matches = Match.objects.visible_to(user).select_related("agent__team", "challenge")
    match = matches.filter(slug=slug).first()
    if match is None:
        raise Http404
    bundle = (
        match.bundles.filter(is_live=True)
        .select_related("challenge_version")
        .defer("manifest", "hidden_words", *HEAVY[2:])
        .annotate(stated_disclosure=F(DISCLOSURE))
        .first()
    )
    if bundle:
        bundle.match = match
    return match, bundle


def evidence_sight(request: HttpRequest, slug: str) -> Sight:
    """Return the sight of whoever may see evidence of this match; 404 for everybody else.

    ``?revision=2`` asks for the evidence of an older card.
    """
    asked = request.GET.get("revision", "")
    number = int(asked) if asked.isdecimal() and len(asked) < 9 else None
    sight = sight_of(request, slug, number)
    if sight.card is None or not sight.shows_evidence:
        raise Http404
    return sight


def with_evidence(view: Page) -> Page:
    """Give a view the sight in place of the slug, where its viewer may see evidence."""

    @wraps(view)
    def seen(request: HttpRequest, slug: str, *args: object, **kwargs: object) -> HttpResponse:
        return view(request, evidence_sight(request, slug), *args, **kwargs)

    return seen


def privately(response: HttpResponse) -> HttpResponse:
    """Keep an answer about a match out of shared caches; a browser asks again each time."""
    response.headers["Cache-Control"] = "private, no-cache"
    return response
