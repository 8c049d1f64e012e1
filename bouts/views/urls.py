"""The pages of this app."""

from __future__ import annotations

from django.urls import path, register_converter

from bouts.views import account, audit, invitations, people, schemas, sign_in, teams


class SignInName:
    """A person's sign-in name, with the characters that `User.username` allows."""

    regex = r"[\w.+-]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(SignInName, "name")

app_name = "bouts"
urlpatterns = [
    path("sign-in/", sign_in.sign_in, name="sign_in"),
    path("sign-out/", sign_in.sign_out, name="sign_out"),
    # one's own account
    path("account/", account.account, name="account"),
    path("account/password/", account.password_change, name="password_change"),
    path("account/time-zone/", account.time_zone_change, name="time_zone_change"),
    path("account/tokens/<int:token_id>/revoke/", account.token_revoke, name="token_revoke"),
    # links that open once
    path("welcome/<str:secret>/", invitations.invitation_accept, name="invitation_accept"),
    path("new-password/<str:secret>/", people.password_reset, name="password_reset"),
    # people and teams
    path("people/", people.person_list, name="person_list"),
    path("people/<name:username>/", people.person_detail, name="person_detail"),
    path("people/<name:username>/role/", people.person_role, name="person_role"),
    path("people/<name:username>/reset/", people.person_reset, name="person_reset"),
    path("people/<name:username>/close/", people.person_deactivate, name="person_deactivate"),
    path("people/<name:username>/reopen/", people.person_reactivate, name="person_reactivate"),
    path("invitations/", invitations.invitation_list, name="invitation_list"),
    path(
        "invitations/<int:invitation_id>/revoke/",
        invitations.invitation_revoke,
        name="invitation_revoke",
    ),
    path("teams/", teams.team_list, name="team_list"),
    path("teams/create/", teams.team_create, name="team_create"),
    path("teams/members/add/", teams.membership_add, name="membership_add"),
    path("teams/members/remove/", teams.membership_remove, name="membership_remove"),
    path("teams/<slug:slug>/", teams.team_detail, name="team_detail"),
    path("audit/", audit.audit_list, name="audit_list"),
    # what an upload must look like
    path("schemas/", schemas.schema_list, name="schema_list"),
    path("schemas/<slug:name>.json", schemas.schema_detail, name="schema_detail"),
]
