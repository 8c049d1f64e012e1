"""What ops type about endpoints."""

from __future__ import annotations

from typing import Any

from django import forms

from news.models import Endpoint
from news.sending import BadAddress, addresses_of, check_url


class EndpointForm(forms.ModelForm):
    """An address, and what it hears of."""

    events = forms.MultipleChoiceField(
        label="It hears of",
        choices=Endpoint.Event.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[event.value for event in Endpoint.Event],
    )
    url = forms.CharField(
        label="Address",
        max_length=500,
        help_text="It is sent to as it stands; redirects are not followed.",
        widget=forms.TextInput({"inputmode": "url", "spellcheck": "false", "autocomplete": "off"}),
    )

    class Meta:
        model = Endpoint
        fields = ("name", "url", "events")
        help_texts = {"name": "Who listens there."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            parts = check_url(url)
            addresses_of(parts.hostname or "", parts.port or 443)
        except BadAddress as error:
            raise forms.ValidationError(str(error)) from error
        return url
