"""What a new scorecard has to tell, and to whom: events for programs, notices for people.

An event says what any other competitor may see (`bouts.disclosure`, ``others``); a notice to
a team what the team may see.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone

from adjudication.models import Case, ReviewRequest, Ruling
from bouts.disclosure import Audience, Gate
from bouts.models import Match, Membership, User
from bouts.prepared import Prepared
from bouts.rules import Disclosure
from judging.actions import REJUDGE
from judging.disclosed import disclosed
from judging.models import Scorecard
from news import tasks
from news.models import Delivery, Endpoint, Event, Notice

OTHERS = Gate(Audience.OTHERS, Disclosure.CLOSED)
RULED = "ruling"  # how the cause of a revision begins that a ruling made
FLAGS = frozenset({"flagged", "held"})
LONGEST_REASON = 500

ENDPOINTS = Prepared(lambda: Endpoint.objects.on().order_by("pk"))
MEMBERS = Prepared(
    lambda team: Membership.objects.filter(team=team, user__is_active=True).values_list("user"),
    team=int,
)


@dataclass(frozen=True)
class News:
    """A scorecard and the one before it, and what has happened between the two."""

    scorecard: Scorecard
    before: Scorecard | None

    @classmethod
    def of(cls, scorecard: Scorecard) -> News:
        before = None
        if scorecard.number > 1:
            before = Scorecard.objects.filter(
                match=scorecard.match_id, number=scorecard.number - 1
            ).first()
        return cls(scorecard, before)

    @property
    def is_ruling(self) -> bool:
        return self.before is not None and self.scorecard.cause.startswith(RULED)

    @property
    def is_rejudge(self) -> bool:
        return self.before is not None and self.scorecard.cause == REJUDGE

    @property
    def is_flagged(self) -> bool:
        """Whether a mark or a blocking question is there that was not there before."""
        return bool(_alarms(self.scorecard) - (_alarms(self.before) if self.before else set()))

    @property
    def events(self) -> list[str]:
        first = Endpoint.Event.ADJUDICATED if self.is_ruling else Endpoint.Event.SCORED
        return [first.value] + [Endpoint.Event.FLAGGED.value] * self.is_flagged


def _alarms(card: Scorecard) -> set[tuple[str, str]]:
    marks = {("mark", mark) for mark in card.marks if mark in FLAGS}
    return marks | {
        (case["reason"], case["evidence_digest"])
        for case in card.breakdown["cases"]
        if case["blocking"] and case["status"] == "open"
    }


def tell(scorecard: Scorecard) -> None:
    """Write down what follows from a scorecard, in the transaction that records it."""
    news = News.of(scorecard)
    _tell_endpoints(news)
    _tell_team(news)


# Programs


def _tell_endpoints(news: News) -> None:
    endpoints = ENDPOINTS.rows()
    at = timezone.now()
    for name in news.events:
        listening = [endpoint for endpoint in endpoints if name in endpoint.events]
        if listening:
            event = Event(name=name, scorecard=news.scorecard, created_at=at)
            event.body = _body(event, payload_of(news))
            event.save(force_insert=True)
            send(event, listening)


def payload_of(news: News) -> dict[str, Any]:
    """Return what an event says of a match: no more than any other competitor may see."""
    card, before = news.scorecard, news.before
    match = Match.objects.select_related("agent__team", "challenge").get(pk=card.match_id)
    return {
        "match": match.slug,
        "challenge": match.challenge.slug,
        "agent": {
            "team": match.agent.team.slug,
            "name": match.agent.name,
            "version": match.agent.version,
        },
        "address": match.get_absolute_url(),
        "before": before and {"revision": before.number, **_figures(before)},
        "after": {"revision": card.number, **_figures(card)},
        "breakdown": disclosed(card.breakdown, OTHERS),
    }


def _figures(card: Scorecard) -> dict[str, Any]:
    return {"status": card.status, "total": None if card.total is None else str(card.total)}


def test_event() -> Event:
    """Return an event that says nothing of any match."""
    event = Event(name=Event.TEST, created_at=timezone.now())
    event.body = _body(event, {"message": "A test from Bouts. Nothing has happened."})
    return event


def _body(event: Event, data: dict[str, Any]) -> str:
    envelope = {
        "id": str(event.pk),
        "event": event.name,
        "at": event.created_at.isoformat(),
        "data": data,
    }
    return orjson.dumps(envelope).decode()


def send(event: Event, endpoints: Iterable[Endpoint]) -> list[Delivery]:
    """Put an event on its way; a worker is rung once all of it is committed."""
    deliveries = Delivery.objects.bulk_create(
        Delivery(
            event=event, endpoint=endpoint, next_at=event.created_at, created_at=event.created_at
        )
        for endpoint in endpoints
    )
    for delivery in deliveries:
        transaction.on_commit(partial(tasks.ring, delivery.pk))
    return deliveries


# People


def _tell_team(news: News) -> None:
    card = news.scorecard
    match = card.match
    subject = f"{match.agent} on {card.challenge_version.title}"
    kind, text = Notice.Kind.SCORED, f"{subject}: {_total(card)}."
    if news.before is not None:
        text = f"{subject}: {_total(card)}, was {_total(news.before)}."
    if news.is_ruling:
        kind = Notice.Kind.ADJUDICATED
    if news.is_rejudge:
        text = f"{subject}, rejudged: {_total(card)}, was {_total(news.before)}."
    if news.is_ruling or news.is_rejudge:
        text = f"{text} {_reason(card)}"
    rows = [(kind, text)]
    if news.is_flagged:
        rows.append((Notice.Kind.FLAGGED, f"{subject}: {_why(card)}"))
    _notify_team(match, rows, card.created_at)


def _total(card: Scorecard) -> str:
    return f"{'no total' if card.total is None else card.total} ({card.status})"


def _reason(card: Scorecard) -> str:
    """Return the public reason as the team may read it."""
    words = tuple(card.bundle.hidden_words)
    shown = Gate(Audience.TEAM, Disclosure.CLOSED, words).text(card.reason)
    if shown != card.reason and shown == "withheld":
        return "The reason quotes a hidden test and is withheld."
    return f"Reason: {shown[:LONGEST_REASON]}"


def _why(card: Scorecard) -> str:
    if "held" in card.marks:
        return "a finding holds it off the leaderboards until a reviewer has looked."
    if "flagged" in card.marks:
        return "a finding has marked it."
    return "a reviewer is asked to settle an open question."


def tell_exclusion(match: Match) -> None:
    """Tell the team that its match counts no more, or again, with the public reason."""
    label = {
        Match.Exclusion.NONE: "counts on the leaderboards again",
        Match.Exclusion.WITHDRAWN: "is withdrawn and counts on no leaderboard",
        Match.Exclusion.EXCLUDED: "is excluded and counts on no leaderboard",
    }[Match.Exclusion(match.exclusion)]
    text = f"{match.agent} in {match} {label}. Reason: {match.exclusion_reason}"
    _notify_team(match, [(Notice.Kind.EXCLUSION, text)], timezone.now())


def tell_ruling(ruling: Ruling) -> None:
    """Tell the team that asked for a review its answer, and its other reviewers the end."""
    case = ruling.case
    if case.state != Case.State.DECIDED:
        return
    request = ReviewRequest.objects.filter(case=case).select_related("match__agent").first()
    if request is not None:
        text = "The review that your team asked for is answered. The answer stands on the match."
        _notify_team(case.match, [(Notice.Kind.ANSWERED, text)], ruling.created_at)
    others = (
        User.objects.filter(is_active=True, ruling__case=case)
        .exclude(pk=ruling.reviewer_id)
        .distinct()
    )
    Notice.objects.bulk_create(
        Notice(
            user=user,
            kind=Notice.Kind.DECIDED,
            match_id=case.match_id,
            case=case,
            text=f"{case}, on which you ruled, is decided.",
            created_at=ruling.created_at,
        )
        for user in others
    )


def tell_operators(endpoint: Endpoint, text: str, at: datetime) -> None:
    operators = User.objects.filter(role__in=[User.Role.OPS, User.Role.ADMIN], is_active=True)
    Notice.objects.bulk_create(
        Notice(user=user, kind=Notice.Kind.ENDPOINT, endpoint=endpoint, text=text, created_at=at)
        for user in operators
    )


def _notify_team(match: Match, rows: Iterable[tuple[str, str]], at: datetime) -> None:
    members = MEMBERS.rows(team=match.agent.team_id)
    Notice.objects.bulk_create(
        Notice(
            user_id=user,
            kind=kind,
            team_id=match.agent.team_id,
            match=match,
            text=text,
            created_at=at,
        )
        for (user,) in members
        for kind, text in rows
    )
