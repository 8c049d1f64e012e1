"""Agents, their matches, and the bundles that tell of them."""

from __future__ import annotations

import uuid

from django.contrib.postgres.indexes import OpClass
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper
from django.urls import reverse

from bouts.models.challenges import Challenge, ChallengeVersion
from bouts.models.people import Team, User


class Agent(models.Model):
    """A row of the leaderboard: team, name and version."""

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="agents")
    name = models.CharField(max_length=120)
    version = models.CharField(max_length=60)
    base_model = models.CharField(max_length=120)
    scaffold = models.CharField(max_length=120, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name", "version"], name="one_agent_version"),
        ]
        indexes = [
            # For what begins with a text, whatever its case.
            models.Index(OpClass(Upper("name"), "text_pattern_ops"), name="agents_by_name"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class MatchQuerySet(models.QuerySet):
    def visible_to(self, user: User) -> MatchQuerySet:
        """Narrow to the matches that this person may know of.

        Everybody signed in sees that a match exists, with its totals; how much of it is
        decided by `bouts.disclosure`. What a blind reviewer must not see is cut there too.
        """
        return self if user.is_authenticated and user.is_active else self.none()


class Match(models.Model):
    """One agent's run at one challenge, under the uploader's own id."""

    class Exclusion(models.TextChoices):
        NONE = "", "counts"
        WITHDRAWN = "withdrawn", "withdrawn"
        EXCLUDED = "excluded", "excluded"

    slug = models.CharField(max_length=120, unique=True)  # `match` in the manifest
    bout = models.CharField(max_length=120, blank=True, db_index=True)
    challenge = models.ForeignKey(Challenge, on_delete=models.PROTECT, related_name="matches")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="matches")
    exclusion = models.CharField(
        max_length=10, choices=Exclusion, default=Exclusion.NONE, blank=True
    )
    exclusion_reason = models.TextField(blank=True)
    is_sample = models.BooleanField(default=False)
    last_sent_at = models.DateTimeField(null=True)  # of its uploads the one sent last is live
    created_at = models.DateTimeField(auto_now_add=True)

    objects = MatchQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "matches"
        indexes = [
            models.Index(fields=["agent", "challenge"]),
            models.Index(fields=["-created_at", "-id"], name="newest_matches"),
            models.Index(fields=["agent", "-created_at", "-id"], name="newest_of_an_agent"),
            models.Index(OpClass(Upper("slug"), "text_pattern_ops"), name="matches_by_slug"),
            models.Index(fields=["agent"], condition=Q(is_sample=True), name="sample_matches"),
        ]

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse("judging:match_detail", args=[self.slug])


class Bundle(models.Model):
    """One upload of a match. New content gives a new one; the old one stays readable."""

    match = models.ForeignKey(Match, on_delete=models.PROTECT, related_name="bundles")
    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    manifest = models.JSONField()  # match.json as it was uploaded
    challenge_version = models.ForeignKey(ChallengeVersion, on_delete=models.PROTECT)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField()
    build_ok = models.BooleanField(null=True)
    hidden_words = models.JSONField(default=list)  # what names or quotes a hidden test
    uploaded_at = models.DateTimeField(auto_now_add=True)
    uploaded_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT)
    is_live = models.BooleanField(default=True)

    class Meta:
        ordering = ["match", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["match", "number"], name="one_bundle_number"),
            models.UniqueConstraint(
                fields=["match"], condition=Q(is_live=True), name="one_live_bundle"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.match}, bundle {self.number}"


class Upload(models.Model):
    """A file that somebody sent: how far it has come, and what became of it."""

    class State(models.TextChoices):
        RECEIVED = "received", "received"
        WORKING = "working", "working"
        STORED = "stored", "stored"
        UNCHANGED = "unchanged", "unchanged"
        VALID = "valid", "valid"  # checked only, nothing stored
        REFUSED = "refused", "refused"
        FAILED = "failed", "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    size = models.BigIntegerField()
    is_check = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVED)
    # The stages gone through: [{"stage": "validated", "at": ISO time, "detail": "12 files"}].
    stages = models.JSONField(default=list)
    faults = models.JSONField(default=list)
    reason = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_expires_at = models.DateTimeField(null=True)
    bundle = models.ForeignKey(Bundle, null=True, on_delete=models.SET_NULL)
    challenge_version = models.ForeignKey(ChallengeVersion, null=True, on_delete=models.SET_NULL)
    by = models.ForeignKey(User, null=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("judging:upload_detail", args=[self.pk])

    @property
    def storage_name(self) -> str:
        """Where the file waits until it was worked on, in the storage of the artifacts."""
        return f"uploads/{self.pk}"
