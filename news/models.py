"""Endpoints that programs listen at, what is sent to them, and notices for people."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from adjudication.blindness import dark_matches
from adjudication.models import Case
from bouts.models import Match, Membership, Team, User
from judging.models import Scorecard
from news import signing


class EndpointQuerySet(models.QuerySet):
    def on(self) -> EndpointQuerySet:
        return self.filter(off_at=None)


class Endpoint(models.Model):
    """An address of somebody's that hears of matches. Only its nonce is kept, not its secret."""

    class Event(models.TextChoices):
        SCORED = "match.scored", "match.scored"
        FLAGGED = "match.flagged", "match.flagged"
        ADJUDICATED = "match.adjudicated", "match.adjudicated"

    name = models.CharField(max_length=80, unique=True)
    url = models.URLField(max_length=500)
    events = ArrayField(models.CharField(max_length=20, choices=Event))
    nonce = models.CharField(max_length=64, default=signing.new_nonce)
    # While a receiver changes over, what is sent is signed with the secret before as well.
    nonce_before = models.CharField(max_length=64, blank=True)
    before_until = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)  # null: the last attempt went well
    off_at = models.DateTimeField(null=True)
    off_reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    objects = EndpointQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("news:endpoint_detail", args=[self.pk])

    @property
    def is_on(self) -> bool:
        return self.off_at is None

    def secrets_at(self, at: datetime) -> list[str]:
        """Return the secrets that sign at a moment, the newest first."""
        nonces = [self.nonce]
        if self.before_until is not None and at < self.before_until:
            nonces.append(self.nonce_before)
        return [signing.secret_of(nonce) for nonce in nonces]


class Event(models.Model):
    """Something that happened, as it is told: written in the transaction in which it happened.

    The id stays the same however often it is sent; a receiver knows by it what it has heard.
    """

    TEST = "test"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=20)
    scorecard = models.ForeignKey(Scorecard, null=True, on_delete=models.PROTECT, related_name="+")
    body = models.TextField()  # JSON, to the byte as it is signed and sent
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} {self.pk}"


class DeliveryQuerySet(models.QuerySet):
    def due(self, at: datetime) -> DeliveryQuerySet:
        """Narrow to what is to be sent now, what a dead worker left included."""
        is_due = Q(state=Delivery.State.WAITING, next_at__lte=at)
        is_left = Q(state=Delivery.State.SENDING, lease_expires_at__lte=at)
        return self.filter(is_due | is_left, endpoint__off_at=None)


class Delivery(models.Model):
    """An event on its way to an endpoint. The row is the truth, the task only a doorbell."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        SENDING = "sending", "sending"
        DELIVERED = "delivered", "delivered"
        GIVEN_UP = "given_up", "given up"

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)  # since it was last put into the queue
    next_at = models.DateTimeField(default=timezone.now)
    lease_expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["endpoint", "event"], name="one_delivery_per_event_and_endpoint"
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_at"],
                condition=Q(state__in=["waiting", "sending"]),
                name="deliveries_under_way",
            ),
            models.Index(fields=["endpoint", "-created_at", "-id"], name="newest_deliveries"),
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.endpoint}"


class Attempt(models.Model):
    """One request of a delivery and what came back. Only ever added."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True)  # of HTTP; null where no answer came
    failure = models.CharField(max_length=200, blank=True)  # empty: delivered
    latency_ms = models.PositiveIntegerField()
    excerpt = models.TextField(blank=True)  # how the answer begins

    class Meta:
        ordering = ["delivery", "number"]
        constraints = [
            models.UniqueConstraint(fields=["delivery", "number"], name="one_attempt_number"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.delivery}"


class NoticeQuerySet(models.QuerySet):
    def visible_to(self, user: User) -> NoticeQuerySet:
        """Narrow to a person's own notices, of what they may still know of.

        Whoever has left a team reads nothing more of it. A reviewer reads nothing of a match
        that they owe a blind score, nor of one that they have a conflict with.
        """
        mine = self.filter(Q(team=None) | Q(team__in=user.team_ids), user=user)
        if not user.is_reviewer:
            return mine
        cases = Case.objects.visible_to(user)
        open_to_me = (Q(case=None) | Q(case__in=cases)) & ~Q(match__in=dark_matches(user))
        return mine.filter(Q(team__in=user.team_ids) | open_to_me)

    def unread(self) -> NoticeQuerySet:
        return self.filter(read_at=None)


class Notice(models.Model):
    """Something that concerns one person, in a sentence, until they have read it and after."""

    class Kind(models.TextChoices):
        SCORED = "scored", "Scored"
        FLAGGED = "flagged", "Flagged"
        ADJUDICATED = "adjudicated", "Adjudicated"
        ANSWERED = "answered", "Review answered"
        EXCLUSION = "exclusion", "Off or on the leaderboards"
        DECIDED = "decided", "Case decided"  # for reviewers who had a part in it
        ENDPOINT = "endpoint", "Webhook off"  # for ops

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    kind = models.CharField(max_length=12, choices=Kind)
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE)  # as whose member
    match = models.ForeignKey(Match, null=True, on_delete=models.CASCADE)
    case = models.ForeignKey(Case, null=True, on_delete=models.CASCADE)
    endpoint = models.ForeignKey(Endpoint, null=True, on_delete=models.CASCADE)
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)
    read_at = models.DateTimeField(null=True)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["user", "-created_at", "-id"], name="newest_notices"),
            models.Index(fields=["user"], condition=Q(read_at=None), name="unread_notices"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.text}"

    @property
    def address(self) -> str:
        """Where it leads; needs what it is about fetched."""
        subject = self.case or self.match or self.endpoint
        return subject.get_absolute_url() if subject else ""


def unread_of() -> Any:
    """Count a person's unread notices in the query that fetches the person.

    Of a reviewer it counts at most too many: blindness takes a query of its own.
    """
    member = Membership.objects.filter(user=OuterRef("user"), team=OuterRef("team"))
    unread = Notice.objects.unread().filter(Q(team=None) | Exists(member), user=OuterRef("pk"))
    counts = unread.order_by().values("user").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counts), 0)
