"""Signing in to the API with a token."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from bouts.actions import people
from bouts.models import ApiToken, User

pytestmark = pytest.mark.django_db
WEEK = timedelta(days=7)


class Reading(APIView):
    def get(self, request: Request) -> Response:
        return Response({"me": request.user.username})

    def post(self, request: Request) -> Response:
        return Response(status=201)


class Uploading(Reading):
    required_scope = ApiToken.Scope.UPLOAD


def ask(secret: str, view: type[APIView] = Reading, method: str = "get") -> Response:
    request = getattr(APIRequestFactory(), method)(
        "/", headers={"Authorization": f"Bearer {secret}"}
    )
    return view.as_view()(request)


def token_of(user: User, *scopes: str) -> str:
    _, secret = people.create_token(user, "test", list(scopes), WEEK)
    return secret


def test_a_token_speaks_for_its_owner(competitor: User) -> None:
    answer = ask(token_of(competitor, "read"))
    assert answer.data == {"me": "ines"}
    assert ApiToken.objects.get().last_used_at is not None


def test_nobody_comes_in_without_a_token(competitor: User) -> None:
    assert Reading.as_view()(APIRequestFactory().get("/")).status_code == 401
    for wrong in ("", "bouts_nonsense", ApiToken.Scope.READ):
        assert ask(wrong).status_code == 401


def test_what_is_stored_is_no_key(competitor: User) -> None:
    token_of(competitor, "read")
    stored = ApiToken.objects.get()
    assert ask(stored.digest).status_code == 401
    assert ask(stored.prefix).status_code == 401


@pytest.mark.parametrize("end", ["revoked", "expired", "closed"])
def test_a_token_that_has_ended_is_refused(end: str, competitor: User) -> None:
    secret = token_of(competitor, "read")
    assert ask(secret).status_code == 200
    if end == "revoked":
        people.revoke_token(ApiToken.objects.get().pk, by=competitor)
    elif end == "expired":
        ApiToken.objects.update(expires_at=timezone.now())
    else:
        User.objects.update(is_active=False)
    assert ask(secret).status_code == 401


def test_each_scope_opens_what_it_names(operator: User) -> None:
    reading = token_of(operator, "read")
    _, uploading = people.create_token(operator, "up", ["upload"], WEEK)
    assert ask(reading).status_code == 200
    assert ask(reading, Uploading, "post").status_code == 403
    assert ask(uploading, Uploading, "post").status_code == 201
    assert ask(uploading).status_code == 403


def test_reading_is_all_that_a_view_without_a_scope_allows(operator: User) -> None:
    _, secret = people.create_token(operator, "all", ["read", "upload"], WEEK)
    assert ask(secret).status_code == 200
    assert ask(secret, Reading, "post").status_code == 403
