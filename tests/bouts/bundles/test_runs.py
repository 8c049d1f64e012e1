"""Trajectories that go on in another file of the bundle: one run, in files that stay their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bouts import chunks
from bouts.bundles.errors import Refused
from bouts.bundles.runs import resolved
from bouts.evidence import JsonPlace
from bouts.formats.types import Clock
from bouts.models import Artifact, Bundle
from judging.dossiers import dossier_of
from judging.judges.runs import main_run
from tests import matches
from tests.bouts.formats.reading import trajectory
from tests.bouts.formats.test_shared_cases import CASES
from tests.matches import store, write_bundle

pytestmark = pytest.mark.django_db

ZONED, NAIVE = "2026-03-12T14:{:02}:00Z", "2026-03-12T14:{:02}:00"


def part(*minutes: int, to: str = "", stamp: str | None = ZONED) -> bytes:
    """A trajectory with a step at each of these minutes, which may go on in another file."""
    steps = [
        {"message": f"minute {minute}"} | ({"timestamp": stamp.format(minute)} if stamp else {})
        for minute in minutes
    ]
    return trajectory(*steps, **({"continued_trajectory_ref": to} if to else {}))


def stored(folder: Path, files: Mapping[str, Any]) -> Bundle:
    as_they_are = {
        path: content if isinstance(content, tuple) else ("telemetry", content)
        for path, content in files.items()
    }
    return store(folder, files=as_they_are)


def told(bundle: Bundle, place: str | None = "/continued_trajectory_ref") -> dict[str, list[str]]:
    return {
        artifact.path: texts
        for artifact in bundle.artifacts.all()
        if (texts := [note["text"] for note in artifact.notes if note["place"] == place])
    }


def events_of(bundle: Bundle) -> list[tuple[str, int, float | None, str]]:
    """Return file, number, time and text of each event of the run that is judged."""
    dossier = dossier_of(bundle)
    run = main_run(dossier)
    assert run
    return [
        (run.part_of(event.seq).path, event.seq, event.t, event.text)
        for event in run.events(dossier)
    ]


def test_files_that_go_on_with_one_another_are_one_run_by_one_clock(tmp_path: Path) -> None:
    # The last is listed first, and none of them in order.
    files = {"t/c.json": part(9), "t/a.json": part(0, 1, to="./b.json")}
    bundle = stored(tmp_path, {**files, "t/b.json": part(4, 6, to="../t/c.json")})
    assert events_of(bundle) == [
        ("t/a.json", 1, 0.0, "minute 0"),
        ("t/a.json", 2, 60.0, "minute 1"),
        ("t/b.json", 3, 240.0, "minute 4"),
        ("t/b.json", 4, 360.0, "minute 6"),
        ("t/c.json", 5, 540.0, "minute 9"),
    ]
    assert {file.origin for file in bundle.artifacts.filter(kind="telemetry")} == {
        "2026-03-12T14:00:00+00:00"
    }
    assert told(bundle) == {
        "t/a.json": ["it goes on in another file: ./b.json", "t/b.json goes on with it: both are one run"],
        "t/b.json": ["it goes on in another file: ../t/c.json", "t/c.json goes on with it: both are one run"],
    }  # fmt: skip
    assert told(bundle, None)["t/c.json"] == [
        "it goes on where t/b.json ends, as the same run: its events are numbered from 5"
    ]


def test_each_event_of_a_run_points_into_its_own_file(tmp_path: Path) -> None:
    bundle = stored(tmp_path, {"a.json": part(0, 1, to="b.json"), "b.json": part(4, 6)})
    [last] = chunks.read(bundle.artifacts.get(path="b.json"), first=4, last=4)
    assert (last.text, JsonPlace(last.raw).tokens) == ("minute 6", ("steps", "1"))


def test_evidence_counts_the_events_of_a_run_and_names_the_file(tmp_path: Path) -> None:
    files = {"a.json": ("telemetry", part(0, 1, to="b.json")), "b.json": ("telemetry", part(4))}
    store(tmp_path, match="known")
    for place, is_there in (("event:3", True), ("event:1", False)):
        finding = matches.found("process_abuse", "b.json", place)
        folder = write_bundle(tmp_path / place, match="m-2", files=files, findings=[finding])
        if is_there:
            assert matches.uploads.upload(folder, name="b", by=None).bundle
        else:
            with pytest.raises(Refused):
                matches.uploads.upload(folder, name="b", by=None)


@pytest.mark.parametrize(
    ("first", "second", "times", "clocks"),
    [
        (None, None, [None, None], [Clock.NONE, Clock.NONE]),
        # What has no clock has none; the other's times count from its own start.
        (ZONED, None, [0.0, None], [Clock.ZONED, Clock.NONE]),
        (None, ZONED, [None, 0.0], [Clock.NONE, Clock.ZONED]),
        (NAIVE, NAIVE, [0.0, 240.0], [Clock.NAIVE, Clock.NAIVE]),
        # Where on earth the one was naive, nobody says.
        (ZONED, NAIVE, [0.0, None], [Clock.ZONED, Clock.NONE]),
        (NAIVE, ZONED, [0.0, None], [Clock.NAIVE, Clock.NONE]),
    ],
)
def test_a_time_is_carried_over_only_where_both_files_tell_it_alike(
    tmp_path: Path,
    first: str | None,
    second: str | None,
    times: list[float | None],
    clocks: list[Clock],
) -> None:
    bundle = stored(
        tmp_path, {"a.json": part(0, to="b.json", stamp=first), "b.json": part(4, stamp=second)}
    )
    assert [t for _, _, t, _ in events_of(bundle)] == times
    assert [file.clock for file in bundle.artifacts.filter(kind="telemetry")] == clocks
    is_mixed = {first, second} == {ZONED, NAIVE}
    assert any("no time can be carried over" in text for text in told(bundle, None)["b.json"]) == (
        is_mixed
    )


def test_a_run_is_unreadable_where_one_of_its_files_is(tmp_path: Path) -> None:
    broken = part(4, to="c.json").replace(b'"steps": [', b'"steps": [], "gone": [')
    files = {"a.json": part(0, to="b.json"), "b.json": broken, "c.json": part(9)}
    bundle = stored(tmp_path, files)
    assert bundle.artifacts.get(path="b.json").state == Artifact.State.UNREADABLE
    run = main_run(dossier_of(bundle))
    assert run and run.paths == ("a.json", "b.json", "c.json")
    assert not run.is_readable


def test_a_name_that_leads_nowhere_is_said_and_joins_nothing(tmp_path: Path) -> None:
    here = "/continued_trajectory_ref"
    files = {
        "a.json": part(0, to="notes.json"),
        "notes.json": ("deliverable", part(1)),
        "c.json": part(2, to="../d.json"),
        "e.json": part(3, to="e.json"),
        # Both name the third, and each of two the other.
        "f.json": part(4, to="h.json"),
        "g.json": part(5, to="h.json"),
        "h.json": part(6),
        "i.json": part(7, to="j.json"),
        "j.json": part(8, to="i.json"),
    }
    bundle = stored(tmp_path, files)
    alone = "in which it says that it goes on, is no continuation of it alone"
    assert {path: texts[1] for path, texts in told(bundle, here).items()} == {
        "a.json": "notes.json, in which it goes on, is here but not as telemetry: it is not read",
        "c.json": "../d.json, in which it goes on, is not in the bundle: what came after is missing",
        "e.json": f"e.json, {alone}",
        "f.json": "h.json goes on with it: both are one run",
        "g.json": f"h.json, {alone}",
        "i.json": "j.json goes on with it: both are one run",
        "j.json": f"i.json, {alone}",
    }
    order = bundle.artifacts.filter(kind="telemetry").order_by("pk").values_list("path", flat=True)
    assert list(order) == [f"{name}.json" for name in "acefhgij"]


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ("b.json", "x/b.json"),
        ("./b.json", "x/b.json"),
        ("../b.json", "b.json"),
        ("../../b.json", "../b.json"),
        ("/etc/passwd", "/etc/passwd"),
        ("https://a.example/b.json", "x/https:/a.example/b.json"),
    ],
)
def test_a_name_is_resolved_as_text_alone(named: str, path: str) -> None:
    assert resolved("x/a.json", named) == path


def test_the_two_files_of_a_real_run_are_one(tmp_path: Path) -> None:
    name = "atif/terminus_2_hello-world-context-summarization-linear-history.trajectory"
    files = {f"trajectory{part}.json": CASES / f"{name}{part}.json" for part in ("", ".cont-1")}
    if not all(file.exists() for file in files.values()):
        pytest.skip("the ATIF cases are not there")
    bundle = stored(tmp_path, {path: file.read_bytes() for path, file in files.items()})
    # Five steps, then four that are repeated and four with a command or an end each.
    assert [(path, seq) for path, seq, _, _ in events_of(bundle)] == [
        *(("trajectory.json", seq) for seq in range(1, 6)),
        *(("trajectory.cont-1.json", seq) for seq in range(6, 10)),
    ]
