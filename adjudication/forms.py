"""What reviewers choose and type."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict

from adjudication.actions import Decision
from adjudication.models import BlindScore, Case, Ruling
from adjudication.queue import UNSETTLED
from bouts.models import Challenge, Team, User
from bouts.rules import Stakes
from judging.rubrics import Criterion, Rubric

LONGEST_REASON = 5_000
ADOPT = "adopt:"
ASK_AGAIN = "ask_again"

# The box that a piece of evidence is quoted into: see static/js/keys.js.
REASON_BOX = forms.Textarea({"rows": 4, "data-reason": ""})


class LevelsForm(forms.Form):
    """An own score on Strategy: a level for each criterion, and why."""

    def __init__(self, rubric: Rubric, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        self.rubric = rubric
        for criterion in rubric.criteria:
            self.fields[criterion.name] = forms.TypedChoiceField(
                label=criterion.title,
                choices=[(level.number, level.number) for level in criterion.levels],
                coerce=int,
                widget=forms.RadioSelect,
                error_messages={"required": "Choose a level."},
            )
        self.fields["reason"] = reason_field()

    @property
    def rows(self) -> list[tuple[Criterion, forms.BoundField]]:
        return [(criterion, self[criterion.name]) for criterion in self.rubric.criteria]

    @property
    def levels(self) -> dict[str, int]:
        return {
            criterion.name: self.cleaned_data[criterion.name] for criterion in self.rubric.criteria
        }

    def as_commit(self) -> dict[str, Any]:
        return {"levels": self.levels, "reason": self.cleaned_data["reason"]}


class OpinionForm(forms.Form):
    """An own opinion on a finding, and why."""

    opinion = forms.ChoiceField(
        label="What do you make of it?",
        choices=[
            (BlindScore.Opinion.CONFIRM, "Confirm: the evidence shows it"),
            (BlindScore.Opinion.DISMISS, "Dismiss: the evidence does not show it"),
        ],
        widget=forms.RadioSelect,
        error_messages={"required": "Confirm or dismiss the finding."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        self.fields["reason"] = reason_field()

    def as_commit(self) -> dict[str, Any]:
        return {key: self.cleaned_data[key] for key in ("opinion", "reason")}


def reason_field() -> forms.CharField:
    return forms.CharField(
        label="Why, in a sentence or two",
        max_length=LONGEST_REASON,
        widget=REASON_BOX,
        error_messages={"required": "Say why, in a sentence or two."},
    )


class RulingForm(forms.Form):
    """A ruling. Which ones there are depends on the case; see `adjudication.choices`."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    ruling = forms.ChoiceField(
        widget=forms.RadioSelect, error_messages={"required": "Choose a ruling."}
    )
    score = forms.DecimalField(
        label="Score, if you set one",
        required=False,
        min_value=0,
        max_value=100,
        max_digits=5,
        decimal_places=2,
        widget=forms.TextInput({"inputmode": "decimal", "autocomplete": "off"}),
    )
    points = forms.IntegerField(
        label="Points, if you amend them",
        required=False,
        widget=forms.TextInput({"inputmode": "numeric", "autocomplete": "off"}),
    )
    public_reason = forms.CharField(
        label="Public reason",
        help_text="The competitor reads this.",
        max_length=LONGEST_REASON,
        widget=REASON_BOX,
        error_messages={"required": "Give a reason that the competitor can read."},
    )
    private_note = forms.CharField(
        label="Private note",
        help_text="For staff only.",
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.Textarea({"rows": 3}),
    )

    def __init__(self, rulings: Iterable[tuple[str, str]], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        names = dict(rulings)
        self.fields["ruling"].choices = names.items()
        if Ruling.Kind.AMEND not in names:
            del self.fields["points"]
        if Ruling.Kind.SET not in names:
            del self.fields["score"]

    def clean_points(self) -> int | None:
        points = self.cleaned_data["points"]
        # Whoever types 5 for a penalty means −5.
        return None if points is None else -abs(points)

    def as_decision(self) -> Decision:
        return decision_of(
            self.cleaned_data["ruling"],
            public_reason=self.cleaned_data["public_reason"],
            private_note=self.cleaned_data["private_note"],
            score=self.cleaned_data.get("score"),
            points=self.cleaned_data.get("points"),
        )


def decision_of(ruling: str, *, score: Any = None, **fields: Any) -> Decision:
    """Return the decision that the value of a choice stands for: ``average``, ``adopt:openai``."""
    kind, _, seat = ruling.partition(":")
    exact = None if score is None else Fraction(score)
    return Decision(kind=kind, seat=seat, score=exact, **fields)


class QueueFilter(forms.Form):
    """What of the queue to show. An odd value in an address filters nothing."""

    state = forms.ChoiceField(
        choices=[("", "All"), (UNSETTLED, "Unsettled"), *Case.State.choices], required=False
    )
    reason = forms.ChoiceField(choices=[("", "Every reason"), *Case.Reason.choices], required=False)
    challenge = forms.ModelChoiceField(
        Challenge.objects.all(),
        to_field_name="slug",
        empty_label="Every challenge",
        required=False,
    )
    stakes = forms.ChoiceField(
        choices=[("", "Any"), *((stakes.value, stakes.value.capitalize()) for stakes in Stakes)],
        required=False,
    )
    kind = forms.ChoiceField(
        choices=[("", "Any"), ("blocking", "Blocking"), ("advisory", "Advisory")], required=False
    )
    holder = forms.ChoiceField(label="Held by", required=False)
    overdue = forms.ChoiceField(
        choices=[("", "Any"), ("target", "Past target"), ("limit", "Over limit")], required=False
    )

    def __init__(self, *args: Any, holders: Iterable[User] = (), **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        self.fields["holder"].choices = [
            ("", "Anyone"),
            ("me", "Me"),
            ("nobody", "Nobody"),
            *((holder.username, str(holder)) for holder in holders),
        ]
        for field in self.fields.values():
            field.widget.attrs["autocomplete"] = "off"


class SavedViewForm(forms.Form):
    """A name for the filters that stand in an address; what they do not know is dropped."""

    name = forms.CharField(
        label="Save these filters as",
        max_length=40,
        error_messages={"required": "Give the view a name."},
    )
    query = forms.CharField(max_length=2_000, required=False, widget=forms.HiddenInput)

    def clean_query(self) -> str:
        given = QueryDict(self.cleaned_data["query"])
        kept = {name: given[name][:60] for name in QueueFilter.base_fields if given.get(name)}
        return urlencode(kept)


class DeclineForm(forms.Form):
    reason = forms.CharField(max_length=1_000, required=False)


class TakeOverForm(forms.Form):
    claim = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Why you take it over",
        max_length=1_000,
        error_messages={"required": "Say why; it goes into the log."},
    )


class EndWaitForm(forms.Form):
    reason = forms.CharField(max_length=1_000)


class ConflictForm(forms.Form):
    team = forms.ModelChoiceField(
        Team.objects.all(), to_field_name="slug", empty_label="Choose a team"
    )
    note = forms.CharField(
        label="What connects you",
        max_length=1_000,
        required=False,
        widget=forms.Textarea({"rows": 2}),
    )


class ReviewForm(forms.Form):
    """What a competitor asks: about what, why, and which evidence speaks against it."""

    STRATEGY = "strategy"
    LONGEST = LONGEST_REASON

    revision = forms.IntegerField(widget=forms.HiddenInput)
    about = forms.ChoiceField(
        label="What should be looked at again?",
        widget=forms.RadioSelect,
        error_messages={"required": "Choose what should be looked at again."},
    )
    text = forms.CharField(
        label="What speaks against it?",
        help_text="A reviewer reads this once they have scored without it.",
        max_length=LONGEST_REASON,
        widget=forms.Textarea({"rows": 6}),
        error_messages={"required": "Say what speaks against it."},
    )
    evidence = forms.MultipleChoiceField(
        label="Which evidence shows it?",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose the evidence that speaks against it."},
    )

    def __init__(
        self,
        questions: Iterable[tuple[str, str]],
        anchors: Iterable[tuple[str, str]],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        self.fields["about"].choices = list(questions)
        self.fields["evidence"].choices = list(anchors)

    @property
    def finding_key(self) -> str:
        """The key of the finding in question; empty where it is the Strategy score."""
        about: str = self.cleaned_data["about"]
        return "" if about == self.STRATEGY else about


class FiguresFilter(forms.Form):
    """What the leads' figures are of. An odd value in an address filters nothing."""

    challenge = forms.ModelChoiceField(
        Challenge.objects.all(),
        to_field_name="slug",
        empty_label="Every challenge",
        required=False,
    )
    since = forms.DateField(
        label="From", required=False, widget=forms.DateInput({"type": "date"}, "%Y-%m-%d")
    )
    until = forms.DateField(
        label="To", required=False, widget=forms.DateInput({"type": "date"}, "%Y-%m-%d")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
