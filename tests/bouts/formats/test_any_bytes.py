"""Every reader on anything at all: values or a refusal, and never anything else."""

from __future__ import annotations

import io
import json
from typing import Any, BinaryIO

import orjson
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bouts.formats import documents, jsonl, mending, xml
from bouts.formats.guard import ReaderFault
from bouts.formats.sniff import HEAD_BYTES, READERS
from bouts.formats.types import Kind, Reader, Report, Unreadable
from tests.bouts.formats.reading import FIXTURES, call, trajectory

OURS = [reader for reader in READERS if reader.kind is not Kind.LOG]
SAMPLES: dict[str, list[bytes]] = {
    "junit": [
        (FIXTURES / "pytest.xml").read_bytes(),
        b'<testsuite name="s" tests="2" time="1,2"><properties><property name="severity" value="x"/>'
        b'</properties><testcase classname="a" name="b" time="-1" line="x"><flakyFailure message="m">'
        b"<stackTrace>t</stackTrace></flakyFailure></testcase><error/></testsuite>",
    ],
    "nunit": [(FIXTURES / name).read_bytes() for name in ("nunit3.xml", "nunit2.xml")],
    "xunit": [(FIXTURES / name).read_bytes() for name in ("xunit2.xml", "xunit3.xml")],
    "trx": [(FIXTURES / name).read_bytes() for name in ("mstest.trx", "mstest-crashed.trx")],
    "go-test-json": [
        (FIXTURES / f"go-{name}.jsonl").read_bytes()
        for name in ("outcomes", "build-failed", "crash", "exits")
    ],
    "tap": [
        (FIXTURES / f"tap-{name}.tap").read_bytes()
        for name in ("node", "node-tap", "tape", "perl-outcomes", "perl-bail")
    ],
    "atif": [
        trajectory(
            {"source": "user", "message": "go", "timestamp": "2026-01-01T00:00:00Z"},
            call(
                "bash", "1 passed in 0.1s\n[exit code: 0]", command="cd x && echo y > z && pytest"
            ),
            call(
                "apply_patch",
                "ok",
                input="*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch",
            ),
            call(
                "str_replace_editor", "ok", command="insert", path="a", insert_line=1, new_str="b"
            ),
            call("MultiEdit", "ok", file_path="a", edits=[{"old_string": "a", "new_string": "b"}]),
            {"message": '{"commands": [{"keystrokes": "ls\\n"}], "task_complete": true}'},
            {"observation": {"results": [{"subagent_trajectory_ref": [{"trajectory_id": "one"}]}]}},
            extra={"cwd": "/w"},
            subagent_trajectories=[{"trajectory_id": "one", "steps": [{"message": "a"}]}],
        )
    ],
    "swe-agent": [(FIXTURES / "swe-agent.traj").read_bytes()],
    "mini-swe-agent": [
        (FIXTURES / f"mini-{name}.traj.json").read_bytes()
        for name in ("1", "1.15", "2", "2-responses", "bare")
    ],
    "openhands": [(FIXTURES / "openhands.json").read_bytes()],
    "openhands-sdk": [(FIXTURES / "openhands-sdk.jsonl").read_bytes()],
    "gemini-cli": [
        (FIXTURES / f"gemini-cli.{ending}").read_bytes() for ending in ("jsonl", "json")
    ],
    "diff": [
        (FIXTURES / name).read_bytes() for name in ("git.diff", "git-mail.patch", "git-crlf.diff")
    ],
    "sarif": [(FIXTURES / name).read_bytes() for name in ("bandit.sarif", "bandit-broken.sarif")],
    "pytest-benchmark": [(FIXTURES / "benchmark-data.json").read_bytes()],
    **{
        format: [(FIXTURES / name).read_bytes() for name in names]
        for format, names in {
            "claude-code": ("claude-code.jsonl",),
            "claude-stream": ("claude-stream.jsonl",),
            "codex-exec": ("codex-exec.jsonl",),
            "codex-rollout": ("codex-rollout.jsonl",),
            "inspect-eval": ("inspect.eval",),
            "inspect-json": ("inspect.json",),
            "openinference": ("openinference.otlp.json", "openinference.jsonl"),
            "otel-genai": ("genai.otlp.json", "genai-before.otlp.jsonl", "genai.jsonl"),
            "ctrf": ("ctrf-pytest-0.3.json", "ctrf-pytest-rerun.json", "ctrf-jest.json"),
            "pytest-json-report": ("pytest-json-report.json", "pytest-json-report-rerun.json"),
            "swebench-run": ("swebench-run.json",),
            "swebench-report": ("swebench-report.json", "swebench-reports.json"),
            "terminal-bench": ("terminal-bench.json", "terminal-bench-run.json"),
            "harbor-trial": ("harbor-result.json", "harbor-result-timeout.json"),
            "harbor-reward": ("reward.json",),
            "bandit": ("bandit.json",),
            "semgrep": ("semgrep.json",),
            "trivy": ("trivy.json",),
            "hyperfine": ("hyperfine.json", "hyperfine-codes.json"),
            "google-benchmark": ("google-benchmark.json", "google-benchmark-aggregates.json"),
            "criterion": ("criterion-estimates.json", "criterion-sample.json"),
            "bencher": ("criterion-bencher.txt",),
            "jmh": ("jmh.json",),
        }.items()
    },
    # Without what is no JSON: a large file is refused for it.
    "benchmarkdotnet": [(FIXTURES / "benchmarkdotnet.json").read_bytes().replace(b"NaN", b"null")],
    "strace": [
        (FIXTURES / name).read_bytes()
        for name in ("strace-Y-T-yy.log", "strace-r.log", "strace-bare.log", "strace-dirfd.log")
    ],
    "auditd": [(FIXTURES / "auditd.log").read_bytes()],
    "falco": [(FIXTURES / "falco.jsonl").read_bytes()],
    "tetragon": [
        (FIXTURES / "tetragon.jsonl").read_bytes(),
        json.dumps(
            json.loads((FIXTURES / "tetragon.jsonl").read_bytes().split(b"\n")[1]), indent=1
        ).encode(),
    ],
    "gvisor": [(FIXTURES / "gvisor.log").read_bytes()],
    "iptables": [(FIXTURES / "iptables.log").read_bytes()],
    "squid": [(FIXTURES / name).read_bytes() for name in ("squid.log", "squid-combined.log")],
}
quick = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
each_reader = pytest.mark.parametrize("reader", OURS, ids=lambda reader: reader.format)

# Bytes that mean something to one of the formats.
tokens = st.sampled_from(
    [
        *(
            b"\x00",
            b"\xff",
            b"\xfe",
            b"\xed\xa0\x80",
            b"\x1b",
            b"\r",
            b"\n",
            b"\x0b",
            b"\xe2\x80\xa8",
        ),
        *(
            b"<",
            b">",
            b"&",
            b"&#0;",
            b"&#x1b;",
            b"<!DOCTYPE a>",
            b"<![CDATA[",
            b"]]>",
            b"</",
            b"/>",
        ),
        *(
            b"{",
            b"}",
            b"[",
            b"]",
            b'"',
            b"\\",
            b"\\u0000",
            b"\\ud800",
            b",",
            b":",
            b"null",
            b"NaN",
            b"1e999",
        ),
        *(
            b"-1",
            b"0",
            b"99999999999999999999999",
            b"--- a/x\n+++ b/x\n",
            b"@@ -1,9 +0,0 @@\n",
            b"diff --git ",
        ),
        *(
            b"rename from ",
            b"GIT binary patch\n",
            b"\\ No newline",
            b"openat(",
            b") = 3",
            b" <unfinished ...>",
        ),
        *(
            b"ok 1",
            b"\nnot ok ",
            b" # TODO",
            b"1..3\n",
            b"    ",
            b"  ---\n",
            b"\nBail out!",
            b" {\n",
        ),
        *(
            b'"Action":"',
            b"run",
            b"pass",
            b"fail",
            b"--- PASS: ",
            b"outcome=",
            b"result=",
            b"name=",
        ),
        *(b"<... openat resumed>", b"12:00:00 ", b"[pid 1] ", b"1.5 ", b'"/a"', b"clone(", b" = 2"),
    ]
)


def outcome(reader: Reader, source: BinaryIO) -> str:
    """Read to the end; return the refusal or '' and check that all of it can be stored."""
    report = Report()
    try:
        for value in reader.read(source, report):
            assert_storable(value)
    except ReaderFault as fault:
        raise AssertionError("a reader failed") from fault.__cause__
    except Unreadable as refusal:
        assert_storable([refusal.reason, refusal.place])
        assert len(refusal.reason) < 1000
        return refusal.reason
    assert_storable([report.counts, report.facts, report.notes])
    assert all(len(note.text) < 1000 for note in report.notes)
    return ""


def assert_storable(value: Any) -> None:
    """Check that PostgreSQL takes all of the text in it: no lone surrogate and no NUL."""
    waiting = [orjson.loads(orjson.dumps(value))]  # which refuses lone surrogates
    while waiting:
        match waiting.pop():
            case str() as text:
                assert "\0" not in text
            case list() as items:
                waiting.extend(items)
            case dict() as fields:
                waiting.extend([*fields, *fields.values()])


@each_reader
@given(data=st.binary(max_size=300) | st.lists(tokens, max_size=60).map(b"".join))
@quick
def test_any_bytes_are_values_or_a_refusal(reader: Reader, data: bytes) -> None:
    reader.recognises(data[:HEAD_BYTES])
    outcome(reader, io.BytesIO(data))


@each_reader
@given(data=st.data())
@quick
def test_a_damaged_file_is_values_or_a_refusal(reader: Reader, data: st.DataObject) -> None:
    content = bytearray(data.draw(st.sampled_from(SAMPLES[reader.format])))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content)))
        length = data.draw(st.sampled_from([0, 1, 2, 5, 40, 400]))
        content[at : at + length] = data.draw(
            tokens | st.just(b"") | st.just(bytes(content[at : at + 200]))
        )
    reader.recognises(bytes(content[:HEAD_BYTES]))
    outcome(reader, io.BytesIO(bytes(content)))


@each_reader
@given(data=st.data())
@quick
def test_a_file_that_is_cut_short_is_values_or_a_refusal(
    reader: Reader, data: st.DataObject
) -> None:
    content = data.draw(st.sampled_from(SAMPLES[reader.format]))
    outcome(reader, io.BytesIO(content[: data.draw(st.integers(0, len(content)))]))


odd_values = st.recursive(
    st.sampled_from([None, True, False, 0, -1, 1.5, 2**63, "", "x", "\0", "a" * 300, [], {}]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=5,
)


def paths_into(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(found for key, child in inner for found in paths_into(child, (*path, key)))]


def documents_in(content: bytes) -> list[Any]:
    """Return the document that a file is, or those on its lines; none where it is no JSON."""
    try:
        return [json.loads(content)]
    except ValueError:
        lines = content.splitlines() if content.startswith(b"{") else []
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "reader",
    [reader for reader in OURS if documents_in(SAMPLES[reader.format][0])],
    ids=lambda reader: reader.format,
)
@given(data=st.data())
@quick
def test_a_document_with_something_odd_in_any_place_is_values_or_a_refusal(
    reader: Reader, streamed: bool, data: st.DataObject
) -> None:
    document = documents_in(data.draw(st.sampled_from(SAMPLES[reader.format])))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(paths_into(document)))
        assume(len(path) > 1)
        holder: Any = document
        for step in path[:-1]:
            holder = holder[step]
        if data.draw(st.booleans()) or isinstance(holder, list):
            holder[path[-1]] = data.draw(odd_values)
        else:
            del holder[path[-1]]
    content = "\n".join(map(json.dumps, document)).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "WHOLE_LIMIT", 0 if streamed else jsonl.WHOLE_LIMIT)
        patch.setattr(documents, "WHOLE_LIMIT", 0 if streamed else documents.WHOLE_LIMIT)
        outcome(reader, io.BytesIO(content))


@each_reader
def test_blocks_may_end_anywhere(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    for content in SAMPLES[reader.format]:
        whole = list(reader.read(io.BytesIO(content), Report()))
        with monkeypatch.context() as patch:
            patch.setattr(mending, "BLOCK", 7)
            patch.setattr(xml, "BLOCK", 5)
            patch.setattr(documents, "WHOLE_LIMIT", 0)
            patch.setattr(jsonl, "WHOLE_LIMIT", 0)
            assert list(reader.read(io.BytesIO(content), Report())) == whole


@each_reader
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 100_000,
        b"\xff" * 100_000,
        b"x" * 5_000_000,
        b"\xff\xfe" + "<a/>".encode("utf-16-le") * 1000,
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b"<a>" * 100_000,
        b'"' + b"\\" * 300_000,
        b"&#0;" * 50_000,
        b"- " * 100_000 + b"\n",
    ],
    ids=lambda content: repr(content[:8]),
)
def test_crude_hostility_is_refused(reader: Reader, content: bytes) -> None:
    assert outcome(reader, io.BytesIO(content)) or (reader.format == "diff" and content == b"")
