"""Filters of the lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from bouts.hidden_words import tells
from bouts.models import Agent, Challenge, Match, Team
from bouts.rules import Judge
from judging.models import Scorecard
from judging.rejudging.choice import Choice

JUDGING = "judging"  # a match that has no scorecard yet


def _offer_challenges_and_teams(form: forms.Form) -> None:
    """Let a form's fields of these names choose among all that there are, or leave it open."""
    challenges = Challenge.objects.filter(versions__is_live=True)
    form.fields["challenge"].choices = [
        ("", "Every challenge"),
        *challenges.values_list("slug", "versions__title"),
    ]
    form.fields["team"].choices = [
        ("", "Every team"),
        *Team.objects.values_list("slug", "name"),
    ]


class MatchFilter(forms.Form):
    """What a list of matches is narrowed by. Each field is a part of its address."""

    q = forms.CharField(
        label="Search",
        max_length=120,
        required=False,
        widget=forms.TextInput({"type": "search", "placeholder": "match, agent or team"}),
    )
    challenge = forms.ChoiceField(required=False)
    team = forms.ChoiceField(required=False)
    agent = forms.CharField(max_length=120, required=False)
    model = forms.ChoiceField(label="Base model", required=False)
    bout = forms.CharField(
        max_length=120,
        required=False,
        widget=forms.TextInput({"placeholder": "its whole name", "autocomplete": "off"}),
    )
    status = forms.ChoiceField(
        required=False,
        choices=[
            ("", "Any status"),
            (JUDGING, "judging"),
            *Scorecard.Status.choices,
            *((value, label) for value, label in Match.Exclusion.choices if value),
        ],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, label_suffix="")
        _offer_challenges_and_teams(self)
        models = Agent.objects.order_by("base_model").values_list("base_model", flat=True)
        self.fields["model"].choices = [
            ("", "Every base model"),
            *((name, name) for name in models.distinct()),
        ]


class ExclusionForm(forms.Form):
    """Whether a match counts, and why. Everybody reads the reason."""

    exclusion = forms.ChoiceField(
        label="On the leaderboards",
        required=False,
        choices=[
            (Match.Exclusion.NONE, "It counts"),
            (Match.Exclusion.WITHDRAWN, "Withdrawn: its team asked for it"),
            (Match.Exclusion.EXCLUDED, "Excluded: the competition decided so"),
        ],
        widget=forms.RadioSelect,
    )
    reason = forms.CharField(
        label="Public reason",
        help_text="It stands on the match, and everybody can read it.",
        max_length=500,
        widget=forms.Textarea({"rows": 3}),
    )

    def __init__(self, *args: Any, hidden_words: Iterable[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._hidden_words = hidden_words

    def clean_reason(self) -> str:
        reason = self.cleaned_data["reason"]
        if tells(reason, self._hidden_words):
            raise forms.ValidationError(
                "This names or quotes a hidden test, and everybody can read it. Use other words."
            )
        return reason


class ChallengeStateForm(forms.Form):
    """The state of a challenge, and why."""

    state = forms.ChoiceField(
        choices=[
            (Challenge.State.ACTIVE, "Active: matches are uploaded and judged"),
            (Challenge.State.RETIRED, "Retired: if its file says so, hidden tests are shown to the teams"),
            (Challenge.State.FROZEN, "Frozen: uploads, rulings and rejudging are refused"),
        ],
        widget=forms.RadioSelect,
    )  # fmt: skip
    reason = forms.CharField(
        help_text="It stands in the log, for staff.",
        max_length=500,
        widget=forms.Textarea({"rows": 3}),
    )


class JudgeAgainForm(forms.Form):
    """Why a match is judged anew."""

    reason = forms.CharField(
        help_text="It stands in the log, for staff.",
        max_length=500,
        widget=forms.Textarea({"rows": 3}),
    )


class RejudgingForm(forms.Form):
    """Which matches are rejudged, by which judges, and why."""

    challenge = forms.ChoiceField(required=False)
    team = forms.ChoiceField(required=False)
    agent = forms.CharField(
        max_length=200, required=False, help_text="Its name; with its version to mean that alone."
    )
    match = forms.CharField(max_length=120, required=False, help_text="The id of one match.")
    since = forms.DateField(
        label="Begun on or after",
        required=False,
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )
    until = forms.DateField(
        label="Begun on or before",
        required=False,
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )
    older = forms.TypedChoiceField(
        label="Judged by",
        required=False,
        choices=[
            ("", "Any version"),
            ("1", "An older judge, reader, policy or challenge version than today's"),
        ],
        coerce=bool,
        empty_value=False,
    )
    judges = forms.MultipleChoiceField(
        help_text="No model is asked: what models answered before is taken as it stands.",
        choices=[
            (Judge.OBJECTIVE, "Objective"),
            (Judge.PROCESS, "Process: the metrics, with what a model answered"),
            (Judge.RECOVERY, "Recovery: the metrics, with what a model answered"),
            (Judge.INTEGRITY, "Integrity: the detectors, with what a model proposed"),
            (Judge.STRATEGY, "Strategy: the panel's rule, on the votes that there are"),
        ],
        initial=[Judge.OBJECTIVE, Judge.PROCESS, Judge.RECOVERY, Judge.INTEGRITY],
        widget=forms.CheckboxSelectMultiple,
    )
    to_newest = forms.TypedChoiceField(
        label="Under",
        choices=[
            ("1", "The newest version of each challenge"),
            ("", "The version that each match was judged under"),
        ],
        coerce=bool,
        empty_value=False,
        required=False,
        initial="1",
        widget=forms.RadioSelect,
    )
    reason = forms.CharField(
        label="Public reason",
        help_text="Once it is applied it stands on every match whose scorecard changes.",
        max_length=500,
        widget=forms.Textarea({"rows": 3}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, label_suffix="")
        _offer_challenges_and_teams(self)

    @property
    def choosing(self) -> list[forms.BoundField]:
        """The fields that say which matches."""
        return [self[name] for name in Choice.__dataclass_fields__]

    @property
    def choice(self) -> Choice:
        values = {name: self.cleaned_data[name] for name in Choice.__dataclass_fields__}
        for name in ("since", "until"):
            values[name] = values[name].isoformat() if values[name] else ""
        return Choice(**values)
