"""A match as one viewer sees it. Every page, part and download of a match starts here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet, Value
from django.db.models.fields.json import KeyTextTransform
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from bouts.disclosure import (
    Audience,
    Gate,
    audience_in,
    contested,
    dark_to,
    effective_disclosure,
)
from bouts.models import Bundle, Match, User
from bouts.prepared import Prepared
from bouts.rules import Disclosure
from judging.disclosed import disclosed
from judging.models import Scorecard, Step
from judging.scoring.policy import CURRENT, POLICIES, Policy
from judging.showing.addresses import Addresses

# As whom staff may look at a match: always somebody who sees less.
LOOKS = {"team": Audience.TEAM, "others": Audience.OTHERS}

# Columns that most pages of a match can do without.
LONG = (
    "bundle__manifest",
    "bundle__hidden_words",
    "challenge_version__document",
    "challenge_version__starting_tree",
)

AT_ONCE = 25  # breakdowns, which are long

Page = Callable[..., HttpResponse]

# Given the way from the rows to the match, each returns what its app knows of a review that the
# team asked for: an object of JSON as a query, or null. Registered by `adjudication`.
reviews: list[Callable[[str], Any]] = []


@dataclass(frozen=True, slots=True)
class Head:
    """What stands above a card, and what decides who may see how much of it.

    Plain values from one query. A page whose card is cached needs no more, and to make
    models of them, most of their columns deferred, would cost more than the whole page.
    """

    match_id: int
    slug: str
    exclusion: str
    exclusion_reason: str
    is_sample: bool
    team_id: int
    team: str
    team_slug: str
    agent: str
    agent_version: str
    challenge_slug: str
    challenge_state: str
    bundle_id: int | None
    bundle_number: int | None
    bundle_is_live: bool | None
    challenge: str | None  # its title
    challenge_version: int | None
    stated_disclosure: str | None
    has_unfinished_work: bool
    is_contested: bool
    is_dark: bool
    review: dict[str, Any] | None = None  # see `reviews`
    card_id: int | None = None
    card_number: int | None = None
    card_is_live: bool | None = None

    @property
    def exclusion_label(self) -> str:
        return Match.Exclusion(self.exclusion).label

    @property
    def challenge_address(self) -> str:
        return reverse("judging:challenge_detail", args=[self.challenge_slug])


OF_MATCH = (
    "pk", "slug", "exclusion", "exclusion_reason", "is_sample", "agent__team_id",
    "agent__team__name", "agent__team__slug", "agent__name", "agent__version",
    "challenge__slug", "challenge__state",
)  # fmt: skip


def _columns(match: str, version: str) -> list[Any]:
    """Return the columns of a `Head`, by the ways from the rows to match and version."""
    to_match = f"{match}__" if match else ""
    bundle = "bundle" if match else "bundles"
    unfinished = Step.objects.filter(
        bundle__match=OuterRef(match or "pk"),
        bundle__is_live=True,
        state__in=[Step.State.WAITING, Step.State.RUNNING],
    )
    return [
        *(f"{to_match}{field}" for field in OF_MATCH),
        *(f"{bundle}__{field}" for field in ("pk", "number", "is_live")),
        f"{version}__title",
        f"{version}__number",
        KeyTextTransform("disclosure", f"{version}__document"),
        Exists(unfinished),
    ]


def is_(condition: Q) -> Any:
    return ExpressionWrapper(condition, BooleanField())


# Made once: expressions take Django longer to build than the database to answer.
OF_CARDS = _columns("match", "challenge_version")
OF_UNSCORED = _columns("", "bundles__challenge_version")


def head_of(user: User, slug: str, number: int | None) -> Head:
    """Find a match with its live card, or the card of a number; its bundle is the card's.

    Raises 404. A match that nothing has been scored of has its live bundle and no card.
    """
    visible = Match.objects.visible_to(user)
    if visible.query.is_empty():
        raise Http404
    asked = {"slug": slug} if number is None else {"slug": slug, "number": number}
    if user.is_reviewer:
        asked["viewer"] = user.pk
    found = HEADS[user.is_reviewer, number is None].first(**asked)
    if found is None and number is None:
        live = visible.filter(slug=slug, bundles__is_live=True).order_by()
        found = live.values_list(*OF_UNSCORED, *_questions(user, "pk")).first()
    if found is None:
        raise Http404
    return Head(*found)


def _heads(slug: str, number: int | None = None, viewer: int | None = None) -> QuerySet[Scorecard]:
    user = User(pk=viewer, role=User.Role.REVIEWER if viewer else User.Role.COMPETITOR)
    cards = Scorecard.objects.filter(match__slug=slug)
    cards = cards.live() if number is None else cards.filter(number=number)
    columns = [*OF_CARDS, *_questions(user, "match"), "pk", "number", "is_live"]
    return cards.order_by().values_list(*columns)


# By whether a reviewer asks, and whether for the live card. To build one of them anew takes ten
# times as long as the database takes to answer it.
HEADS = {
    (False, True): Prepared(_heads, slug=str),
    (False, False): Prepared(_heads, slug=str, number=int),
    (True, True): Prepared(_heads, slug=str, viewer=int),
    (True, False): Prepared(_heads, slug=str, number=int, viewer=int),
}


def _questions(user: User, match: str) -> tuple[Any, Any, Any]:
    """Return what stands open about a match.

    Whether the panel is in question, whether this person must come to it blind, and the
    review that its team asked for.
    """
    is_dark = is_(dark_to(user, match)) if user.is_reviewer else Value(False)
    review = next((find(match) for find in reviews), Value(None))
    return is_(contested(match)), is_dark, review


@dataclass(frozen=True)
class Sight:
    """One viewer before one match: the card asked for, and the gate between them.

    Models, breakdown and hidden words are fetched when they are asked for, so that a cached
    page costs no more than finding out whose it is.
    """

    user: User
    head: Head
    audience: Audience
    disclosure: Disclosure
    looking_as: str = ""  # "team" or "others": staff who look through a competitor's eyes
    is_live: bool = True  # whether the live card was asked for, not a numbered one

    @cached_property
    def card(self) -> Scorecard | None:
        """The scorecard with the models around it, their long columns left behind."""
        if self.head.card_id is None:
            return None
        related = ("match__agent__team", "match__challenge", "bundle", "challenge_version")
        cards = Scorecard.objects.select_related(*related).defer(*LONG)
        card = cards.get(pk=self.head.card_id)
        # One object for one match, whichever way it is reached.
        card.bundle.match, card.bundle.challenge_version = card.match, card.challenge_version
        return card

    @cached_property
    def bundle(self) -> Bundle | None:
        """The bundle of the card; where nothing has been scored, the live one."""
        if self.card is not None:
            return self.card.bundle
        related = ("match__agent__team", "match__challenge", "challenge_version")
        bundles = Bundle.objects.select_related(*related).defer("manifest", "hidden_words")
        return bundles.filter(pk=self.head.bundle_id).first()

    @property
    def match(self) -> Match:
        if self.card is not None:
            return self.card.match
        return self.bundle.match

    @property
    def key(self) -> str:
        """Equal keys, equal pages."""
        return self._gate_without_words.key

    @property
    def shows_evidence(self) -> bool:
        return self._gate_without_words.shows_evidence

    @property
    def review(self) -> dict[str, Any] | None:
        """The review that the team asked for, for whoever may see more than scores."""
        return self.head.review if self.shows_evidence else None

    @property
    def _gate_without_words(self) -> Gate:
        """The gate as far as it can be had without fetching what it hides."""
        return Gate(self.audience, self.disclosure, is_contested=self.head.is_contested)

    @cached_property
    def gate(self) -> Gate:
        if self.audience is not Audience.TEAM or self.head.bundle_id is None:
            return self._gate_without_words
        words = Bundle.objects.values_list("hidden_words", flat=True).get(pk=self.head.bundle_id)
        return replace(self._gate_without_words, hidden_words=tuple(words))

    @cached_property
    def breakdown(self) -> dict[str, Any]:
        """The breakdown as this audience may see it."""
        assert self.card is not None
        return disclosed(self.card.breakdown, self.gate)

    @property
    def pages(self) -> Addresses:
        """The addresses of the match's pages; those of evidence need `addresses`."""
        return Addresses(
            match=self.head.slug,
            viewing_as=self.looking_as,
            revision=None if self.is_live else self.head.card_number,
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
        return self.head.card_is_live is False

    @property
    def is_of_old_bundle(self) -> bool:
        return self.head.bundle_is_live is False

    @property
    def has_unfinished_work(self) -> bool:
        return self.head.has_unfinished_work or self.head.card_id is None

    @property
    def may_look_as_others(self) -> bool:
        return self.audience is Audience.STAFF or bool(self.looking_as)


def sight_of(request: HttpRequest, slug: str, number: int | None = None) -> Sight:
    """Find a match and its scorecard, the live one or that of a number. Raises 404.

    Before whoever must come blind every number is alike, whether there is such a card or not:
    else they could count how often the match was judged and ruled on.
    """
    user = request.user
    may_be_blind = user.is_reviewer and number is not None
    head = head_of(user, slug, None if may_be_blind else number)
    audience = audience_in(user, head.team_id, is_dark=lambda: head.is_dark)
    if may_be_blind and audience is not Audience.BLIND:
        head = head_of(user, slug, number)
    look = request.GET.get("as", "") if audience is Audience.STAFF else ""
    look = look if look in LOOKS else ""
    return Sight(
        user=user,
        head=head,
        audience=LOOKS.get(look, audience),
        disclosure=effective_disclosure(
            head.challenge_state, head.stated_disclosure or Disclosure.CLOSED
        ),
        looking_as=look,
        is_live=number is None,
    )


def breakdowns_for(user: User, cards: QuerySet[Scorecard]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the ids of cards, each with its breakdown as this person may see it; in one query.

    For cards of matches that `open_to` has let through: none of them is dark to this person.
    """
    rows = cards.annotate(is_contested=is_(contested("match"))).values_list(
        "pk",
        "breakdown",
        "match__agent__team",
        "bundle__hidden_words",
        "match__challenge__state",
        KeyTextTransform("disclosure", "challenge_version__document"),
        "is_contested",
    )
    for pk, breakdown, team_id, hidden, state, stated, is_open in rows.iterator(AT_ONCE):
        audience = audience_in(user, team_id, is_dark=lambda: False)
        disclosure = effective_disclosure(state, stated or Disclosure.CLOSED)
        yield pk, disclosed(breakdown, Gate(audience, disclosure, tuple(hidden), is_open))


def evidence_sight(request: HttpRequest, slug: str) -> Sight:
    """Return the sight of whoever may see evidence of this match; 404 for everybody else.

    ``?revision=2`` asks for the evidence of an older card.
    """
    asked = request.GET.get("revision", "")
    number = int(asked) if asked.isdecimal() and len(asked) < 9 else None
    sight = sight_of(request, slug, number)
    if sight.head.card_id is None or not sight.shows_evidence:
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
