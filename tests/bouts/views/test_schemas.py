"""The published JSON Schemas: to be had by everybody, and true of what is really uploaded."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.conf import settings
from django.test import Client

from bouts.models import User
from tests.faulty import KINDS

pytestmark = pytest.mark.django_db
EXAMPLES = settings.BASE_DIR / "examples"
NAMES = ["match-1", "challenge-1", "verdicts-1", "claims-1"]


@pytest.fixture
def client(client_of: Callable[[User], Client], competitor: User) -> Client:
    return client_of(competitor)


def schema(client: Client, name: str) -> Any:
    answer = client.get(f"/schemas/{name}.json")
    assert answer.status_code == 200
    return answer.json()


def test_the_page_leads_to_each(client: Client) -> None:
    page = client.get("/schemas/").content.decode()
    for name in NAMES:
        assert f'href="/schemas/{name}.json"' in page


@pytest.mark.parametrize("name", NAMES)
def test_each_is_a_json_schema(name: str, client: Client) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(client, name))


def test_one_that_is_not_there_is_404(client: Client) -> None:
    assert client.get("/schemas/nothing-1.json").status_code == 404


def test_a_stranger_is_asked_to_sign_in() -> None:
    assert Client().get("/schemas/").status_code == 302
    assert Client().get("/schemas/match-1.json").status_code == 302


@pytest.mark.parametrize(
    "bundle", sorted((EXAMPLES / "bundles").iterdir()), ids=lambda path: path.stem
)
def test_the_sample_bundles_are_valid(bundle: Path, client: Client) -> None:
    with zipfile.ZipFile(bundle) as archive:
        match = json.loads(archive.read("match.json"))
        jsonschema.validate(match, schema(client, "match-1"))
        for entry in match["artifacts"]:
            if entry["kind"] in {"verdicts", "claims"}:
                document = json.loads(archive.read(entry["path"]))
                jsonschema.validate(document, schema(client, f"{entry['kind']}-1"))


@pytest.mark.parametrize(
    "folder", sorted((EXAMPLES / "challenges").iterdir()), ids=lambda path: path.name
)
def test_the_sample_challenges_are_valid(folder: Path, client: Client) -> None:
    document = json.loads((folder / "challenge.json").read_text())
    jsonschema.validate(document, schema(client, "challenge-1"))


def test_what_the_door_refuses_by_its_form_the_schema_refuses_too(
    client: Client, tmp_path: Path
) -> None:
    document = json.loads(KINDS["weights"](tmp_path).content)
    jsonschema.validate(document, schema(client, "challenge-1"))  # a sum is beyond a schema
    for wrong in ({"slug": "no spaces"}, {"weights": {"objective": 99}}, {"more": 1}, {"tests": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, **wrong}, schema(client, "challenge-1"))
