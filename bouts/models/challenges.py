"""Challenges and their versions."""

from __future__ import annotations

from functools import cached_property

from django.db import models
from django.db.models import Q
from django.urls import reverse

from bouts.bundles.manifest import ChallengeFile


class Challenge(models.Model):
    class State(models.TextChoices):
        ACTIVE = "active", "active"
        RETIRED = "retired", "retired"  # disclosure may open
        FROZEN = "frozen", "frozen"  # uploads, rulings and rejudging are refused

    slug = models.SlugField(max_length=60, unique=True)
    state = models.CharField(max_length=8, choices=State, default=State.ACTIVE)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse("judging:challenge_detail", args=[self.slug])


class ChallengeVersion(models.Model):
    """One wording of a challenge. A scorecard names the version that it was scored under."""

    challenge = models.ForeignKey(Challenge, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    family = models.CharField(max_length=80, blank=True)
    document = models.JSONField()  # challenge.json as it was uploaded
    digest = models.CharField(max_length=64)
    # Path to SHA-256 of each file of the starting tree; null where there is none.
    starting_tree = models.JSONField(null=True)
    # Its archive; null too where the version is older than the keeping of them.
    tree_archive = models.ForeignKey("bouts.Blob", null=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("bouts.User", null=True, on_delete=models.PROTECT)
    is_live = models.BooleanField(default=True)

    class Meta:
        ordering = ["challenge", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["challenge", "number"], name="one_challenge_version"),
            models.UniqueConstraint(
                fields=["challenge"], condition=Q(is_live=True), name="one_live_challenge_version"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title}, version {self.number}"

    @cached_property
    def spec(self) -> ChallengeFile:
        return ChallengeFile.model_validate(self.document)
