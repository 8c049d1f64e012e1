"""The API keeps to its own schema, whatever it is asked, and its page tells all of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from hypothesis import HealthCheck, settings
from schemathesis import checks

from bouts.actions import people
from bouts.models import User
from bouts.wsgi import application
from tests import matches
from tests.matches import judge, panel

pytestmark = pytest.mark.django_db
SignedIn = Callable[[User], Client]

api = schemathesis.openapi.from_wsgi("/api/schema/?format=json", application)


@pytest.fixture
def tokens(
    one_connection: None, operator: User, lead: User, tmp_path: Path, storage: Path
) -> dict[str, str]:
    """Tokens that may do all that tokens may, where there is something to find."""
    judge(tmp_path, verdicts=panel(60, 76, 92))
    return {user.role: token_of(user) for user in (operator, lead)}


@pytest.fixture
def one_connection() -> Iterator[None]:
    """Let requests leave the connection alone that the test's transaction is on."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def token_of(user: User) -> str:
    _, secret = people.create_token(user, "all", list(user.token_scopes), timedelta(days=1))
    return secret


@api.parametrize()
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_every_answer_is_one_that_the_schema_tells(
    case: schemathesis.Case, tokens: dict[str, str]
) -> None:
    role = User.Role.LEAD if case.path.startswith("/api/cases/") else User.Role.OPS
    case.call_and_validate(
        headers={"Authorization": f"Bearer {tokens[role]}", "Accept-Encoding": "identity"},
        checks=[
            checks.not_a_server_error,
            checks.status_code_conformance,
            checks.content_type_conformance,
            checks.response_schema_conformance,
        ],
    )


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return SchemaGenerator().get_schema(request=None, public=True)


def test_the_schema_is_valid_openapi(schema: dict[str, Any]) -> None:
    validate_schema(schema)


def test_every_operation_says_what_it_does_and_how_it_fails(schema: dict[str, Any]) -> None:
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            assert operation["description"].strip(), path
            assert {"401", "403"} <= operation["responses"].keys(), path
            assert ("404" in operation["responses"]) >= ("{" in path), path


@pytest.mark.parametrize("form", ["", "?format=json"])
def test_the_schema_is_served_as_yaml_and_json(
    form: str, client_of: SignedIn, competitor: User
) -> None:
    answer = client_of(competitor).get(f"/api/schema/{form}")
    assert answer.status_code == 200
    assert b"/api/matches/{slug}/breakdown/" in answer.content


def test_a_breakdown_has_the_shape_that_the_schema_tells_for_every_reader(
    schema: dict[str, Any],
    client_of: SignedIn,
    operator: User,
    competitor: User,
    rival: User,
    reviewer: User,
    tmp_path: Path,
) -> None:
    finding = matches.found("plagiarism", "final.diff", "diff:refunds.py:1", confidence="high")
    judge(tmp_path, verdicts=panel(60, None, 92), findings=[finding])
    shape = {**schema["components"]["schemas"]["Breakdown"], "components": schema["components"]}
    for user in (operator, competitor, rival, reviewer):
        body = client_of(user).get("/api/matches/m-1/breakdown/").json()
        jsonschema.validate(body, strict(shape))
        assert body.keys() <= shape["properties"].keys(), user


def strict(schema: Any) -> Any:
    """Turn OpenAPI 3.0 into JSON Schema: what is nullable may be null."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: strict(value) for key, value in schema.items() if key != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if schema.get("nullable") is True else plain


def test_a_shape_that_is_wrong_is_noticed(schema: dict[str, Any]) -> None:
    shape = {**schema["components"]["schemas"]["Breakdown"], "components": schema["components"]}
    for wrong in ({"total": 64.8}, {"ledger": [{"row": "objective"}]}, {"judges": {}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"superseded": False, **wrong}, strict(shape))


# The page


def test_the_page_tells_every_operation_and_shape(
    schema: dict[str, Any], client_of: SignedIn, competitor: User
) -> None:
    page = client_of(competitor).get("/api/").content.decode()
    for path, methods in schema["paths"].items():
        for method in methods:
            assert f'<span class="verb">{method.upper()}</span> {path}' in page
    for name in set(re.findall(r'href="#([^"]+)"', page)):
        assert f'id="{name}"' in page, name
    assert "<code>withheld</code>" in page
    assert "``" not in page


def test_a_stranger_is_asked_to_sign_in() -> None:
    assert Client().get("/api/").status_code == 302


# Whatever else is asked


@pytest.mark.parametrize(
    "address", ["nothing/", "matches/..%2F/", "cases/x/", "matches/%0A/", "a/b/c/"]
)
def test_an_address_that_is_not_there_is_404_in_json(
    address: str, client_of: SignedIn, competitor: User
) -> None:
    for method in ("get", "post", "delete"):
        answer = getattr(client_of(competitor), method)(f"/api/{address}")
        assert answer.status_code == 404
        assert answer.json() == {"detail": "The API has no such address."}
    assert Client().get(f"/api/{address}").status_code == 401


def test_a_slash_that_is_missing_is_added(client_of: SignedIn, competitor: User) -> None:
    assert client_of(competitor).get("/api/matches").headers["Location"] == "/api/matches/"
