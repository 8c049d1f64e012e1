"""Verdicts, findings, scorecards, the steps of the work that make them, and what models were asked."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import OuterRef, Q
from django.urls import reverse
from django.utils import timezone

from bouts.fields import ExactField
from bouts.models import Agent, Blob, Bundle, Challenge, ChallengeVersion, Match


class StepQuerySet(models.QuerySet):
    def judges(self) -> StepQuerySet:
        """Narrow to what our own code does: the five judges and the scorecard."""
        return self.filter(seat="")

    def asks(self) -> StepQuerySet:
        """Narrow to the questions that are put to models, one a judge and seat."""
        return self.exclude(seat="")

    def awaited(self) -> StepQuerySet:
        """Narrow to the work that will go on by itself and may yet change a score."""
        unfinished = self.exclude(state=Step.State.DONE).exclude(state=Step.State.FAILED)
        return unfinished.filter(bundle__is_live=True, bundle__match__exclusion="")


class Step(models.Model):
    """One piece of a match's work. The row is the truth, the task only a doorbell.

    With a ``seat`` it is an ask: the question that the judge of its name puts to the model in
    that seat. The judge's own step waits until its asks are over.
    """

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
        HELD = "held", "held back"  # an ask that may not be put now: the reason says why

    bundle = models.ForeignKey(Bundle, on_delete=models.CASCADE, related_name="steps")
    name = models.CharField(max_length=10, choices=Name)
    seat = models.CharField(max_length=12, blank=True)
    # Counts how often the match was judged: what an earlier round was answered is not taken
    # for an answer to this one.
    round = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    lease_expires_at = models.DateTimeField(null=True)

    objects = StepQuerySet.as_manager()

    class Meta:
        ordering = ["bundle", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["bundle", "name", "seat"], name="one_step_per_name"),
        ]
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=~Q(state="done"),
                name="unfinished_steps",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} of {self.bundle}"

    @property
    def title(self) -> str:
        """What the step is called on screen."""
        label = self.get_name_display()
        return f"{label}, {self.seat}" if self.seat else label

    @property
    def is_ask(self) -> bool:
        return bool(self.seat)


class ModelCall(models.Model):
    """One question put to a model: all that was known when it was sent. Never changed.

    It is stored before it is sent, and what came back is stored beside it as a `CallResult`. A
    call that has none although its lease is over was lost with its worker: the vendor may
    have been paid for it, nobody knows how much, and no verdict rests on it.
    """

    bundle = models.ForeignKey(Bundle, on_delete=models.PROTECT, related_name="calls")
    judge = models.CharField(max_length=10)
    seat = models.CharField(max_length=12)
    round = models.PositiveSmallIntegerField()
    vendor = models.CharField(max_length=60)
    wire = models.CharField(max_length=12)  # the format in which its server speaks
    model = models.CharField(max_length=120)  # as asked for
    template_version = models.CharField(max_length=20)
    template_digest = models.CharField(max_length=64)
    rubric_version = models.CharField(max_length=20)
    rubric_digest = models.CharField(max_length=64)
    # JSON: the prompt as rendered with what an answer is held against, and the evidence in it.
    prompt = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    evidence = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    reserved_usd = models.DecimalField(max_digits=24, decimal_places=14, null=True)  # at most
    lease_expires_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["bundle", "pk"]
        indexes = [models.Index(fields=["created_at"], name="calls_by_day")]

    def __str__(self) -> str:
        return f"{self.judge}, {self.seat}, call {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("judging:call_detail", args=[self.bundle.match.slug, self.pk])

    @property
    def is_lost(self) -> bool:
        """Whether its worker is gone, and what it was answered with it."""
        return self.result_or_none is None and self.lease_expires_at <= timezone.now()

    @property
    def result_or_none(self) -> CallResult | None:
        return getattr(self, "result", None)


class CallResult(models.Model):
    """What a call came to, and what it cost. Never changed."""

    call = models.OneToOneField(ModelCall, on_delete=models.PROTECT, related_name="result")
    outcome = models.CharField(max_length=12)  # answered, refused, timeout, unavailable, invalid
    reason = models.TextField(blank=True)
    model = models.CharField(max_length=120, blank=True)  # as the vendor says that answered
    base_url = models.CharField(max_length=300, blank=True)
    parameters = models.JSONField()  # what the requests said beside the prompt
    written_by = models.CharField(max_length=120, blank=True)  # libraries, with their versions
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    # Null is unknown, never nothing; `least_usd` is what is known to have been spent.
    cost_usd = models.DecimalField(max_digits=24, decimal_places=14, null=True)
    least_usd = models.DecimalField(max_digits=24, decimal_places=14)
    cost_reason = models.CharField(max_length=300, blank=True)  # why it is unknown
    latency_ms = models.PositiveIntegerField()  # of all attempts, waiting included
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["call"]

    def __str__(self) -> str:
        return f"{self.call}: {self.outcome}"


class CallAttempt(models.Model):
    """One request of a call, and the vendor's response to the byte. Never changed."""

    result = models.ForeignKey(CallResult, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField()  # from 1
    status = models.PositiveSmallIntegerField(null=True)  # of HTTP; null where nothing came
    response = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    is_whole = models.BooleanField()  # whether the response came to its end
    latency_ms = models.PositiveIntegerField()
    waited_ms = models.PositiveIntegerField()  # before it
    failure = models.CharField(max_length=40, blank=True)
    detail = models.TextField(blank=True)
    remark = models.TextField(blank=True)  # what the prompt said of the attempt before
    request_digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["result", "number"]
        constraints = [
            models.UniqueConstraint(fields=["result", "number"], name="one_attempt_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.result}, attempt {self.number}"


class Verdict(models.Model):
    """One stored answer of a judge, a seat of the panel, or a ruling. Only ever added.

    ``seat`` tells the answers of one judge apart: a vendor for the panel, ``reader`` for what a
    model said for Process, Recovery or Integrity, ``ruling`` for a reviewer's Strategy score,
    empty for what the judge itself made of it all.
    """

    class Source(models.TextChoices):
        OWN = "own", "own judge"
        UPLOADED = "uploaded", "uploaded"
        RULING = "ruling", "ruling"
        MODEL = "model", "proposed by a model"  # of findings

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
    # Of the judge's own code, for what it made itself; null where that was not yet kept.
    judge_version = models.PositiveSmallIntegerField(null=True)
    answered_at = models.DateTimeField(null=True)  # as the uploader says
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    call = models.ForeignKey(
        ModelCall, null=True, on_delete=models.PROTECT, related_name="verdicts"
    )
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
    # Keys of the verdicts and findings that it was made of, so that it can be made again.
    rests_on = models.JSONField(default=dict)
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
        indexes = [
            # What a challenge's figures are made of.
            models.Index(
                fields=["challenge_version", "-created_at", "-id"],
                condition=Q(is_live=True, value__isnull=False),
                name="newest_scorecards",
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


class StandingQuerySet(models.QuerySet):
    def of_board(
        self, version: ChallengeVersion | OuterRef | None, family: str = "", window: int = 0
    ) -> StandingQuerySet:
        """Narrow to the rows of one board; see `Standing`."""
        return self.filter(challenge_version=version, family=family, window=window)

    def default(self) -> StandingQuerySet:
        """Narrow to the boards over all families and all time."""
        return self.filter(family="", window=0)


class Standing(models.Model):
    """A row of a board. Always equal to what a recount from the scorecards gives.

    With a challenge version: the agent's mean over its ranked matches there. Without one:
    the mean over challenges. Those rows are written as scorecards are recorded. A narrower
    board, of one family of challenges or of the last days, has rows of its own; they follow
    in the sweep (`judging.narrow`).
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="standings")
    challenge = models.ForeignKey(Challenge, null=True, on_delete=models.CASCADE)
    challenge_version = models.ForeignKey(ChallengeVersion, null=True, on_delete=models.CASCADE)
    family = models.CharField(max_length=120, blank=True)  # one only, on a board over challenges
    window = models.PositiveSmallIntegerField(default=0)  # the last so many days; 0 is all time
    made_on = models.DateField(null=True)  # the day in UTC from which a window was counted back
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
    # By judge the lowest and the highest of the ranked matches, as text: {"process": ["60.00", ...]}.
    spread = models.JSONField(default=dict)
    # Applied findings of the ranked matches, by trigger: {"reward_hacking": 2}.
    triggers = models.JSONField(default=dict)
    # Overall only, and from some challenges on; see `judging.scoring.bootstrap`.
    interval_low = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    interval_high = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    band = models.PositiveIntegerField(null=True)
    awaits_band = models.BooleanField(default=False)  # its figures changed since bands were settled
    # Of default rows: they changed since the agent's rows on narrower boards were written.
    awaits_narrow = models.BooleanField(default=True)
    status = models.CharField(max_length=12)  # of the row: provisional where one match is
    marks = ArrayField(models.CharField(max_length=20), default=list)
    updated_at = models.DateTimeField(auto_now=True)

    objects = StandingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "challenge_version", "family", "window"],
                name="one_standing_per_board",
                nulls_distinct=False,
            ),
        ]
        indexes = [
            models.Index(
                "challenge_version",
                "family",
                "window",
                models.F("rounded").desc(nulls_last=True),
                models.F("value").desc(nulls_last=True),
                "id",
                name="standings_in_order",
            ),
            models.Index(
                fields=["agent"], condition=Q(awaits_band=True), name="standings_without_band"
            ),
            models.Index(
                fields=["agent"],
                condition=Q(awaits_narrow=True, family="", window=0),
                name="standings_without_narrow",
            ),
            models.Index(
                fields=["made_on"], condition=Q(made_on__isnull=False), name="standings_by_day"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent}: {self.value}"


class SubtotalQuerySet(models.QuerySet):
    def wholes(self) -> SubtotalQuerySet:
        """Narrow to those of all cards of an agent on a version."""
        return self.filter(starts_at=None)


class Subtotal(models.Model):
    """What the live scorecards of some matches of an agent on a challenge version add up to.

    Of the matches in a run of keys: from ``starts_at`` up to where the next one starts. The row
    that starts nowhere is of them all, and names none. See `judging.subtotals`.
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, db_index=False)
    challenge_version = models.ForeignKey(
        ChallengeVersion, on_delete=models.CASCADE, db_index=False
    )
    starts_at = models.BigIntegerField(null=True)
    matches = ArrayField(models.BigIntegerField())
    sums = models.JSONField()  # see `judging.sums.Sums.kept`

    objects = SubtotalQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "challenge_version", "starts_at"],
                name="one_subtotal_per_run",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent} from {self.starts_at}"


class Fingerprint(models.Model):
    """What the code that a bundle adds is recognised by (`judging.judges.detectors.winnowing`).

    What is compared in full; `FingerprintHash` says with whom that is worth it.
    """

    bundle = models.OneToOneField(
        Bundle, on_delete=models.CASCADE, primary_key=True, related_name="fingerprint"
    )
    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE)
    version = models.PositiveSmallIntegerField()  # of how they were made: only equals compare
    hashes = ArrayField(models.BigIntegerField())

    def __str__(self) -> str:
        return f"{self.bundle}, {len(self.hashes)} fingerprints"


class FingerprintHash(models.Model):
    """One hash of a fingerprint, to be looked up: who else on the challenge has it."""

    pk = models.CompositePrimaryKey("challenge", "version", "hash", "fingerprint")
    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, db_index=False)
    version = models.PositiveSmallIntegerField()
    hash = models.BigIntegerField()
    fingerprint = models.ForeignKey(Fingerprint, on_delete=models.CASCADE)

    def __str__(self) -> str:
        return f"{self.hash} of {self.fingerprint_id}"


class PublishedFigures(models.Model):
    """The figures of a challenge's version as all may see them; see `judging.challenge_figures`."""

    version = models.OneToOneField(ChallengeVersion, on_delete=models.CASCADE)
    rows = models.JSONField()  # the matches that they were made of
    figures = models.JSONField()
    published_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"Figures of {self.version}"


class RejudgingQuerySet(models.QuerySet):
    def unsettled(self) -> RejudgingQuerySet:
        """Narrow to those that are neither applied nor dropped."""
        return self.filter(state__in=[Rejudging.State.OPEN, Rejudging.State.APPLYING])

    def to_apply(self) -> RejudgingQuerySet:
        """Narrow to those that were asked to be applied and that no worker has."""
        free = Q(lease_expires_at=None) | Q(lease_expires_at__lt=timezone.now())
        return self.filter(free, state=Rejudging.State.APPLYING)


class Rejudging(models.Model):
    """A set of matches that are judged anew by today's code, to look at before it counts.

    Nothing of it counts, and nobody but ops sees any of it, until it is applied. Kept for good,
    dropped ones too.
    """

    class State(models.TextChoices):
        OPEN = "open", "open"  # its preview is being made, or stands
        APPLYING = "applying", "being applied"
        APPLIED = "applied", "applied"
        DROPPED = "dropped", "dropped"

    choice = models.JSONField()  # what was chosen; see `judging.rejudging.choice`
    judges = ArrayField(models.CharField(max_length=10))
    # Under the newest version of each challenge, or the one that each match was judged under.
    to_newest = models.BooleanField()
    reason = models.TextField()  # public: it stands on every match whose scorecard it changes
    policy = models.CharField(max_length=20)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=8, choices=State, default=State.OPEN)
    # Ranks before and after by board, once all matches are through; see `judging.rejudging.ranks`.
    ranks = models.JSONField(null=True)
    ranked_at = models.DateTimeField(null=True)
    settled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    asked_at = models.DateTimeField(null=True)  # when it was asked to be applied
    settled_at = models.DateTimeField(null=True)  # applied or dropped
    attempts = models.PositiveSmallIntegerField(default=0)  # to apply it
    lease_expires_at = models.DateTimeField(null=True)  # of the worker that applies it
    trouble = models.TextField(blank=True)  # why applying it failed last

    objects = RejudgingQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["open", "applying"]) ^ Q(settled_at__isnull=False),
                name="settled_rejudgings_say_when",
            ),
        ]

    def __str__(self) -> str:
        return f"Rejudging {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("judging:rejudging_detail", args=[self.pk])

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN

    @property
    def is_previewing(self) -> bool:
        """Whether a worker is still to look at some of its matches."""
        return self.is_open and self.ranked_at is None

    @property
    def is_settled(self) -> bool:
        return self.state in {self.State.APPLIED, self.State.DROPPED}


class RejudgedMatchQuerySet(models.QuerySet):
    def under_way(self) -> RejudgedMatchQuerySet:
        """Narrow to those whose preview is still to be made."""
        return self.filter(state__in=RejudgedMatch.UNDER_WAY)

    def changed_since(self) -> RejudgedMatchQuerySet:
        """Narrow to those whose match has another upload or scorecard than was previewed."""
        as_it_was = Bundle.objects.filter(
            pk=OuterRef("bundle"), is_live=True, challenge_version=OuterRef("version_before")
        )
        same_card = Scorecard.objects.filter(pk=OuterRef("before"), is_live=True)
        return self.filter(
            ~Q(models.Exists(as_it_was)) | ~Q(models.Exists(same_card)),
            state=RejudgedMatch.State.DONE,
        )


class RejudgedMatch(models.Model):
    """One match of a rejudging: the step of its preview, and what that came to.

    What would be written is kept as a ``candidate`` beside the verdicts, not among them: no
    page, export or count of verdicts can come across it by mistake.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        LEFT_OUT = "left out", "left out"  # the reason says why

    UNDER_WAY = (State.WAITING, State.RUNNING)  # its preview is still to be made

    class Outcome(models.TextChoices):
        UNCHANGED = "unchanged", "unchanged"
        CHANGED = "changed", "same total, other parts"
        UP = "up", "up"
        DOWN = "down", "down"
        GAINED = "gained", "gains a total"
        LOST = "lost", "loses its total"

    rejudging = models.ForeignKey(Rejudging, on_delete=models.CASCADE, related_name="matches")
    match = models.ForeignKey(Match, on_delete=models.PROTECT, related_name="rejudged")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    # What the preview was made of.
    bundle = models.ForeignKey(Bundle, null=True, on_delete=models.PROTECT, related_name="+")
    before = models.ForeignKey(Scorecard, null=True, on_delete=models.PROTECT, related_name="+")
    version_before = models.ForeignKey(
        ChallengeVersion, null=True, on_delete=models.PROTECT, related_name="+"
    )
    basis = models.CharField(max_length=64, blank=True)  # digest of all that counted then
    # What it came to.
    outcome = models.CharField(max_length=9, choices=Outcome, blank=True)
    # By how many points the value moves that ranks are made of; null with a total on one side only.
    moved = models.DecimalField(max_digits=7, decimal_places=2, null=True, default=0)
    is_flagged = models.BooleanField(default=False)  # it would be, and is not
    has_other_status = models.BooleanField(default=False)
    cases_opened = models.PositiveSmallIntegerField(default=0)
    cases_closed = models.PositiveSmallIntegerField(default=0)
    rulings_carried = models.PositiveSmallIntegerField(default=0)  # decisions on findings too
    rulings_fallen = models.PositiveSmallIntegerField(default=0)
    candidate = models.JSONField(null=True)
    applied = models.OneToOneField(
        Scorecard, null=True, on_delete=models.PROTECT, related_name="rejudged"
    )

    objects = RejudgedMatchQuerySet.as_manager()

    class Meta:
        ordering = ["rejudging", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["rejudging", "match"], name="one_match_per_rejudging"),
        ]
        indexes = [
            models.Index(
                fields=["rejudging", "id"],
                condition=Q(state__in=["waiting", "running"]),
                name="rejudged_under_way",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.match} in {self.rejudging}"
