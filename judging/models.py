"""Verdicts, findings, scorecards, and the steps of the work that make them."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.urls import reverse

from bouts.fields import ExactField
from bouts.models import Agent, Bundle, Challenge, ChallengeVersion, Match


class Step(models.Model):
    """One piece of a match's work. The row is the truth, the task only a doorbell."""

    class Name(models.TextChoices):
        OBJECTIVE = "objective", "Objective"
        PROCESS = "process", "Process"
        STRATEGY = "strategy", "Strategy"
        RECOVERY = "recovery", "Recovery"
        INTEGRITY = "integrity", "Integrity"
        SCORECARD = "scorecard", "Scorecard"

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    bundle = models.ForeignKey(Bundle, on_delete=models.CASCADE, related_name="steps")
    name = models.CharField(max_length=10, choices=Name)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    lease_expires_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["bundle", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["bundle", "name"], name="one_step_per_name"),
        ]
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=Q(state__in=["waiting", "running", "failed"]),
                name="unfinished_steps",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.bundle}"


class Verdict(models.Model):
    """One stored answer of a judge, a seat of the panel, or a ruling. Only ever added.

    ``seat`` tells the answers of one judge apart: a vendor for the panel, ``metrics`` and
    ``model`` for the halves of Process and Recovery, ``ruling`` for a reviewer's Strategy
    score, empty for Objective.
    """

    class Source(models.TextChoices):
        OWN = "own", "own judge"
        UPLOADED = "uploaded", "uploaded"
        RULING = "ruling", "ruling"

    bundle = models.ForeignKey(Bundle, on_delete=models.PROTECT, related_name="verdicts")
    judge = models.CharField(max_length=10)
    seat = models.CharField(max_length=12, blank=True)
    source = models.CharField(max_length=8, choices=Source)
    state = models.CharField(max_length=12, default="scored")  # or refused, timeout, ...
    reason = models.TextField(blank=True)  # of a state without a score
    score = ExactField(null=True)
    levels = models.JSONField(null=True)  # criterion -> 1..5
    model = models.CharField(max_length=120, blank=True)
    rationale = models.TextField(blank=True)
    evidence = models.JSONField(default=list)
    detail = models.JSONField(default=dict)  # what the page shows of how it came about
    evidence_digest = models.CharField(max_length=64, blank=True)
    answered_at = models.DateTimeField(null=True)  # as the uploader says
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)
    is_live = models.BooleanField(default=True)

    class Meta:
        ordering = ["bundle", "judge", "seat", "-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["bundle", "judge", "seat"],
                condition=Q(is_live=True),
                name="one_live_verdict_per_seat",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge} {self.seat} {self.state}".replace("  ", " ")


class Finding(models.Model):
    """What Integrity found. A decision about it is a new row under the same ``key``."""

    class Status(models.TextChoices):
        PROPOSED = "proposed", "proposed"
        APPLIED = "applied", "applied"
        DISMISSED = "dismissed", "dismissed"

    bundle = models.ForeignKey(Bundle, on_delete=models.PROTECT, related_name="findings")
    key = models.CharField(
        max_length=64
    )  # hash of trigger and anchors: the same act, found twice, is one
    trigger = models.CharField(max_length=40)
    points = models.SmallIntegerField()
    status = models.CharField(max_length=10, choices=Status)
    confidence = models.CharField(max_length=6, blank=True)  # high, low, or none named
    act = models.CharField(max_length=200, blank=True)
    source = models.CharField(max_length=8, choices=Verdict.Source)
    note = models.TextField(blank=True)
    evidence = models.JSONField()  # anchors, each with its excerpt; never empty
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    reason = models.TextField(blank=True)  # public: why it was applied or dismissed
    created_at = models.DateTimeField(auto_now_add=True)
    is_live = models.BooleanField(default=True)

    class Meta:
        ordering = ["bundle", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["bundle", "key"], condition=Q(is_live=True), name="one_live_finding"
            ),
            models.CheckConstraint(condition=~Q(evidence=[]), name="no_finding_without_evidence"),
        ]

    def __str__(self) -> str:
        return f"{self.trigger} {self.points:+d}, {self.status}"


class ScorecardQuerySet(models.QuerySet):
    def live(self) -> ScorecardQuerySet:
        return self.filter(is_live=True)


class Scorecard(models.Model):
    """One immutable revision of a match's score, with the breakdown that explains it."""

    class Status(models.TextChoices):
        PENDING = "pending", "pending"
        PROVISIONAL = "provisional", "provisional"
        FINAL = "final", "final"
        UNSCORED = "unscored", "unscored"
        FAILED = "failed", "failed"

    match = models.ForeignKey(Match, on_delete=models.PROTECT, related_name="scorecards")
    bundle = models.ForeignKey(Bundle, on_delete=models.PROTECT, related_name="scorecards")
    challenge_version = models.ForeignKey(ChallengeVersion, on_delete=models.PROTECT)
    number = models.PositiveIntegerField()  # `revision` on screen
    policy = models.CharField(max_length=20)
    status = models.CharField(max_length=12, choices=Status)
    marks = ArrayField(models.CharField(max_length=20), default=list)
    total = models.DecimalField(max_digits=5, decimal_places=2, null=True)
    # Unrounded and unclamped: what ranks are made of; and how far open questions can move it.
    value = ExactField(null=True)
    low = ExactField(null=True)
    high = ExactField(null=True)
    # Counted, by judge.
    objective = ExactField(null=True)
    process = ExactField(null=True)
    strategy = ExactField(null=True)
    recovery = ExactField(null=True)
    adjustment = models.SmallIntegerField(default=0)
    breakdown = models.JSONField()  # DESIGN.md, "A breakdown as JSON", with nothing withheld
    digest = models.CharField(max_length=64)  # of the breakdown
    cause = models.CharField(max_length=200)  # "first scorecard", "ruling", "new bundle", ...
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    is_live = models.BooleanField(default=True)

    objects = ScorecardQuerySet.as_manager()

    class Meta:
        ordering = ["match", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["match", "number"], name="one_scorecard_number"),
            models.UniqueConstraint(
                fields=["match"], condition=Q(is_live=True), name="one_live_scorecard"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.match}, revision {self.number}"

    def get_absolute_url(self) -> str:
        return reverse("judging:scorecard_detail", args=[self.match.slug, self.number])

    @property
    def is_ranked(self) -> bool:
        """Whether this total may count on a board (SCORING.md, 1)."""
        return (
            self.value is not None and "incomplete" not in self.marks and "held" not in self.marks
        )


class Standing(models.Model):
    """A row of a board, kept up to date as scorecards are recorded.

    With a challenge version: the agent's mean over its ranked matches there. Without one:
    the mean over challenges. Always equal to what a recount from the scorecards gives.
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="standings")
    challenge = models.ForeignKey(Challenge, null=True, on_delete=models.CASCADE)
    challenge_version = models.ForeignKey(ChallengeVersion, null=True, on_delete=models.CASCADE)
    ranked_matches = models.PositiveIntegerField(default=0)
    matches = models.PositiveIntegerField(default=0)
    challenges = models.PositiveIntegerField(default=1)
    # Means over the ranked matches. `value` is made of unclamped totals and orders the board;
    # rows whose values are equal at two places share a rank. `total` is made of the totals
    # that the matches show.
    value = models.DecimalField(max_digits=25, decimal_places=20, null=True)
    rounded = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    total = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    low = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    high = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    objective = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    process = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    strategy = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    recovery = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    adjustment = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    status = models.CharField(max_length=12)  # of the row: provisional where one match is
    marks = ArrayField(models.CharField(max_length=20), default=list)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "challenge_version"],
                name="one_standing_per_board",
                nulls_distinct=False,
            ),
        ]
        indexes = [
            models.Index(
                "challenge_version",
                models.F("rounded").desc(nulls_last=True),
                models.F("value").desc(nulls_last=True),
                "id",
                name="standings_in_order",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent}: {self.value}"
