"""HEAD is answered as GET is, on every page, part of a match and file, and carries no content."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import Client, RequestFactory

from bouts.middleware import HeadMiddleware
from bouts.models import Artifact, Bundle, User
from tests.judging.views.test_leaks import PAGES, TABS

MORE = (
    "/agents/{agent}/", "/agents/{agent}.csv", "/account/", "/audit/", "/judges/", "/matches/m-1/calls/",
    "/matches/m-1/likeness/", "/people/", "/queue/", "/schemas/", "/teams/", "/upload/", "/work/",
    "/api/docs/", "/nowhere/",
)  # fmt: skip

# Of one answer they may differ from those of another: tokens and padding are drawn anew.
DRAWN = ("Set-Cookie", "Content-Length")


def addresses(bundle: Bundle) -> Iterator[str]:
    yield from PAGES
    yield from (address.format(agent=bundle.match.agent_id) for address in MORE)
    yield from (f"/matches/m-1/evidence/{tab}/" for tab in TABS)
    digest = Artifact.objects.filter(bundle=bundle, path="build.log").get().blob_id
    yield from (f"/matches/m-1/evidence/{digest}/{end}" for end in ("", "raw/", "?at=line:1"))


def headers(answer: HttpResponseBase) -> dict[str, str]:
    return {name: value for name, value in answer.items() if name not in DRAWN}


def test_head_is_get_without_its_content(
    bundle: Bundle, operator: User, client_of: Callable[[User], Client]
) -> None:
    client = client_of(operator)
    for address in addresses(bundle):
        whole, head = client.get(address), client.head(address)
        assert head.status_code == whole.status_code, address
        assert headers(head) == headers(whole), address
        assert b"".join(head) == b"", address


@pytest.mark.parametrize(
    "whole", [HttpResponse(b"content"), StreamingHttpResponse(iter([b"content"]))]
)
def test_no_content_goes_to_the_server(whole: HttpResponseBase) -> None:
    """The client of tests would leave it out by itself."""
    whole.headers["Content-Length"] = "7"
    answer = HeadMiddleware(lambda request: whole)(RequestFactory().head("/"))
    assert b"".join(answer) == b""
    assert answer.headers["Content-Length"] == "7"
    assert b"".join(HeadMiddleware(lambda _: HttpResponse(b"x"))(RequestFactory().get("/"))) == b"x"
