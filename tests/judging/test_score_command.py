"""`manage.py score` says of a bundle's files what the API says of the stored match."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client

from bouts.actions import uploads
from bouts.models import Artifact, Blob, Challenge, Match, User
from judging import steps
from tests import matches
from tests.bouts.formats.reading import FIXTURES
from tests.factories import make_team
from tests.faulty import KINDS
from tests.matches import found, judge, panel, write_bundle

pytestmark = pytest.mark.django_db

EXAMPLES = settings.BASE_DIR / "examples"
OF_STORING = {"revision", "challenge_version", "superseded"}  # what only a stored match has


def scored(bundle: Path, challenge: Path | None = None, *, as_json: bool = True) -> Any:
    out = io.StringIO()
    options = {"challenge": challenge} if challenge else {}
    call_command("score", bundle, json=as_json, stdout=out, **options)
    return json.loads(out.getvalue()) if as_json else out.getvalue()


def api_says(client: Client, match: str) -> dict[str, Any]:
    answer = client.get(f"/api/matches/{match}/breakdown/")
    assert answer.status_code == 200
    return json.loads(answer.content)


def written(name: str) -> str:
    return (FIXTURES / name).read_text()


KINDS_OF_MATCH: dict[str, dict[str, Any]] = {
    "plain": {},
    "panel disagrees": {"verdicts": panel(60, 76, 92)},
    "a seat refused": {"verdicts": panel(70, None, 75)},
    "no panel": {"verdicts": []},
    "build broken": {"build": {"ok": False}},
    "nothing readable": {"hidden": ["<testsuite"], "static": ["<testsuite"]},
    "findings": {
        "findings": [
            found(
                "plagiarism", "final.diff", "diff:refunds.py:1", confidence="high", note="as m-2"
            ),
            found("acknowledged_uncertainty", "final.diff", "diff:refunds.py:1"),
        ]
    },
    "claims": {
        "claims": [{"statement": "It works.", "confidence": 1, "about": "tests.test_a::test_once"}],
        "static": [{**matches.STATIC, "tests.test_a::test_once": False}],
    },
    "other formats": {
        "challenge": {"tests": [], "benchmark": {"name": "true", "baseline_s": 1}},
        "static": [written("ctrf-pytest-rerun.json"), written("reward.json")],
        "hidden": [written("swebench-reports.json"), written("terminal-bench-timeout.json")],
        "files": {
            "trivy.json": ("scan", written("trivy.json")),
            "bandit.json": ("scan", written("bandit-broken.json")),
            "speed.json": ("benchmark", written("hyperfine.json")),
        },
    },
    "two judges": {"challenge": {"judges": ["objective", "strategy", "integrity"]}},
}


@pytest.mark.parametrize("kind", KINDS_OF_MATCH)
def test_it_equals_the_breakdown_of_the_api(
    kind: str, tmp_path: Path, client_of: Callable[[User], Client], operator: User
) -> None:
    judge(tmp_path, **KINDS_OF_MATCH[kind])
    offline = scored(tmp_path / "bundle", tmp_path / "challenge" / "challenge.json")
    online = api_says(client_of(operator), "m-1")
    compare_with_others(offline, online)
    for name in online.keys() | offline.keys():
        if name not in OF_STORING:
            assert offline[name] == online[name], name
    assert offline["revision"] is offline["challenge_version"] is None


@pytest.mark.parametrize(
    "bundle", sorted((EXAMPLES / "bundles").iterdir()), ids=lambda path: path.stem
)
def test_it_equals_the_breakdown_of_every_sample(
    bundle: Path, samples: None, client_of: Callable[[User], Client], operator: User
) -> None:
    stored = uploads.upload(bundle, name=bundle.name, by=None).bundle
    assert stored is not None
    steps.run_steps(stored)
    online = api_says(client_of(operator), stored.match.slug)
    offline = scored(bundle)
    compare_with_others(offline, online)
    for name, value in offline.items():
        if name not in OF_STORING:
            assert value == online[name], name


def compare_with_others(offline: dict[str, Any], online: dict[str, Any]) -> None:
    """Take out what differs for a reason: files alone cannot be compared with other matches."""
    for body in (offline, online):
        for search in body["integrity"]["searched"]:
            if search["detector"] == "plagiarism":
                is_compared = body is online and "no diff" not in search["missing"]
                assert search["done"] is (is_compared and "diff" in search["searched"])
        searched = body["integrity"]["searched"]
        body["integrity"]["searched"] = [s for s in searched if s["detector"] != "plagiarism"]
        not_found = body["integrity"]["not_found"]
        body["integrity"]["not_found"] = [name for name in not_found if name != "plagiarism"]


@pytest.fixture
def samples(operator: User) -> None:
    """The teams and challenges of the sample matches."""
    for team in json.loads((EXAMPLES / "teams.json").read_text()):
        make_team(team["slug"])
    for challenge in sorted((EXAMPLES / "challenges").iterdir()):
        uploads.upload(challenge, name=challenge.name, by=None)


def test_nothing_is_stored(tmp_path: Path, storage: Path) -> None:
    bundle = write_bundle(tmp_path / "bundle")
    challenge = tmp_path / "challenge.json"
    challenge.write_text(json.dumps(matches.CHALLENGE))
    assert scored(bundle, challenge)["total"] is not None
    assert not any(model.objects.exists() for model in (Match, Artifact, Blob, Challenge))
    assert [path for path in storage.rglob("*") if path.is_file()] == []


def test_without_json_it_is_a_ledger_whose_rows_add_up(tmp_path: Path) -> None:
    judge(tmp_path, verdicts=panel(60, 76, 92))
    lines = scored(tmp_path / "bundle", as_json=False).splitlines()
    breakdown = scored(tmp_path / "bundle")
    assert lines[0] == f"m-1: provisional, total {breakdown['total']}"
    assert sum(Decimal(row["points"]) for row in breakdown["ledger"]) == Decimal(breakdown["total"])
    for row in breakdown["ledger"]:
        assert any(row["row"] in line and row["points"] in line for line in lines)


def test_what_is_unreadable_is_named_and_scores_nothing(tmp_path: Path) -> None:
    judge(tmp_path, hidden=["<testsuite"])
    said = scored(tmp_path / "bundle", as_json=False)
    assert "m-1: unscored, total n/a (unreadable)" in said
    assert "hidden-1.xml: unreadable" in said


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"unknown_team", "weights"}))
def test_a_faulty_bundle_is_refused_with_all_faults(kind: str, tmp_path: Path) -> None:
    challenge = tmp_path / "challenge.json"
    challenge.write_text(json.dumps(matches.CHALLENGE))
    wrong = KINDS[kind](tmp_path / "b")
    bundle = tmp_path / wrong.name
    bundle.write_bytes(wrong.content)
    with pytest.raises(CommandError) as refused:
        scored(bundle, challenge)
    expected = "the bundle is of challenge rebates" if kind == "unknown_challenge" else wrong.found
    assert expected in str(refused.value)


def test_a_challenge_whose_weights_sum_to_95_is_refused(tmp_path: Path) -> None:
    wrong = KINDS["weights"](tmp_path)
    challenge = tmp_path / wrong.name
    challenge.write_bytes(wrong.content)
    with pytest.raises(CommandError, match="a sum of 95"):
        scored(write_bundle(tmp_path / "bundle"), challenge)


def test_a_challenge_that_is_not_here_is_asked_for(tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "bundle")
    with pytest.raises(CommandError, match=r"refunds is not known here .*use --challenge"):
        scored(bundle)
    with pytest.raises(CommandError, match="no such file"):
        scored(tmp_path / "nothing.zip")
