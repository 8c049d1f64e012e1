from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from bouts.models import Artifact, Bundle, User
from tests.judging.views.making import BUILD_LOG, plain

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nqqqq\n-----END RSA PRIVATE KEY-----\n"


def raw(bundle: Bundle, path: str) -> str:
    digest = Artifact.objects.get(bundle=bundle, path=path).blob_id
    return f"/matches/m-1/evidence/{digest}/raw/"


def test_a_file_comes_as_it_was_to_be_saved_and_not_run(bundle: Bundle, as_team: Client) -> None:
    response = as_team.get(raw(bundle, "build.log"))
    assert b"".join(response.streaming_content).decode() == BUILD_LOG
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="build.log"'
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"].startswith("sandbox;")
    assert response.headers["Cache-Control"] == "private, no-cache"


def test_data_is_no_text_to_a_browser(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    bundle = plain(tmp_path, files={"evil.html": ("benchmark", "<script>alert(1)</script>")})
    response = client_of(competitor).get(raw(bundle, "evil.html"))
    assert response.headers["Content-Type"] == "application/octet-stream"


@pytest.mark.parametrize(
    "path",
    ["hidden-1.xml", "hidden-1.log", "verdicts.json", "telemetry.json", "sandbox.log", "PEEKED.md"],
)
def test_what_quotes_a_hidden_test_cannot_be_saved_by_competitors(
    bundle: Bundle, as_team: Client, as_staff: Client, path: str
) -> None:
    assert as_team.get(raw(bundle, path)).status_code == 404
    assert as_staff.get(f"{raw(bundle, path)}?as=team").status_code == 404
    assert as_staff.get(raw(bundle, path)).status_code == 200


def test_others_and_strangers_save_nothing(
    bundle: Bundle, as_rival: Client, as_blind: Client
) -> None:
    assert as_rival.get(raw(bundle, "build.log")).status_code == 404
    assert as_blind.get(raw(bundle, "build.log")).status_code == 404
    assert Client().get(raw(bundle, "build.log")).status_code == 302


def test_keys_and_tokens_are_masked_for_everybody(
    tmp_path: Path, competitor: User, operator: User, client_of: Callable[[User], Client]
) -> None:
    secrets = (
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "a1B2" * 9,
        "AIza" + "Q" * 35,
        "sk-proj-" + "z9" * 20,
        "xoxb-123456789012-abcdefghijkl",
    )
    text = "\n".join(f"export TOKEN={secret}" for secret in secrets) + "\n" + KEY
    bundle = plain(tmp_path, files={"env.log": ("log", text), "ENV.md": ("deliverable", text)})
    for person in (competitor, operator):
        client = client_of(person)
        bodies = [
            b"".join(client.get(raw(bundle, "env.log")).streaming_content).decode(),
            client.get(raw(bundle, "env.log").removesuffix("raw/")).content.decode(),
            client.get("/matches/m-1/evidence/deliverables/").content.decode(),
        ]
        for body in bodies:
            assert "export TOKEN=" in body
            assert not [secret for secret in (*secrets, "MIIEpAIB", "qqqq") if secret in body]
            assert "AKIA…[masked]" in body
