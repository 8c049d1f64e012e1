"""Inspect's logs: samples, what is peculiar to their events, and archives that are not sound."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from typing import Any

import pytest
import zstandard

from bouts.archives import zips
from bouts.archives.limits import Limits
from bouts.formats import zipped
from bouts.formats.inspect_eval import InspectEvalReader
from bouts.formats.inspect_json import InspectJsonReader
from bouts.formats.telemetry import inspect_samples
from bouts.formats.types import Clock, Event, EventKind, Report, Unreadable
from bouts.formats.zipped import ZipFile
from tests.bouts.formats.reading import FIXTURES, notes, read

HEADER = {"version": 2, "status": "success", "eval": {"packages": {"inspect_ai": "0.3.1"}}}


def at(second: float) -> str:
    return f"2026-01-01T00:00:{second:06.3f}+00:00"


def model(text: str, *calls: dict[str, Any], second: float = 1, **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "tool_calls": list(calls)}
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    output = {"choices": [{"message": message}], "usage": usage}
    return {"event": "model", "timestamp": at(second), "output": output, **fields}


def tool(id: str, second: float = 2, **fields: Any) -> dict[str, Any]:
    given = {"function": "bash", "arguments": {"command": "make"}, "result": ""}
    return {"event": "tool", "timestamp": at(second), "id": id, **given, **fields}


def log(*samples: dict[str, Any], **fields: Any) -> bytes:
    return json.dumps({**HEADER, **fields, "samples": list(samples)}).encode()


def sample(*events: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": 1, "epoch": 1, "input": "go", "events": list(events), **fields}


def events(*samples: dict[str, Any], **fields: Any) -> tuple[list[Event], Report]:
    return read(InspectJsonReader(), log(*samples, **fields))


def kinds(found: list[Event]) -> list[str]:
    return [str(event.kind) for event in found]


def test_what_the_model_says_with_calls_goes_to_the_first_of_them() -> None:
    called = model("look", {"id": "1"}, {"id": "2"})
    found, _ = events(sample(called, tool("1"), tool("2"), model("done", second=3)))
    assert kinds(found) == ["start", "run", "run", "message"]
    assert [event.text for event in found] == ["go", "look", "", "done"]
    assert [event.tokens_in for event in found] == [None, 10, None, 10]
    assert found[1].t == 1


def test_a_call_that_was_never_made_leaves_what_was_said() -> None:
    found, _ = events(sample(model("look", {"id": "1"}), model("again", second=3)))
    assert [event.text for event in found] == ["go", "look", "again"]


def test_an_answer_from_the_cache_costs_nothing() -> None:
    found, _ = events(sample(model("a", cache="read")))
    assert found[-1].tokens_in is None


@pytest.mark.parametrize(("codes", "code"), [([3], 3), ([], None), ([0, 1], None)])
def test_the_sandbox_tells_the_exit_code_of_a_command_alone(
    codes: list[int], code: int | None
) -> None:
    begin = {"event": "span_begin", "type": "tool", "id": "s", "timestamp": at(1)}
    ran = [{"event": "sandbox", "action": "exec", "span_id": "s", "result": c} for c in codes]
    end = {"event": "span_end", "id": "s", "timestamp": at(3)}
    found, _ = events(sample(begin, tool("1"), *ran, end))
    assert (found[-1].exit_code, found[-1].ok) == (code, None if code is None else False)


def test_an_error_of_a_tool_is_its_failure() -> None:
    error = {"type": "timeout", "message": "timed out"}
    found, _ = events(sample(tool("1", error=error)))
    assert (found[-1].ok, found[-1].output) == (False, "timed out")


def test_attachments_are_put_in_their_places_though_they_come_later() -> None:
    key = "0" * 32
    named = f"attachment://{key}"
    part = {"type": "text", "text": named}
    given = {"command": named}
    data = sample(tool("1", arguments=given, result=[part]), attachments={key: "echo hello"})
    found, _ = events({**data, "input": [{"role": "user", "content": named}]})
    assert found[0].text == "echo hello"
    assert (found[1].command, found[1].output) == ("echo hello", "echo hello")


def test_a_large_attachment_cannot_be_named_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_samples, "MAX_RESOLVED_BYTES", 100)
    key = "0" * 32
    calls = [tool(str(number), result=f"attachment://{key}") for number in range(3)]
    with pytest.raises(Unreadable, match=r"MAX_RESOLVED_BYTES = 100 \(/samples/0\)"):
        events(sample(*calls, attachments={key: "x" * 40}))


def test_events_within_a_tool_are_the_agents_too() -> None:
    inner = [tool("2", second=3, result="inner")]
    found, _ = events(sample(tool("1", events=inner)))
    assert [event.raw for event in found[1:]] == [
        "/samples/0/events/0",
        "/samples/0/events/0/events/0",
    ]


def test_each_sample_is_a_run_of_its_own() -> None:
    write = {"function": "write_file", "arguments": {"path": "a", "content": "x"}}
    one = sample(tool("1", **write))
    found, report = events(one, {**one, "id": 2})
    assert kinds(found) == ["start", "edit", "start", "edit"]
    assert found[3].before is None
    assert "2 samples" in notes(report)


def test_a_counter_of_the_machine_is_no_time() -> None:
    found, report = events(sample(model("a", working_start=9180934.76)))
    assert "working_start is not counted from the start" in notes(report)
    assert found[-1].t == 0


def test_messages_stand_in_for_events_that_were_not_logged() -> None:
    call = {"id": "1", "function": "bash", "arguments": {"command": "make"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "look", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "made"},
    ]
    found, report = events({"id": 1, "input": "go", "messages": messages})
    assert kinds(found) == ["start", "run"]
    assert (found[1].text, found[1].output) == ("look", "made")
    assert report.clock is Clock.NONE


def test_a_run_that_broke_off_says_so() -> None:
    error = {"event": "error", "timestamp": at(4), "error": {"message": "boom"}}
    found, report = events(sample(error), status="error")
    assert (found[-1].kind, found[-1].text) == (EventKind.MESSAGE, "[error] boom")
    assert "did not end well: error" in notes(report)
    with pytest.raises(Unreadable, match="no samples in it"):
        events(status="started")


# Archives


def archive(**members: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            out.writestr(name.replace("__", "/") + ".json", content)
    return written.getvalue()


WHOLE = {
    "_journal__start": json.dumps(HEADER).encode(),
    "samples__1_epoch_1": json.dumps(sample(model("a"))).encode(),
    "header": json.dumps(HEADER).encode(),
}


def test_an_unfinished_run_has_only_its_beginning() -> None:
    members = {name: data for name, data in WHOLE.items() if name != "header"}
    found, report = read(InspectEvalReader(), archive(**members))
    assert len(found) == 2
    assert "did not end well: started" in notes(report)
    assert found[1].raw == "/samples~11_epoch_1.json/events/0"


def test_a_large_member_is_read_as_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    data = archive(**WHOLE)
    whole = read(InspectEvalReader(), data)
    monkeypatch.setattr(zipped, "WHOLE_LIMIT", 0)
    assert read(InspectEvalReader(), data)[0] == whole[0]
    zstd = (FIXTURES / "inspect.eval").read_bytes()
    assert len(read(InspectEvalReader(), zstd)[0]) == 9


@pytest.mark.parametrize("cut", [20, 400, 900])
def test_a_file_that_is_cut_short_is_refused_with_its_place(cut: int) -> None:
    with pytest.raises(Unreadable, match=r"not a sound ZIP file: .*\(byte \d+\)"):
        read(InspectEvalReader(), archive(**WHOLE)[:-cut])


def test_a_member_that_is_no_json_is_named() -> None:
    members = {**WHOLE, "samples__1_epoch_1": b"{"}
    with pytest.raises(Unreadable, match=r"not valid JSON.*samples/1_epoch_1\.json"):
        read(InspectEvalReader(), archive(**members))


def test_an_archive_of_something_else_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"no header\.json and no _journal"):
        read(InspectEvalReader(), archive(samples__1=b"{}"))


def test_bounds_hold_for_members(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = archive(header=b" " * 10_000_000)
    with pytest.raises(Unreadable, match="packed more than 200 times smaller"):
        ZipFile(io.BytesIO(bomb))
    for limits, words in {
        Limits(members=2): "3 members; at most 2",
        Limits(member_bytes=100): "at most 100 bytes of a member",
        Limits(bundle_bytes=300): "when unpacked; at most 300 bytes",
    }.items():
        monkeypatch.setattr(zipped, "LIMITS", limits)
        with pytest.raises(Unreadable, match=words):
            ZipFile(io.BytesIO(archive(**WHOLE)))


def test_an_archive_unpacks_to_a_number_of_times_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = archive(header=b'{"a": 1}' * 1_000)
    assert ZipFile(io.BytesIO(packed)).names
    monkeypatch.setattr(zipped, "FREE_BYTES", 0)
    with pytest.raises(Unreadable, match="kB: more than 0 bytes and 20 times its size"):
        ZipFile(io.BytesIO(packed))


# zstd members, which the standard library cannot write


def zstd_archive(content: bytes, packed: bytes, *, size: int | None = None) -> bytes:
    """A ZIP file of one member, packed as is said and of the size that is said."""
    length = len(content) if size is None else size
    name, crc = b"header.json", zlib.crc32(content)
    local = zips._LOCAL.pack(
        zips.LOCAL, 63, 0, zips.ZSTD, 0, 0, crc, len(packed), length, len(name), 0
    )
    central = zips._CENTRAL.pack(
        *(zips.CENTRAL, 63, 63, 0, zips.ZSTD, 0, 0, crc, len(packed), length, len(name)),
        *(0, 0, 0, 0, 0, 0),
    )
    start = len(local) + len(name) + len(packed)
    end = zips._END.pack(zips.END, 0, 0, 1, 1, len(central) + len(name), start, 0)
    return local + name + packed + central + name + end


def test_a_zstd_member_gives_its_content() -> None:
    content = b"content " * 1_000
    packed = zstandard.ZstdCompressor().compress(content)
    with ZipFile(io.BytesIO(zstd_archive(content, packed))).opened("header.json") as member:
        assert member.read() == content


@pytest.mark.parametrize(
    ("packed", "size", "found"),
    [
        (b"no zstd at all", None, "corrupt data"),
        (zstandard.ZstdCompressor().compress(b"x" * 10)[:-3], None, "0 bytes"),
        (zstandard.ZstdCompressor().compress(b"x" * 10) + b"more", None, "corrupt data"),
        (zstandard.ZstdCompressor().compress(b"x" * 10), 4, "more bytes"),
        (zstandard.ZstdCompressor().compress(b"y" * 10), None, "checksum"),
    ],
)
def test_a_zstd_member_that_breaks_its_word_is_refused(
    packed: bytes, size: int | None, found: str
) -> None:
    archive = ZipFile(io.BytesIO(zstd_archive(b"x" * 10, packed, size=size)))
    with pytest.raises(Unreadable, match=found):
        archive.opened("header.json").read()


def test_a_few_bytes_of_zstd_do_not_become_more_than_they_announce() -> None:
    bomb = zstandard.ZstdCompressor().compress(b"\0" * 50_000_000)
    archive = ZipFile(io.BytesIO(zstd_archive(b"x" * 50_000, bomb)))
    with pytest.raises(Unreadable, match="more bytes"):
        archive.opened("header.json").read()
