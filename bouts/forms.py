"""What people type about people."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth import password_validation
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from bouts import zones
from bouts.models import Team, User
from bouts.models.people import check_username


class DaysField(forms.TypedChoiceField):
    """A choice of whole days, cleaned to a timedelta."""

    def __init__(self, *days: int, **kwargs: Any) -> None:
        choices = [(str(count), f"{count} day{'s' * (count != 1)}") for count in days]
        super().__init__(choices=choices, coerce=lambda day: timedelta(days=int(day)), **kwargs)


class SignInForm(forms.Form):
    name = forms.CharField(
        label="Name or email",
        max_length=254,
        widget=forms.TextInput(
            {"autocomplete": "username", "autofocus": True, "spellcheck": "false"}
        ),
    )
    password = forms.CharField(
        strip=False,
        max_length=1000,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )


class NewPasswordForm(forms.Form):
    """A password that is good enough for this person, typed twice."""

    new_password = forms.CharField(
        strip=False,
        max_length=1000,
        help_text="At least ten characters, and not one that everybody uses.",
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        label="The same again",
        strip=False,
        max_length=1000,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )

    def __init__(self, person: User, *args: Any, **kwargs: Any) -> None:
        self.person = person
        super().__init__(*args, **kwargs)

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        password, again = data.get("new_password"), data.get("again")
        if password and again and password != again:
            self.add_error("again", "The two differ.")
        if password:
            try:
                password_validation.validate_password(password, self.person)
            except ValidationError as error:
                self.add_error("new_password", error)
        return data


class ChangePasswordForm(NewPasswordForm):
    password = forms.CharField(
        label="Password now",
        strip=False,
        max_length=1000,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )
    field_order = ["password", "new_password", "again"]


class AcceptForm(NewPasswordForm):
    username = forms.CharField(
        label="Sign-in name",
        max_length=60,
        validators=[check_username],
        help_text="One word, such as your first name.",
        widget=forms.TextInput({"autocomplete": "username", "spellcheck": "false"}),
    )
    name = forms.CharField(
        label="Your name",
        max_length=150,
        help_text="As others see it.",
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    field_order = ["username", "name", "new_password", "again"]

    def clean_username(self) -> str:
        username = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=username).exists():
            raise ValidationError("Somebody has this name already.")
        return username

    def clean(self) -> dict[str, Any]:
        # The password must not resemble what is only now being typed beside it.
        self.person.username = self.cleaned_data.get("username", "")
        self.person.first_name = self.cleaned_data.get("name", "")
        return super().clean()


class InvitationForm(forms.Form):
    email = forms.EmailField(
        widget=forms.EmailInput({"autocomplete": "off", "spellcheck": "false"})
    )
    role = forms.ChoiceField()
    team = forms.ModelChoiceField(
        Team.objects.all(),
        to_field_name="slug",
        required=False,
        empty_label="No team",
        help_text="A competitor needs one.",
    )
    lifetime = DaysField(1, 7, 30, label="Link works for", initial="7")

    def __init__(self, by: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = [(role.value, role.label) for role in by.grantable_roles]

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if data.get("role") == User.Role.COMPETITOR and not data.get("team"):
            self.add_error("team", "A competitor needs a team.")
        return data


class RoleForm(forms.Form):
    role = forms.ChoiceField(label="New role")
    reason = forms.CharField(max_length=500, required=False)

    def __init__(self, by: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = [(role.value, role.label) for role in by.grantable_roles]


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=500, required=False)


class TokenForm(forms.Form):
    name = forms.CharField(max_length=80, help_text="What uses it, such as “nightly upload”.")
    scopes = forms.MultipleChoiceField(
        label="It may", widget=forms.CheckboxSelectMultiple, initial=["read"]
    )
    lifetime = DaysField(7, 30, 90, 365, label="Works for", initial="90")

    def __init__(self, owner: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["scopes"].choices = [(scope.value, scope.label) for scope in owner.token_scopes]


class TeamForm(forms.Form):
    name = forms.CharField(max_length=120)
    slug = forms.SlugField(
        max_length=60,
        required=False,
        help_text="Bundles name the team by it. It never changes. Left empty, made from the name.",
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        data["slug"] = data.get("slug") or slugify(data.get("name", ""))[:60]
        if not data["slug"] and "name" in data:
            self.add_error("slug", "The name gives none. Use letters, digits and hyphens.")
        return data


class MembershipForm(forms.Form):
    team = forms.ModelChoiceField(Team.objects.all(), to_field_name="slug", empty_label="Choose")
    person = forms.CharField(label="Name or email", max_length=254)

    def clean_person(self) -> User:
        person = User.objects.by_login(self.cleaned_data["person"])
        if person is None:
            raise ValidationError("Nobody here has this name or address. Invite them first.")
        return person


class PersonFilter(forms.Form):
    q = forms.CharField(
        label="Name or email",
        max_length=100,
        required=False,
        widget=forms.TextInput({"type": "search"}),
    )
    role = forms.ChoiceField(choices=[("", "Every role"), *User.Role.choices], required=False)
    status = forms.ChoiceField(
        choices=[("", "Active"), ("inactive", "Inactive"), ("all", "All")], required=False
    )


class AuditFilter(forms.Form):
    subject = forms.CharField(label="Subject starts with", max_length=200, required=False)
    action = forms.CharField(label="Action starts with", max_length=60, required=False)
    person = forms.CharField(label="Who", max_length=60, required=False)
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


class TimeZoneForm(forms.Form):
    """In which zone a person reads times."""

    time_zone = forms.ChoiceField(
        label="Time zone",
        required=False,
        choices=lambda: [("", "As the browser says"), *((name, name) for name in zones.names())],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, label_suffix="")
