"""The one gate: what a viewer may see of a match (SCORING.md, 9). Closed by default.

Pages, partials, the API, charts, exports, search and raw downloads all ask a `Gate`. It
answers for one viewer and one bundle; whatever it has no rule for stays shut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from operator import or_

from django.db.models import Q, QuerySet

from bouts.formats.types import Kind
from bouts.hidden_words import tells
from bouts.masking import mask
from bouts.models import Artifact, Challenge, Match, User
from bouts.rules import Disclosure, Suite

WITHHELD = "withheld"

# Files that are shown value by value, each withheld by itself where it quotes a hidden test:
# an event, the change of a file, an access, a finding of a scanner. Of all other kinds the
# file as a whole is withheld, for what stands beside a quotation may belong to it.
BY_VALUE = frozenset({Kind.TELEMETRY, Kind.DIFF, Kind.SANDBOX, Kind.SCAN})


class Audience(StrEnum):
    STAFF = "staff"  # ops and admins; reviewers who owe this match no blind score
    TEAM = "team"  # members of the team that fought the match
    OTHERS = "others"  # every other competitor
    BLIND = "blind"  # reviewers who may still be asked to score this match blind
    NOBODY = "nobody"


# Given a reviewer, each returns the ids of the matches that this reviewer must come to blind,
# as a query. Registered by `adjudication`, which knows the cases; imports point the other way.
blindfolds: list[Callable[[User], QuerySet]] = []

# Each returns the ids of the matches whose panel is in question before a reviewer, as a query:
# until that is decided nobody but staff learns which model said what. Registered likewise.
contests: list[Callable[[], QuerySet]] = []


def dark_to(user: User, match: str = "pk") -> Q:
    """Narrow to the matches of which this person may see nothing yet.

    ``match`` is the path from the rows that are narrowed to the match.
    """
    nothing = Q(pk__in=[])
    if not user.is_reviewer:
        return nothing
    return reduce(or_, (Q(**{f"{match}__in": fold(user)}) for fold in blindfolds), nothing)


def contested(match: str = "pk") -> Q:
    """Narrow to the matches whose panel is in question before a reviewer; see `dark_to`."""
    return reduce(or_, (Q(**{f"{match}__in": find()}) for find in contests), Q(pk__in=[]))


def open_to(user: User) -> QuerySet[Match]:
    """Return the matches that this person may find in lists and by search.

    What is dark to a reviewer is cut from the query, not from the page: a search by an
    agent's name must not tell by its number of hits whose match is in the dark.
    """
    matches = Match.objects.visible_to(user)
    if not user.is_reviewer:
        return matches
    # A member of the team is a competitor before it, and sees it as one.
    return matches.exclude(dark_to(user) & ~Q(agent__team__in=user.team_ids))


def audience_of(user: User, match: Match) -> Audience:
    """Say as whom this person sees a match."""
    dark = Match.objects.filter(dark_to(user), pk=match.pk)
    return audience_in(user, match.agent.team_id, dark.exists)


def audience_in(user: User, team_id: int, is_dark: Callable[[], bool]) -> Audience:
    """Say as whom this person sees a match of a team; see `dark_to` for ``is_dark``."""
    if not (user.is_authenticated and user.is_active):
        return Audience.NOBODY
    if user.is_operator:
        return Audience.STAFF
    # A member of the team is a competitor here, whatever else they are.
    if team_id in user.team_ids:
        return Audience.TEAM
    if not user.is_reviewer:
        return Audience.OTHERS
    return Audience.BLIND if is_dark() else Audience.STAFF


def effective_disclosure(state: str, stated: str) -> Disclosure:
    """``open`` opens only once the challenge is retired; until then it is ``closed``."""
    disclosure = Disclosure(stated)
    if disclosure is Disclosure.OPEN and state != Challenge.State.RETIRED:
        return Disclosure.CLOSED
    return disclosure


@dataclass(frozen=True)
class Gate:
    """What one audience may see of one bundle."""

    audience: Audience
    disclosure: Disclosure
    hidden_words: tuple[str, ...] = ()  # whatever names or quotes a hidden test
    is_contested: bool = False  # the panel is in question now, whatever a revision says of it

    @property
    def key(self) -> str:
        """Tells apart what is cached: equal keys, equal pages.

        It is part of ETags, so that it names only what its audience is shown: a panel in question
        changes the team's page alone, and nobody else is to learn of it by an answer of 304.
        """
        is_told = self.is_contested and self.audience is Audience.TEAM
        return f"{self.audience}-{self.disclosure}{'-contested' if is_told else ''}"

    @property
    def is_full(self) -> bool:
        return self.audience is Audience.STAFF

    @property
    def shows_hidden_tests(self) -> bool:
        return self.is_full or (
            self.audience is Audience.TEAM and self.disclosure is Disclosure.OPEN
        )

    @property
    def shows_categories(self) -> bool:
        return self.shows_hidden_tests or (
            self.audience is Audience.TEAM and self.disclosure is Disclosure.CATEGORY
        )

    @property
    def shows_evidence(self) -> bool:
        """Whether this audience sees more of the match than its scores."""
        return self.audience in {Audience.STAFF, Audience.TEAM}

    @property
    def shows_staff_matters(self) -> bool:
        """Reviewers' names, private notes, seat models of open cases."""
        return self.is_full

    def shows_suite(self, suite: str) -> bool:
        return self.shows_evidence and (suite == Suite.STATIC or self.shows_hidden_tests)

    def shows_artifact(self, artifact: Artifact) -> bool:
        """Whether the file may be opened and downloaded as it is."""
        return self.shows_file(artifact.kind, quotes_hidden=_quotes(artifact))

    def shows_values_of(self, artifact: Artifact) -> bool:
        """Whether what its reader made of the file may be shown, value by value."""
        return self.shows_values(artifact.kind, artifact.suite, quotes_hidden=_quotes(artifact))

    def shows_file(self, kind: str, *, quotes_hidden: bool) -> bool:
        if self.is_full:
            return True
        # What was uploaded as a verdict names models, which are for staff while a case is open.
        if not self.shows_evidence or kind == Kind.VERDICTS:
            return False
        return self.shows_hidden_tests or not quotes_hidden

    def shows_values(self, kind: str, suite: str, *, quotes_hidden: bool) -> bool:
        if kind == Kind.TESTS:
            return self.shows_suite(suite)
        if kind in BY_VALUE:
            return self.shows_evidence
        return self.shows_file(kind, quotes_hidden=quotes_hidden)

    def quotes_hidden(self, text: str) -> bool:
        return tells(text, self.hidden_words)

    def text(self, text: str) -> str:
        """Return a text as it may be shown: itself, or the word that says it is withheld.

        Keys and tokens in it are masked for everybody.
        """
        if not self.shows_evidence:
            return WITHHELD if text else ""
        if not self.shows_hidden_tests and self.quotes_hidden(text):
            return WITHHELD
        return mask(text)


def _quotes(artifact: Artifact) -> bool:
    """Whether a file was found to tell of hidden tests; one nobody has looked at does."""
    return bool(artifact.facts.get("quotes_hidden", True))
