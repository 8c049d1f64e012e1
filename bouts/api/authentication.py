"""Sign in to the API with a token: ``Authorization: Bearer bouts_...``."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from bouts import prepared
from bouts.models import ApiToken, User
from bouts.tokens import digest_of

# Written at most so often, so that a busy client does not write a row a request.
LAST_USED_GRAIN = timedelta(minutes=5)


class TokenAuthentication(authentication.BaseAuthentication):
    keyword = "Bearer"

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, secret = authentication.get_authorization_header(request).partition(b" ")
        if scheme.lower() != self.keyword.lower().encode():
            return None
        now = timezone.now()
        token = find_token(digest_of(secret.strip().decode("latin-1")))
        if token is None or token.revoked_at is not None or not token.user.is_active:
            raise exceptions.AuthenticationFailed("This token is not known or was revoked.")
        if token.expires_at is not None and token.expires_at <= now:
            raise exceptions.AuthenticationFailed("This token has expired.")
        if token.last_used_at is None or token.last_used_at < now - LAST_USED_GRAIN:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return self.keyword


def find_token(digest: str) -> ApiToken | None:
    """Return the token of a digest with its owner; every request with a token comes through here."""
    row = TOKEN.first(digest=digest)
    if row is None:
        return None
    own = len(prepared.columns_of(ApiToken))
    token = prepared.instance_of(ApiToken, row[:own])
    token.user = prepared.instance_of(User, row[own:])
    return token


def _by_digest(digest: str) -> QuerySet[ApiToken]:
    owner = [f"user__{column}" for column in prepared.columns_of(User)]
    tokens = ApiToken.objects.filter(digest=digest).order_by()
    return tokens.values_list(*prepared.columns_of(ApiToken), *owner)


TOKEN = prepared.Prepared(_by_digest, digest=str)
