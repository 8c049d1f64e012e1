"""Filters of the lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from bouts.hidden_words import tells
from bouts.models import Agent, Challenge, Match, Team
from judging.models import Scorecard

JUDGING = "judging"  # a match that has no scorecard yet


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
        challenges = Challenge.objects.filter(versions__is_live=True)
        self.fields["challenge"].choices = [
            ("", "Every challenge"),
            *challenges.values_list("slug", "versions__title"),
        ]
        self.fields["team"].choices = [
            ("", "Every team"),
            *Team.objects.values_list("slug", "name"),
        ]
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
