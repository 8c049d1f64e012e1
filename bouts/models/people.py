"""People, their teams, their keys, and the log of what they changed."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.functional import cached_property


class Team(models.Model):
    """Who enters agents. The slug never changes: bundles name their team by it."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class User(AbstractUser):
    class Role(models.TextChoices):
        COMPETITOR = "competitor", "competitor"
        REVIEWER = "reviewer", "reviewer"
        LEAD = "lead", "lead reviewer"
        OPS = "ops", "ops"
        ADMIN = "admin", "admin"

    role = models.CharField(max_length=12, choices=Role, default=Role.COMPETITOR)
    teams = models.ManyToManyField(Team, through="Membership", related_name="members")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Lower("email"), name="one_user_per_email", condition=~Q(email="")
            ),
        ]

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    def save(self, *args: object, **kwargs: object) -> None:
        # `manage.py createsuperuser` knows no roles; whoever runs it administers this server.
        if self.is_superuser:
            self.role = self.Role.ADMIN
        super().save(*args, **kwargs)

    @property
    def is_operator(self) -> bool:
        """Whether this person uploads, requeues and sees every match in full."""
        return self.role in {self.Role.OPS, self.Role.ADMIN}

    @property
    def is_reviewer(self) -> bool:
        return self.role in {self.Role.REVIEWER, self.Role.LEAD}

    @property
    def is_lead(self) -> bool:
        return self.role == self.Role.LEAD

    @property
    def is_official(self) -> bool:
        """Whether this person works for the competition: ops, reviewer, lead or admin."""
        return self.role != self.Role.COMPETITOR

    @cached_property
    def team_ids(self) -> frozenset[int]:
        return frozenset(self.membership_set.values_list("team_id", flat=True))


class Membership(models.Model):
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    team = models.ForeignKey(Team, on_delete=models.CASCADE)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "team"], name="one_membership_per_team"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class Invitation(models.Model):
    """A link that makes one account. Only the hash of its token is kept."""

    token_digest = models.CharField(max_length=64, unique=True)
    email = models.EmailField()
    role = models.CharField(max_length=12, choices=User.Role)
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.CASCADE)
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="invitations_sent")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, related_name="invitations_accepted"
    )
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.email} as {self.role}"

    @property
    def is_open(self) -> bool:
        return (
            self.accepted_at is None and self.revoked_at is None and timezone.now() < self.expires_at
        )


class ApiToken(models.Model):
    """A key to the API. Only its hash is kept; the prefix tells people which one it is."""

    class Scope(models.TextChoices):
        READ = "read", "read what its owner may read"
        UPLOAD = "upload", "upload and check bundles and challenges"
        ADJUDICATE = "adjudicate", "work on cases"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=12, choices=Scope))
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"


class AuditEntry(models.Model):
    """Who changed a score, a case or an account: when, what before, what after, and why."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=200, db_index=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["-at", "-pk"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
