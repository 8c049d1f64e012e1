"""Cases, the claims on them, and the rulings that settle them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Case as CaseWhen
from django.db.models import Exists, Func, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce
from django.db.models.lookups import LessThanOrEqual
from django.urls import reverse
from django.utils import timezone

from bouts.fields import ExactField
from bouts.models import (
    Bundle,
    Challenge,
    FormerMembership,
    Match,
    Membership,
    Team,
    User,
)
from bouts.rules import Stakes
from judging.models import Scorecard

# Since when a slot of a case is free: for ever, or from the end of a lease on.
FREE_FROM = Coalesce("full_until", Value(datetime.min.replace(tzinfo=UTC)))


class CaseQuerySet(models.QuerySet):
    """Cases. Where time matters a method takes `at`, so that one page has one clock."""

    # Who may see and decide what

    def visible_to(self, user: User) -> CaseQuerySet:
        """Narrow to the cases that this person may know of.

        Officials only, and never whoever has a conflict of interest: a member of the match's
        team, one who was a member once, or one who declared it with the team or the match. For
        them a case is neither in lists nor in counts, and its address leads nowhere.
        """
        if not (user.is_authenticated and user.is_active and user.is_official):
            return self.none()
        return self._without_conflict(user)

    def _without_conflict(self, person: User | OuterRef) -> CaseQuerySet:
        # Asked apart: joined by "or", PostgreSQL would look through them once for every case.
        declared = Conflict.objects.filter(reviewer=person)
        with_team = declared.filter(team=OuterRef("team"))
        with_match = declared.filter(match=OuterRef("match"))
        member = Membership.objects.filter(team=OuterRef("team"), user=person)
        former = FormerMembership.objects.filter(team=OuterRef("team"), user=person)
        return self.filter(
            ~Exists(with_team), ~Exists(with_match), ~Exists(member), ~Exists(former)
        )

    def unsettled_of_reviewer(self) -> Any:
        """Count the unsettled cases that a reviewer may know of, in the query that fetches them.

        An expression over the person; nobody else has a badge, and for them nothing is counted.
        Most have a conflict with nobody: then no case is looked at for one.
        """
        in_conflict = [
            Exists(model.objects.filter(**{person: OuterRef("pk")}))
            for model, person in (
                (Conflict, "reviewer"),
                (Membership, "user"),
                (FormerMembership, "user"),
            )
        ]
        known = self._without_conflict(OuterRef(OuterRef("pk")))
        number = Func(
            function="COUNT", template="%(function)s(*)", output_field=models.IntegerField()
        )
        all_there_are, those_they_may_know = (
            Subquery(cases.unsettled().order_by().annotate(number=number).values("number"))
            for cases in (self, known)
        )
        reviewers = (User.Role.REVIEWER, User.Role.LEAD)
        return CaseWhen(
            When(~Q(role__in=reviewers), then=Value(0)),
            When(Q(*(~found for found in in_conflict)), then=all_there_are),
            default=those_they_may_know,
            output_field=models.IntegerField(),
        )

    def decidable_by(self, user: User, at: datetime | None = None) -> CaseQuerySet:
        """Narrow to the cases that this reviewer could claim now.

        Nobody fills two slots of one case, and what was declined is not offered again.
        """
        if not (user.is_authenticated and user.is_reviewer):
            return self.none()
        at = at or timezone.now()
        touched = Claim.objects.filter(Claim.bars(at), case=OuterRef("pk"), reviewer=user)
        return self.visible_to(user).filter(
            LessThanOrEqual(FREE_FROM, at),
            ~Q(challenge__state=Challenge.State.FROZEN),
            ~Exists(touched),
            state__in=Case.WANTING,
        )

    def held_by(self, user: User, at: datetime | None = None) -> CaseQuerySet:
        return self.filter(pk__in=Claim.objects.live(at).filter(reviewer=user).values("case"))

    # States

    def unsettled(self) -> CaseQuerySet:
        """Narrow to the cases that still want something from somebody."""
        return self.filter(closed_at=None)

    def in_state(self, state: str, at: datetime | None = None) -> CaseQuerySet:
        return self.filter(_in_state(state, at or timezone.now()))

    def for_list(self) -> CaseQuerySet:
        """Fetch all that a row of the queue shows, so that templates run no query."""
        return self.select_related("challenge", "bundle__challenge_version").prefetch_related(
            models.Prefetch(
                "claims", Claim.objects.open().select_related("reviewer"), to_attr="open_claims"
            )
        )

    def for_page(self) -> CaseQuerySet:
        return self.for_list().select_related("match__agent", "team", "scorecard")

    def contested_matches(self) -> models.QuerySet:
        """Return the ids of the matches whose Strategy score is in question, as a query."""
        return self.unsettled().filter(finding_key="").order_by().values("match")

    def on_the_question_of(self, case: Case) -> CaseQuerySet:
        """Narrow to the cases that ask the same: one ruling settles them all."""
        return self.filter(
            match=case.match_id, finding_key=case.finding_key, evidence_digest=case.evidence_digest
        )


def _in_state(state: str, at: datetime) -> Q:
    """Tell who is in a state at a moment: a live claim on a waiting case makes it claimed."""
    is_held = Q(held_until__gt=at)
    if state == Case.State.CLAIMED:
        return Q(state__in=Case.WANTING) & is_held
    if state in Case.WANTING:
        return Q(state=state) & (Q(held_until=None) | ~is_held)
    return Q(state=state)


class Case(models.Model):
    """A question that the rules put to a person (SCORING.md, 8).

    A case is one question about one match on one body of evidence. It stays the same case
    when the match is uploaded or judged again and the evidence has not changed.
    """

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

    WANTING = (State.OPEN, State.AWAITING_SECOND)  # a reviewer may work on it
    SETTLED = (State.DECIDED, State.VOID)

    match = models.ForeignKey(Match, on_delete=models.PROTECT, related_name="cases")
    # Those of the match, which can change neither: who may see a case is asked of each row.
    challenge = models.ForeignKey(Challenge, on_delete=models.PROTECT, related_name="cases")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="cases")
    bundle = models.ForeignKey(Bundle, on_delete=models.PROTECT, related_name="cases")
    scorecard = models.ForeignKey(Scorecard, on_delete=models.PROTECT, related_name="cases")
    reason = models.CharField(max_length=30, choices=Reason)
    blocking = models.BooleanField()
    finding_key = models.CharField(max_length=64, blank=True)  # empty: the Strategy score
    evidence_digest = models.CharField(max_length=64)
    stakes = models.CharField(max_length=8)
    slots = models.PositiveSmallIntegerField(default=1)  # independent reviewers it needs
    # "claimed" is never stored: it is read off `held_until`, so that a lease that lapses frees
    # its case without anybody's doing. `state_at` tells what a case is at a moment.
    state = models.CharField(max_length=16, choices=State, default=State.OPEN)
    held_until = models.DateTimeField(null=True)  # when the last lease on it ends
    full_until = models.DateTimeField(null=True)  # when a slot frees itself; null: one is free
    version = models.PositiveIntegerField(default=1)  # raised when what a form rests on changes
    opened_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True)
    closed_reason = models.TextField(blank=True)  # why it was settled without a ruling of its own

    objects = CaseQuerySet.as_manager()

    class Meta:
        ordering = ["opened_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["match", "reason", "finding_key"],
                condition=~Q(state="void"),
                name="one_case_per_question",
            ),
            models.CheckConstraint(
                condition=~Q(state="claimed"), name="claimed_is_read_off_leases"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["decided", "void"]) ^ Q(closed_at=None),
                name="closed_when_settled",
            ),
        ]
        indexes = [
            # The rungs of the queue: see `adjudication.urgency`.
            # The last part lets "next case" pass over what is taken without reading its rows.
            models.Index(
                "blocking",
                "stakes",
                "opened_at",
                "id",
                FREE_FROM,
                condition=Q(closed_at=None),
                name="unsettled_cases",
            ),
            models.Index(
                models.F("closed_at").desc(),
                "id",
                condition=Q(closed_at__isnull=False),
                name="settled_cases",
            ),
        ]

    def __str__(self) -> str:
        return f"C-{self.pk:04d}"

    def get_absolute_url(self) -> str:
        return reverse("adjudication:case_detail", args=[self.pk])

    @property
    def is_settled(self) -> bool:
        return self.state in self.SETTLED

    @property
    def is_on_finding(self) -> bool:
        return bool(self.finding_key)

    @property
    def is_high_stakes(self) -> bool:
        return self.stakes == Stakes.HIGH

    def state_at(self, at: datetime) -> State:
        """Return the state that people see at a moment."""
        if self.state in self.WANTING and self.held_until is not None and self.held_until > at:
            return self.State.CLAIMED
        return self.State(self.state)

    def claim_of(self, user: User, at: datetime | None = None) -> Claim | None:
        """Return this person's live claim, or None."""
        return self.claims.live(at).filter(reviewer=user).first()

    def blind_score_of(self, user: User) -> BlindScore | None:
        """Return what this person thought of the question before any reveal.

        Several cases may ask one question, and nobody can come to it blind a second time.
        """
        same_question = Case.objects.on_the_question_of(self)
        return BlindScore.objects.filter(case__in=same_question, reviewer=user).first()


class Tally(models.Model):
    """Settled cases that were counted once: see `adjudication.tallies`.

    The numbers of all rows with the same rest add up to how many there are.
    """

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    reason = models.CharField(max_length=30)
    blocking = models.BooleanField()
    stakes = models.CharField(max_length=8)
    state = models.CharField(max_length=16)
    number = models.IntegerField()

    class Meta:
        verbose_name_plural = "tallies"

    def __str__(self) -> str:
        return f"{self.number:+} {self.state}"


class ClaimQuerySet(models.QuerySet):
    def open(self) -> ClaimQuerySet:
        """Narrow to claims that nobody has ended, lapsed ones included."""
        return self.filter(ended_at=None)

    def live(self, at: datetime | None = None) -> ClaimQuerySet:
        return self.open().filter(expires_at__gt=at or timezone.now())

    def lapsed(self, at: datetime | None = None) -> ClaimQuerySet:
        return self.open().filter(expires_at__lte=at or timezone.now())


class Claim(models.Model):
    """A reviewer's hold on a slot of a case, for as long as its lease is renewed.

    Whoever declines a case that they do not hold leaves a claim that ended as it began: it
    filled no slot, and the case is not offered to them again.
    """

    class End(models.TextChoices):
        RELEASED = "released", "released"
        LAPSED = "lapsed", "lapsed"
        DECLINED = "declined", "declined"
        CONFLICT = "conflict", "conflict of interest"
        TAKEN_OVER = "taken_over", "taken over"
        RULED = "ruled", "ruled"
        SETTLED = "settled", "settled otherwise"
        ASKED = "asked", "asked the panel again"

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="claims")
    slot = models.PositiveSmallIntegerField()
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    claimed_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended_how = models.CharField(max_length=12, choices=End, blank=True)

    objects = ClaimQuerySet.as_manager()

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
        indexes = [
            # What somebody holds now, among all that they ever held.
            models.Index(fields=["reviewer"], condition=Q(ended_at=None), name="open_claims"),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} on {self.case}"

    def is_live(self, at: datetime) -> bool:
        return self.ended_at is None and self.expires_at > at

    @classmethod
    def bars(cls, at: datetime) -> Q:
        """Tell claims after which their reviewer cannot claim the case: live, used up, declined."""
        is_live = Q(ended_at=None, expires_at__gt=at)
        return is_live | Q(ended_how__in=[cls.End.RULED, cls.End.DECLINED])


class BlindScore(models.Model):
    """What a reviewer thought before the reveal. Never changed afterwards."""

    class Opinion(models.TextChoices):
        CONFIRM = "confirm", "Confirm"
        DISMISS = "dismiss", "Dismiss"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="blind_scores")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    levels = models.JSONField(null=True)  # criterion -> 1..5; null where the question is a finding
    score = ExactField(null=True)
    opinion = models.CharField(max_length=10, choices=Opinion, blank=True)  # on a finding
    reason = models.TextField()
    committed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case", "reviewer"], name="one_blind_score"),
            models.CheckConstraint(
                condition=Q(levels__isnull=True, score__isnull=True) ^ Q(opinion=""),
                name="levels_or_an_opinion",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} on {self.case}"


class Draft(models.Model):
    """What a reviewer has typed so far: it survives a crash, an expired login, a conflict."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="drafts")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    fields = models.JSONField(default=dict)  # names and values of the form
    saved_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["case", "reviewer"], name="one_draft")]

    def __str__(self) -> str:
        return f"Draft of {self.reviewer} on {self.case}"


class AskAgain(models.Model):
    """That a reviewer had the panel asked again: once a case, and what it said before stays."""

    case = models.OneToOneField(Case, on_delete=models.PROTECT, related_name="ask_again")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    public_reason = models.TextField()
    private_note = models.TextField(blank=True)
    # The live verdicts on Strategy at that moment: the seats, and the panel's own row.
    verdicts = ArrayField(models.BigIntegerField())
    asked_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.reviewer} on {self.case}"


class RulingQuerySet(models.QuerySet):
    def in_force(self) -> RulingQuerySet:
        """Narrow to those that no later ruling has replaced."""
        return self.filter(superseded_by=None)

    def visible_to(self, user: User) -> RulingQuerySet:
        """Narrow to the rulings that this person may read.

        Until a case is decided, each of its reviewers rules without knowing of the others.
        """
        if user.is_authenticated and user.is_operator:
            return self
        return self.filter(Q(reviewer=user) | Q(case__state__in=Case.SETTLED))


class Ruling(models.Model):
    """A decision, with its public reason. Only ever added: a correction names what it replaces."""

    class Kind(models.TextChoices):
        UPHOLD = "uphold", "Uphold the rule’s number"
        AVERAGE = "average", "Average the votes"
        ADOPT = "adopt", "Adopt a seat"
        SET = "set", "Set a score"
        CONFIRM = "confirm", "Confirm the finding"
        DISMISS = "dismiss", "Dismiss the finding"
        AMEND = "amend", "Amend the points"
        ESCALATE = "escalate", "Escalate to a second reviewer"

    class Answer(models.TextChoices):
        APPLIED = "applied", "applied"
        DISMISSED = "dismissed", "dismissed"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="rulings")
    slot = models.PositiveSmallIntegerField()
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    kind = models.CharField(max_length=10, choices=Kind)
    seat = models.CharField(max_length=12, blank=True)  # that was adopted
    score = ExactField(null=True)  # the Strategy score that this reviewer arrives at
    answer = models.CharField(max_length=10, choices=Answer, blank=True)  # on a finding
    points = models.SmallIntegerField(null=True)  # of a finding that is applied
    public_reason = models.TextField()
    private_note = models.TextField(blank=True)
    supersedes = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="superseded_by"
    )
    before = models.ForeignKey(Scorecard, on_delete=models.PROTECT, related_name="+")
    # The revision that followed; null while other reviewers are still to rule.
    after = models.ForeignKey(Scorecard, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    objects = RulingQuerySet.as_manager()

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(public_reason=""), name="a_ruling_has_a_reason"),
            models.CheckConstraint(
                condition=Q(score=None) ^ Q(answer=""), name="a_score_or_an_answer"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} on {self.case}"

    def may_be_corrected_by(self, user: User) -> bool:
        """Whether this person may replace it: its author, or once the case is decided a lead."""
        if self.case.state == Case.State.VOID or not user.is_reviewer:
            return False
        return self.reviewer_id == user.pk or (user.is_lead and self.case.is_settled)


class SavedView(models.Model):
    """Filters of the queue that somebody comes back to, under a name of their own."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views"
    )
    name = models.CharField(max_length=40)
    query = models.CharField(max_length=400)  # as it stands in the address of the queue

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="one_view_of_a_name"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('adjudication:case_queue')}?{self.query}"


class Conflict(models.Model):
    """A declared conflict of interest. Membership of the match's team is one by itself."""

    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conflicts"
    )
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE)
    match = models.ForeignKey(Match, null=True, on_delete=models.CASCADE)
    note = models.TextField(blank=True)
    declared_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["declared_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(team=None) ^ Q(match=None), name="conflict_with_team_or_match"
            ),
            models.UniqueConstraint(
                fields=["reviewer", "team", "match"],
                name="one_conflict",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} with {self.team or self.match}"


class ReviewRequest(models.Model):
    """That a competitor asked for a question to be looked at again: once a match, for good."""

    match = models.OneToOneField(Match, on_delete=models.PROTECT, related_name="review_request")
    case = models.OneToOneField(Case, on_delete=models.PROTECT, related_name="review_request")
    scorecard = models.ForeignKey(Scorecard, on_delete=models.PROTECT, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()  # what speaks against the score or the finding
    evidence = models.JSONField()  # anchors into the bundle of the scorecard; never empty
    asked_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(evidence=[]), name="no_request_without_evidence"),
            models.CheckConstraint(condition=~Q(text=""), name="a_request_says_why"),
        ]

    def __str__(self) -> str:
        return f"{self.case}, asked by {self.by}"
