"""A run whose telemetry lies in two files is judged and drawn as it is where it lies in one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from bouts.models import User
from judging.models import Scorecard
from tests.judging.views.making import STEPS, plain, step, trajectory
from tests.judging.views.test_evidence_tabs import tab

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]

WHOLE = {"telemetry.json": ("telemetry", trajectory())}
# The second file repeats a step of the first, as Harbor's do.
REPEATED = {**STEPS[1], "step_id": 1, "is_copied_context": True}
PARTS = {
    "run.cont-1.json": ("telemetry", trajectory([REPEATED, *STEPS[4:]])),
    "run.json": ("telemetry", trajectory(STEPS[:4], continued_trajectory_ref="run.cont-1.json")),
}
FILES = {**dict.fromkeys(range(1, 5), "run.json"), **dict.fromkeys(range(5, 9), "run.cont-1.json")}


def judges_of(match: str) -> dict[str, Any]:
    card = Scorecard.objects.get(bundle__match__slug=match, bundle__is_live=True)
    return {name: card.breakdown["judges"][name] for name in ("process", "recovery")}


def renamed(value: Any) -> Any:
    """Return what judges said of the one file as if it had been in two."""
    match value:
        case {"artifact": "telemetry.json", "place": str(place)}:
            return {**value, "artifact": FILES[int(place.removeprefix("event:"))]}
        case dict():
            return {key: renamed(child) for key, child in value.items()}
        case list():
            return [renamed(child) for child in value]
    return "run.json" if value == "telemetry.json" else value


def picture(html: str) -> str:
    """Return the picture of a run without the addresses that its marks lead to."""
    figure = html.partition("<figure")[2].partition("</figure>")[0]
    return re.sub(r'href="[^"#]*', "", figure)


def test_a_run_in_two_files_is_judged_as_in_one(tmp_path: Path) -> None:
    plain(tmp_path / "one", match="m-1", files=WHOLE)
    plain(tmp_path / "two", match="m-2", files=PARTS)
    one, two = judges_of("m-1"), judges_of("m-2")
    assert two == renamed(one)
    evidence = {place["artifact"] for place in two["process"]["evidence"]}
    assert evidence == {"run.json", "run.cont-1.json"}


def test_a_run_in_two_files_is_drawn_as_one(
    tmp_path: Path, competitor: User, client_of: ClientOf
) -> None:
    plain(tmp_path / "one", match="m-1", files=WHOLE)
    bundle = plain(tmp_path / "two", match="m-2", files=PARTS)
    client = client_of(competitor)
    whole = tab(client, "timeline")
    files = {file.path: file.blob_id for file in bundle.artifacts.all()}

    for query in ("", f"?file={files['run.json']}", f"?file={files['run.cont-1.json']}"):
        html = tab(client, "timeline", query, match="m-2")
        assert picture(html) == picture(whole)
        rows = re.findall(r'<tr id="e-(\d+)".*?href="[^"]*?(\w{64})', html)
        assert rows == [(str(seq), files[path]) for seq, path in FILES.items()]
        assert html.count('aria-current="true">run.') == 2
    at_event = tab(client, "timeline", f"?file={files['run.cont-1.json']}&at=7", match="m-2")
    assert 'id="e-7" class="is-target"' in at_event
    # The event leads to its own record: the fourth of the second file.
    [address] = re.findall(r'<tr id="e-7".*?href="([^"]+)"', at_event)
    assert "/steps/3/tool_calls/0" in client.get(address).content.decode()


def test_a_long_run_opens_where_the_file_that_was_asked_for_begins(
    tmp_path: Path, competitor: User, client_of: ClientOf
) -> None:
    steps = [step(number, "Look.", "ls") for number in range(1, 121)]
    files = {
        "a.json": ("telemetry", trajectory(steps[:110], continued_trajectory_ref="b.json")),
        "b.json": ("telemetry", trajectory(steps[110:])),
    }
    bundle = plain(tmp_path, files=files)
    digest = bundle.artifacts.get(path="b.json").blob_id
    client = client_of(competitor)
    assert 'id="e-111"' in tab(client, "timeline", f"?file={digest}")
    assert 'id="e-51"' in tab(client, "timeline", f"?file={digest}&page=2")
