"""Uploads over the API: what is stored, unchanged, valid and refused, and who may send."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client, TestCase
from django.utils import timezone

from bouts.actions import people, uploads
from bouts.models import Artifact, Blob, Bundle, ChallengeVersion, Match, Upload, User
from tests import matches
from tests.factories import make_team
from tests.faulty import KINDS, good

pytestmark = pytest.mark.django_db
SignedIn = Callable[[User], Client]
UPLOADS = "/api/uploads/"
WEEK = timedelta(days=7)


@pytest.fixture
def ops(client_of: SignedIn, operator: User, storage: Path) -> Client:
    return client_of(operator)


@pytest.fixture
def known(tmp_path: Path) -> None:
    make_team()
    matches.store_challenge(tmp_path / "challenge")


def send(client: Client, name: str, content: bytes, check: bool = False, **headers: str) -> Any:
    file = io.BytesIO(content)
    file.name = name
    data = {"file": file, **({"check": "true"} if check else {})}
    with TestCase.captureOnCommitCallbacks(execute=True):
        return client.post(UPLOADS, data, headers=headers)


def token(user: User, *scopes: str) -> dict[str, str]:
    _, secret = people.create_token(user, f"for {scopes}", list(scopes), WEEK)
    return {"Authorization": f"Bearer {secret}"}


def test_a_bundle_is_stored_and_answered_with_its_address(
    ops: Client, known: None, tmp_path: Path
) -> None:
    answer = send(ops, "heron.zip", good(tmp_path / "b"))
    assert answer.status_code == 201
    body = answer.json()
    assert (body["state"], body["match"], body["faults"]) == ("stored", "m-1", [])
    assert [stage["stage"] for stage in body["stages"]] == ["received", "taken", "validated"]
    assert ops.get(answer["Location"]).json() == body
    assert Bundle.objects.get().uploaded_by == User.objects.get(username="tomas")


def test_the_same_again_is_200_and_unchanged(ops: Client, known: None, tmp_path: Path) -> None:
    content = good(tmp_path / "b")
    answers = [send(ops, "heron.zip", content) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert answers[1].json()["state"] == "unchanged"
    assert Bundle.objects.count() == 1


def test_a_challenge_is_sent_the_same_way(ops: Client) -> None:
    answer = send(ops, "challenge.json", json.dumps(matches.CHALLENGE).encode())
    assert (answer.status_code, answer.json()["challenge"]) == (201, "refunds")


def test_a_check_stores_nothing(ops: Client, known: None, tmp_path: Path, storage: Path) -> None:
    answer = send(ops, "heron.zip", good(tmp_path / "b"), check=True)
    assert (answer.status_code, answer.json()["state"]) == (200, "valid")
    assert not Match.objects.exists()
    assert [path for path in storage.rglob("*") if path.is_file()] == []


def test_who_does_not_want_to_wait_is_answered_at_once(
    ops: Client, known: None, tmp_path: Path
) -> None:
    answer = send(ops, "heron.zip", good(tmp_path / "b"), Prefer="respond-async")
    assert (answer.status_code, answer.json()["state"]) == (202, "received")
    uploads.process(answer.json()["id"])
    assert ops.get(answer["Location"]).json()["state"] == "stored"


def test_a_worker_that_was_quicker_is_no_error(
    ops: Client, known: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "process", lambda key: None)
    answer = send(ops, "heron.zip", good(tmp_path / "b"))
    assert (answer.status_code, answer.json()["state"]) == (202, "received")


@pytest.mark.parametrize("check", [False, True], ids=["upload", "check"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_fault_is_refused_and_nothing_is_stored(
    kind: str, check: bool, ops: Client, known: None, tmp_path: Path, storage: Path
) -> None:
    wrong = KINDS[kind](tmp_path / "b")
    versions = ChallengeVersion.objects.count()
    answer = send(ops, wrong.name, wrong.content, check=check)
    assert answer.status_code == 422
    assert wrong.is_among(answer.json()["faults"]), answer.json()
    assert not any(model.objects.exists() for model in (Match, Bundle, Artifact, Blob))
    assert ChallengeVersion.objects.count() == versions
    assert [path for path in storage.rglob("*") if path.is_file()] == []


def test_the_faults_are_those_of_the_page(ops: Client, known: None, tmp_path: Path) -> None:
    content = good(tmp_path / "b", agent={"team": "northbnk"}, finished_at="yesterday")
    by_api = send(ops, "heron.zip", content).json()["faults"]
    file = io.BytesIO(content)
    file.name = "heron.zip"
    ops.post("/upload/", {"bundles": [file]})
    by_page = uploads.process(str(Upload.objects.order_by("-created_at")[0].pk))
    assert by_page is not None
    assert by_api == by_page.faults
    assert len(by_api) == 2


def test_what_is_broken_on_our_side_is_500_and_can_be_tried_again(
    ops: Client, known: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "store", lambda *args, **options: 1 / 0)
    answer = send(ops, "heron.zip", good(tmp_path / "b"))
    assert (answer.status_code, answer.json()["state"]) == (500, "failed")


@pytest.mark.parametrize(
    ("data", "status"),
    [({}, 400), ({"file": "text"}, 400), ({"file": io.BytesIO(b""), "check": "true"}, 400)],
)
def test_what_is_no_upload_is_400_and_says_why(
    data: dict[str, Any], status: int, ops: Client
) -> None:
    answer = ops.post(UPLOADS, data)
    assert answer.status_code == status
    assert "file" in answer.json()


def test_other_content_types_are_415(ops: Client) -> None:
    answer = ops.post(UPLOADS, {"file": "x"}, content_type="application/json")
    assert answer.status_code == 415
    assert "detail" in answer.json()


def test_what_is_too_large_is_refused_before_it_is_read(ops: Client) -> None:
    answer = ops.post(UPLOADS, {}, headers={"Content-Length": "600000000"})
    assert answer.status_code == 413
    assert answer.json() == {"detail": "At most 512 MB (BOUTS_MAX_BUNDLE_MB). Nothing was read."}


def test_uploads_are_listed_the_newest_first(ops: Client, operator: User) -> None:
    for number in range(3):
        Upload.objects.create(name=f"{number}.zip", size=1, by=operator)
    listed = ops.get(UPLOADS).json()
    assert listed["count"] == 3
    assert [row["name"] for row in listed["results"]] == ["2.zip", "1.zip", "0.zip"]


def test_only_a_token_with_the_scope_of_an_operator_may_send(
    operator: User, competitor: User, reviewer: User, known: None, tmp_path: Path, storage: Path
) -> None:
    content = good(tmp_path / "b")
    client = Client()
    assert send(client, "a.zip", content).status_code == 401
    assert send(client, "a.zip", content, **token(operator, "read")).status_code == 403
    for user in (competitor, reviewer):
        sent = send(client, "a.zip", content, **token(user, "read"))
        assert sent.status_code == 403, user
    assert not Upload.objects.exists()
    assert send(client, "a.zip", content, **token(operator, "upload")).status_code == 201


def test_a_token_that_has_expired_may_not_send(
    operator: User, known: None, tmp_path: Path, storage: Path
) -> None:
    headers = token(operator, "upload")
    operator.api_tokens.update(expires_at=timezone.now())
    answer = send(Client(), "a.zip", good(tmp_path / "b"), **headers)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"


def test_a_session_needs_the_csrf_token(operator: User, storage: Path) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    assert send(client, "a.zip", b"x").status_code == 403
