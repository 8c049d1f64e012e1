"""People, their teams, their keys, and the log of what they changed."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.contrib.auth.models import UserManager as DjangoUserManager
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.core.serializers.json import DjangoJSONEncoder
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Count, OuterRef, Q
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

from bouts.tokens import digest_of

check_username = RegexValidator(r"^[\w.+-]+\Z", "Letters, digits and . + - _ only.")


class TeamQuerySet(models.QuerySet):
    def visible_to(self, user: User) -> TeamQuerySet:
        """Narrow to the teams whose page this person may open: ops all, others their own."""
        if user.is_operator:
            return self
        return self.filter(pk__in=user.team_ids)

    def with_sizes(self) -> TeamQuerySet:
        """Add `size`, the number of active members."""
        size = Count("members", filter=Q(members__is_active=True))
        return self.annotate(size=size).order_by("name")  # grouping drops the usual order


class Team(models.Model):
    """Who enters agents. The slug never changes: bundles name their team by it."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("bouts:team_detail", args=[self.slug])


class UserQuerySet(models.QuerySet):
    def by_login(self, text: str) -> User | None:
        """Return whom this name or email address means, whatever its case."""
        # A name holds no "@" (`check_username`), so the two never mean different people.
        return self.filter(Q(username__iexact=text) | Q(email__iexact=text)).first()

    def with_team_ids(self) -> UserQuerySet:
        """Fetch with each person the ids of their teams, which decide what they may see."""
        teams = Membership.objects.filter(user=OuterRef("pk")).values("team_id")
        return self.annotate(fetched_team_ids=ArraySubquery(teams))

    def matching(self, text: str) -> UserQuerySet:
        """Narrow to those whose name, sign-in name or address holds the text."""
        return self.filter(
            Q(username__icontains=text)
            | Q(first_name__icontains=text)
            | Q(last_name__icontains=text)
            | Q(email__icontains=text)
        )


class UserManager(DjangoUserManager.from_queryset(UserQuerySet)):
    pass


class User(AbstractUser):
    """A person with an account. Somebody's whole name stands in `first_name`: names differ."""

    class Role(models.TextChoices):
        COMPETITOR = "competitor", "competitor"
        REVIEWER = "reviewer", "reviewer"
        LEAD = "lead", "lead reviewer"
        OPS = "ops", "ops"
        ADMIN = "admin", "admin"

    username = models.CharField(
        "sign-in name",
        max_length=60,
        unique=True,
        validators=[check_username],
        error_messages={"unique": "Somebody has this name already."},
    )
    role = models.CharField(max_length=12, choices=Role, default=Role.COMPETITOR)
    teams = models.ManyToManyField(Team, through="Membership", related_name="members")
    uses_keys = models.BooleanField(default=True)  # whether single keys do things on pages
    time_zone = models.CharField(max_length=60, blank=True)  # empty: as the browser says

    objects = UserManager()

    class Meta:
        ordering = ["username"]
        constraints = [
            models.UniqueConstraint(Lower("username"), name="one_user_per_name"),
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

    def get_absolute_url(self) -> str:
        return reverse("bouts:person_detail", args=[self.username])

    @property
    def is_admin(self) -> bool:
        return self.role == self.Role.ADMIN

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
        """The teams of this person; one that `with_team_ids` fetched needs no query for them."""
        fetched = getattr(self, "fetched_team_ids", None)
        if fetched is None:
            fetched = self.membership_set.values_list("team_id", flat=True)
        return frozenset(fetched)

    @property
    def grantable_roles(self) -> list[User.Role]:
        """The roles that this person may give: an admin any, ops any but admin."""
        if not self.is_operator:
            return []
        return [role for role in self.Role if self.is_admin or role != self.Role.ADMIN]

    def may_manage(self, other: User) -> bool:
        """Whether this person may reset, move or deactivate that one: never themselves."""
        return self.pk != other.pk and other.role in self.grantable_roles

    @property
    def token_scopes(self) -> list[ApiToken.Scope]:
        """What a token of this person can be good for."""
        scopes = [ApiToken.Scope.READ]
        if self.is_operator:
            scopes += [ApiToken.Scope.UPLOAD, ApiToken.Scope.REJUDGE]
        if self.is_reviewer:
            scopes.append(ApiToken.Scope.ADJUDICATE)
        return scopes


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


class FormerMembership(models.Model):
    """That somebody was in a team once. Leaving it makes nobody impartial about it."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="former_memberships")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    left_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["left_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "team"], name="left_a_team_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user}, once in {self.team}"


class LinkQuerySet(models.QuerySet):
    def open(self) -> LinkQuerySet:
        return self.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now())

    def by_secret(self, secret: str) -> LinkQuerySet:
        return self.filter(token_digest=digest_of(secret))


class Link(models.Model):
    """A link that works once and not for ever. Only the hash of its secret is kept."""

    class State(models.TextChoices):
        OPEN = "open", "open"
        USED = "used", "used"
        REVOKED = "revoked", "revoked"
        EXPIRED = "expired", "expired"

    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = LinkQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["-created_at", "-pk"]

    @property
    def state(self) -> State:
        if self.used_at is not None:
            return self.State.USED
        if self.revoked_at is not None:
            return self.State.REVOKED
        return self.State.OPEN if timezone.now() < self.expires_at else self.State.EXPIRED

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN


class Invitation(Link):
    """A link that makes one account."""

    email = models.EmailField()
    role = models.CharField(max_length=12, choices=User.Role)
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.CASCADE)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="invitations_sent"
    )
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="invitations_accepted",
    )

    def __str__(self) -> str:
        return f"{self.email} as {self.role}"


class PasswordReset(Link):
    """A link with which one person sets a new password."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="password_resets"
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    def __str__(self) -> str:
        return f"New password for {self.user}"


class SignInTry(models.Model):
    """A try to sign in that has not succeeded, kept for as long as it counts.

    The name is hashed: people type their password into its field.
    """

    name_digest = models.CharField(max_length=64)
    address = models.GenericIPAddressField(null=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(fields=["name_digest", "at"]),
            models.Index(fields=["address", "at"]),
        ]

    def __str__(self) -> str:
        return f"{self.at:%H:%M:%S} from {self.address}"


class ApiTokenQuerySet(models.QuerySet):
    def live(self) -> ApiTokenQuerySet:
        is_over = Q(expires_at__lte=timezone.now())
        return self.filter(revoked_at=None).exclude(is_over)


class ApiToken(models.Model):
    """A key to the API. Only its hash is kept; the prefix tells people which one it is."""

    class Scope(models.TextChoices):
        READ = "read", "read what its owner may read"
        UPLOAD = "upload", "upload and check bundles and challenges"
        ADJUDICATE = "adjudicate", "work on cases"
        REJUDGE = "rejudge", "preview rejudgings, apply and drop them"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=12, choices=Scope))
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    @property
    def is_live(self) -> bool:
        is_over = self.expires_at is not None and self.expires_at <= timezone.now()
        return self.revoked_at is None and not is_over


class AuditEntry(models.Model):
    """Who changed a score, a case or an account: when, what before, what after, and why."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    action = models.CharField(max_length=60, db_index=True)
    subject = models.CharField(max_length=200, db_index=True)
    before = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    after = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["-at", "-pk"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"

    @property
    def changes(self) -> list[tuple[str, object, object]]:
        """What changed: (name, value before, value after), None where there was or is none."""
        before, after = self.before or {}, self.after or {}
        return [(name, before.get(name), after.get(name)) for name in {**before, **after}]
