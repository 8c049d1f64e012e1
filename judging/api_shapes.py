"""The shape of a breakdown in the API's schema. What it holds is made by `judging.breakdown` and
cut to its reader by `judging.disclosed`; nothing here runs but for the schema.

A field that is not required is left out for whom it is withheld. More fields may be there.
"""

from __future__ import annotations

from typing import Any, TypeVar

from rest_framework import serializers

from judging.models import Finding, Scorecard

FieldT = TypeVar("FieldT", bound=serializers.Field)


class Score(serializers.DecimalField):
    """A score at two places, as a string; null where there is none."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_digits=7, decimal_places=2, allow_null=True, **options)


def maybe(field: type[FieldT], **options: Any) -> FieldT:
    """A field that some readers get and others do not."""
    return field(required=False, **options)


def texts() -> serializers.ListField:
    return maybe(serializers.ListField, child=serializers.CharField())


class Anchor(serializers.Serializer):
    """A place in an artifact: ``test:SUITE/ID``, ``event:SEQ``, ``line:N``, ``diff:PATH:LINE``...

    Both are null where the place is withheld.
    """

    artifact = serializers.CharField(allow_null=True)
    place = serializers.CharField(allow_null=True)
    excerpt = maybe(serializers.CharField)


class LedgerRow(serializers.Serializer):
    """A row of the ledger: a judge, a finding, a cap or the limit. The points sum to the total."""

    row = serializers.CharField()
    points = serializers.DecimalField(7, 2)
    why = maybe(serializers.CharField)
    raw = maybe(Score)
    counted = maybe(Score)
    weight = maybe(serializers.FloatField)
    anchored = maybe(serializers.BooleanField)
    provisional = maybe(serializers.BooleanField)
    finding = maybe(serializers.CharField)


class JudgeCard(serializers.Serializer):
    """What a judge gave. ``reason`` says why there is no score."""

    raw = Score()
    counted = Score()
    weight = serializers.FloatField()
    effective_weight = serializers.FloatField()
    points = serializers.DecimalField(7, 2)
    anchored = serializers.BooleanField()
    reason = serializers.CharField(allow_null=True)
    reason_text = maybe(serializers.CharField, allow_null=True)
    source = maybe(serializers.CharField, allow_null=True)
    why = maybe(serializers.CharField)
    rationale = maybe(serializers.CharField)


class ObjectiveCard(JudgeCard):
    """Objective: ``evidence`` has every test with its outcomes by run, the build and the logs."""

    gate = maybe(serializers.CharField)
    base = maybe(Score)
    bonus = maybe(Score)
    static_rate = maybe(serializers.CharField, allow_null=True)
    hidden_rate = maybe(serializers.CharField, allow_null=True)
    run_scores = texts()
    reproducible = maybe(serializers.BooleanField, allow_null=True)
    evidence = maybe(serializers.DictField)


class Metric(serializers.Serializer):
    """A figure of the telemetry, beside the range that is good. ``reason`` says why it is null."""

    value = serializers.FloatField(allow_null=True)
    score = Score()
    good = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_null=True)
    how = serializers.CharField()
    episodes = serializers.ListField(child=serializers.DictField())


class Criterion(serializers.Serializer):
    """A criterion of a rubric: a level from 1 to 5, the score that it is worth, and why."""

    level = serializers.IntegerField(allow_null=True)
    score = Score()
    reason = serializers.CharField(allow_null=True)
    rationale = serializers.CharField(allow_blank=True)
    evidence = serializers.ListField(child=Anchor())


class Remark(serializers.Serializer):
    """What a scan of a rationale found: a leak, or a fact that the record contradicts."""

    kind = serializers.CharField()
    where = serializers.CharField()
    quote = serializers.CharField(allow_blank=True)
    record = serializers.CharField(allow_blank=True)


class ModelHalf(serializers.Serializer):
    """What a model said for a judge, or why it said nothing."""

    state = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)
    model = serializers.CharField(allow_blank=True)
    rationale = serializers.CharField(allow_blank=True)
    evidence = serializers.ListField(child=Anchor())
    remarks = serializers.ListField(child=Remark())


class TelemetryCard(JudgeCard):
    """Process and Recovery: half metrics, half a model's levels."""

    metrics_half = maybe(Score)
    model_half = maybe(Score)
    metrics = maybe(serializers.DictField, child=Metric())
    criteria = maybe(serializers.DictField, child=Criterion())
    model = maybe(ModelHalf, allow_null=True)
    evidence = maybe(serializers.ListField, child=Anchor())


class Seat(serializers.Serializer):
    """A vote of the panel, or why there is none. While its case is open seats are letters."""

    seat = serializers.CharField()
    state = serializers.CharField()
    score = maybe(Score)
    reason = maybe(serializers.CharField, allow_blank=True)
    rationale = maybe(serializers.CharField, allow_blank=True)
    evidence = maybe(serializers.ListField, child=Anchor())
    model = maybe(serializers.CharField, allow_blank=True)
    levels = maybe(serializers.DictField, allow_null=True)
    source = maybe(serializers.CharField)
    criteria = maybe(serializers.DictField)
    remarks = maybe(serializers.ListField, child=Remark())


class StrategyCard(JudgeCard):
    """Strategy: the votes, the branch of the rule that they fell under, and the ruling."""

    branch = maybe(serializers.CharField)
    votes = maybe(serializers.IntegerField)
    configured = maybe(serializers.IntegerField)
    panel_score = maybe(Score)
    seats = maybe(serializers.ListField, child=Seat())
    ruling = maybe(serializers.DictField, allow_null=True)


class Judges(serializers.Serializer):
    objective = ObjectiveCard()
    process = TelemetryCard()
    strategy = StrategyCard()
    recovery = TelemetryCard()


class FindingRow(serializers.Serializer):
    """What Integrity found: ``points`` count, ``price`` is what the rule asks for it."""

    trigger = serializers.CharField()
    points = serializers.IntegerField()
    severity = serializers.CharField()
    status = serializers.ChoiceField(Finding.Status.choices)
    price = maybe(serializers.IntegerField)
    note = maybe(serializers.CharField, allow_blank=True)
    reason = maybe(serializers.CharField, allow_blank=True)
    evidence = maybe(serializers.ListField, child=Anchor())


class Integrity(serializers.Serializer):
    """Raw sums, sums after caps and voiding, and every finding."""

    adjustment = serializers.IntegerField()
    findings = FindingRow(many=True)
    bonus_raw = maybe(serializers.IntegerField)
    penalty_raw = maybe(serializers.IntegerField)
    bonus_counted = maybe(serializers.IntegerField)
    penalty_counted = maybe(serializers.IntegerField)
    voided = maybe(serializers.BooleanField)
    held = maybe(serializers.BooleanField)
    flags = texts()
    not_found = texts()
    searched = maybe(serializers.ListField, child=serializers.DictField())
    claims = maybe(serializers.ListField, child=serializers.DictField())
    model = maybe(ModelHalf, allow_null=True)


class CaseRow(serializers.Serializer):
    """A question that was put to people."""

    reason = serializers.CharField()
    blocking = serializers.BooleanField()
    status = serializers.ChoiceField(["open", "decided"])


class Wait(serializers.Serializer):
    """A model that is still to be asked, and why it waits."""

    judge = serializers.CharField()
    why = serializers.CharField(allow_blank=True)


class ArtifactRow(serializers.Serializer):
    """A file of the bundle and how it was read."""

    path = serializers.CharField()
    kind = serializers.CharField()
    format = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(["read", "unreadable", "stored"])
    clock = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    notes = serializers.ListField(child=serializers.DictField())


class Range(serializers.Serializer):
    """How far open questions can move the total."""

    low = serializers.DecimalField(7, 2)
    high = serializers.DecimalField(7, 2)


class Breakdown(serializers.Serializer):
    """A match's scorecard with everything that explains it.

    What its reader may not see is left out and listed under ``withheld``. To whoever is still
    to score the match blind that is everything.
    """

    match = maybe(serializers.CharField)
    revision = maybe(serializers.IntegerField, allow_null=True)
    policy = maybe(serializers.CharField)
    challenge_version = maybe(serializers.IntegerField, allow_null=True)
    status = maybe(serializers.ChoiceField, choices=Scorecard.Status.choices)
    marks = texts()
    total = maybe(Score)
    reason = maybe(serializers.CharField, allow_null=True)
    base = maybe(Score)
    adjustment = maybe(serializers.IntegerField)
    band = maybe(serializers.CharField, allow_null=True)
    range = maybe(Range, allow_null=True)
    ledger = maybe(serializers.ListField, child=LedgerRow())
    judges = maybe(Judges)
    integrity = maybe(Integrity)
    cases = maybe(serializers.ListField, child=CaseRow())
    waits = maybe(serializers.ListField, child=Wait())
    artifacts = maybe(serializers.ListField, child=ArtifactRow())
    withheld = texts()
    superseded = maybe(serializers.BooleanField)
