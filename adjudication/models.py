"""Cases, the claims on them, and the rulings that settle them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from bouts.models import Bundle, Match, Team


class Case(models.Model):
    """A question that the rules put to a person (SCORING.md, 8)."""

    class Reason(models.TextChoices):
        PANEL_DISAGREEMENT = "panel_disagreement", "Panel disagrees"
        PANEL_INCOMPLETE = "panel_incomplete", "Panel incomplete"
        INTEGRITY_QUARANTINE = "integrity_quarantine", "Integrity quarantine"
        PANEL_CHAINED = "panel_chained", "Panel chained"
        INTEGRITY_REVIEW = "integrity_review", "Integrity review"
        OBJECTIVE_NARRATIVE_CONFLICT = (
            "objective_narrative_conflict",
            "Objective and narrative conflict",
        )
        REVIEW_REQUESTED = "review_requested", "Review requested"
        RANDOM_AUDIT = "random_audit", "Random audit"

    class State(models.TextChoices):
        OPEN = "open", "Open"
        CLAIMED = "claimed", "Claimed"
        AWAITING_SECOND = "awaiting_second", "Awaiting second"
        AWAITING_PANEL = "awaiting_panel", "Awaiting panel"
        DECIDED = "decided", "Decided"
        VOID = "void", "Void"

    match = models.ForeignKey(Match, on_delete=models.PROTECT, related_name="cases")
    bundle = models.ForeignKey(Bundle, on_delete=models.PROTECT, related_name="cases")
    reason = models.CharField(max_length=30, choices=Reason)
    blocking = models.BooleanField()
    finding_key = models.CharField(max_length=64, blank=True)  # empty: the Strategy score
    evidence_digest = models.CharField(max_length=64)
    stakes = models.CharField(max_length=8)
    slots = models.PositiveSmallIntegerField(default=1)  # independent reviewers it needs
    state = models.CharField(max_length=16, choices=State, default=State.OPEN)
    version = models.PositiveIntegerField(default=1)  # raised by every change: stale forms get 409
    opened_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)
    closed_reason = models.TextField(blank=True)  # of a void case

    class Meta:
        ordering = ["opened_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["bundle", "reason", "finding_key"],
                condition=~Q(state="void"),
                name="one_case_per_question",
            ),
        ]
        indexes = [
            models.Index(
                fields=["opened_at"],
                condition=~Q(state__in=["decided", "void"]),
                name="unsettled_cases",
            ),
        ]

    def __str__(self) -> str:
        return f"C-{self.pk:04d}"

    def get_absolute_url(self) -> str:
        return reverse("adjudication:case_detail", args=[self.pk])


class Claim(models.Model):
    """A reviewer's hold on a slot of a case, for as long as its lease is renewed."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="claims")
    slot = models.PositiveSmallIntegerField()
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    claimed_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)  # released, lapsed, taken over or used up
    ended_how = models.CharField(max_length=12, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["case", "slot"], condition=Q(ended_at=None), name="one_claim_per_slot"
            ),
            models.UniqueConstraint(
                fields=["case", "reviewer"],
                condition=Q(ended_at=None),
                name="one_slot_per_reviewer",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} on {self.case}"


class BlindScore(models.Model):
    """What a reviewer thought before the reveal. Never changed afterwards."""

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="blind_scores")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    levels = models.JSONField(null=True)  # criterion -> 1..5; null where the question is a finding
    score = models.DecimalField(max_digits=40, decimal_places=30, null=True)
    opinion = models.CharField(max_length=10, blank=True)  # on a finding: confirm or dismiss
    reason = models.TextField()
    committed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case", "reviewer"], name="one_blind_score"),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} on {self.case}"


class Draft(models.Model):
    """What a reviewer has typed so far: it survives a crash, an expired login, a conflict."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="drafts")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    fields = models.JSONField(default=dict)
    saved_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["case", "reviewer"], name="one_draft")]

    def __str__(self) -> str:
        return f"Draft of {self.reviewer} on {self.case}"


class Ruling(models.Model):
    """A decision, with its public reason. Only ever added: a correction names the one it replaces."""

    class Kind(models.TextChoices):
        UPHOLD = "uphold", "Uphold the rule’s number"
        AVERAGE = "average", "Average the votes"
        ADOPT = "adopt", "Adopt a seat"
        SET = "set", "Set a score"
        ESCALATE = "escalate", "Escalate to a second reviewer"
        CONFIRM = "confirm", "Confirm the finding"
        DISMISS = "dismiss", "Dismiss the finding"
        AMEND = "amend", "Amend the points"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="rulings")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    kind = models.CharField(max_length=10, choices=Kind)
    seat = models.CharField(max_length=12, blank=True)
    score = models.DecimalField(max_digits=40, decimal_places=30, null=True)
    points = models.SmallIntegerField(null=True)
    public_reason = models.TextField()
    private_note = models.TextField(blank=True)
    supersedes = models.OneToOneField("self", null=True, on_delete=models.PROTECT)
    total_before = models.CharField(max_length=8, blank=True)
    total_after = models.CharField(max_length=8, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} on {self.case}"


class Conflict(models.Model):
    """A declared conflict of interest. Membership of the match's team is one by itself."""

    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conflicts"
    )
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE)
    match = models.ForeignKey(Match, null=True, on_delete=models.CASCADE)
    note = models.TextField(blank=True)
    declared_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(team=None) ^ Q(match=None), name="conflict_with_team_or_match"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} with {self.team or self.match}"
