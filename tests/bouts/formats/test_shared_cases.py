"""Real files of strangers: what each reader must make of them, worked out by hand.

The files are never part of this project; they lie in ``../shared/cases`` or where
``BOUTS_CASES`` says, and what is not there is skipped.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bouts.evidence import JsonPlace
from bouts.formats.pointers import values_at
from bouts.formats.sniff import HEAD_BYTES, READERS, find_reader
from bouts.formats.types import Clock, Kind, Unreadable
from tests.bouts.formats.reading import notes, read

CASES = Path(
    os.environ.get("BOUTS_CASES") or Path(__file__).resolve().parents[3].parent / "shared" / "cases"
)


@dataclass(frozen=True)
class Case:
    """What is expected of one file: its format, counts and notes, or a refusal."""

    path: str
    kind: Kind
    format: str | None
    counts: dict[str, int] = field(default_factory=dict)
    noted: tuple[str, ...] = ()  # parts of notes; none at all means that nothing is noted
    refused: str | None = None


def graded(path: str, format: str, *counts: int, noted: tuple[str, ...] = (), **more: int) -> Case:
    """A file of tests by its cases, passed, failed, errored and skipped."""
    names = ("cases", "passed", "failed", "errored", "skipped")
    return Case(path, Kind.TESTS, format, dict(zip(names, counts, strict=True)) | more, noted)


def junit(name: str, *counts: int, noted: tuple[str, ...] = (), **more: int) -> Case:
    return graded(f"junit/{name}", "junit", *counts, noted=noted, **more)


def telemetry(path: str, format: str, noted: tuple[str, ...] = (), **counts: int) -> Case:
    return Case(path, Kind.TELEMETRY, format, counts, noted)


def dotnet(name: str, format: str, *counts: int) -> Case:
    return graded(f"nunit_xunit_trx/{name}", format, *counts)


def go(name: str, *counts: int, noted: tuple[str, ...] = (), **more: int) -> Case:
    """A file of go test -json by its packages' ends, its tests, passed and failed."""
    names = ("packages", "cases", "passed", "failed")
    expected = dict(zip(names, counts, strict=True))
    return Case(f"go_test_json/{name}", Kind.TESTS, "go-test-json", expected | more, noted)


def change(name: str, **counts: int) -> Case:
    return Case(f"diff/{name}", Kind.DIFF, "diff", counts)


def scan(path: str, format: str, *counts: int, noted: tuple[str, ...] = ()) -> Case:
    """A scan by its results, live, suppressed and critical ones."""
    names = ("results", "live", "suppressed", "critical")
    return Case(path, Kind.SCAN, format, dict(zip(names, counts, strict=True)), noted)


def sarif(name: str, *counts: int, noted: tuple[str, ...] = ()) -> Case:
    return scan(f"sarif/{name}", "sarif", *counts, noted=noted)


def speed(
    name: str, format: str, benchmarks: int, timings: int, noted: tuple[str, ...] = (), **more: int
) -> Case:
    counts = {"benchmarks": benchmarks, "timings": timings}
    return Case(f"bench/{name}", Kind.BENCHMARK, format, counts | more, noted)


DISAGREES = "own numbers differ"
TABLE = [
    junit("disabled.xml", 31, 6, 19, 1, 5),
    junit("empty_failures.xml", 3, 2, 1, 0, 0),
    # The header claims 59 tests, and an error of a package that has no case.
    junit("gotestsum_report.xml", 60, 42, 13, 0, 5, noted=(DISAGREES, DISAGREES)),
    junit("jenkins_20090516.xml", 8, 5, 0, 3, 0),
    junit("jest_junit.xml", 6, 1, 4, 0, 1),
    junit("nested_testsuite.xml", 5, 5, 0, 0, 0),
    junit("nextest_basic.xml", 3, 2, 1, 0, 0),
    junit("no_attributes.xml", 4, 1, 1, 1, 1, noted=("without a name (4 times)",)),
    junit("phpunit.xml", 12, 10, 2, 0, 0),
    junit("pytest_fail.xml", 5, 3, 1, 0, 1),
    junit("surefire_email.xml", 9, 2, 2, 5, 0),
    # Two attempts failed before the third passed: the first counts.
    junit("surefire_flaky_gh237.xml", 1, 0, 1, 0, 0, noted=(DISAGREES,), flaky=1),
    junit("unittest_xmlrunner.xml", 8, 4, 1, 1, 2),
    junit("unsupported_unicode.xml", 7, 1, 2, 2, 2),
    junit("various_timestamps.xml", 12, 12, 0, 0, 0, noted=(DISAGREES,)),
    Case("junit/pytest_truncated.xml", Kind.TESTS, "junit", refused="ends early, inside <skipped>"),
    Case("junit/xxe.xml", Kind.TESTS, None),
    # Five passed, three of them only after a retry; one is pending and one is "other".
    graded(
        "ctrf/js_ctrf_report.json",
        "ctrf",
        *(10, 2, 5, 1, 2),
        noted=("neither passed nor failed nor was skipped",),
        flaky=3,
    ),
    graded("ctrf/spec_with_retries.json", "ctrf", 2, 1, 1, 0, 0, flaky=1),
    # An expected failure is skipped, one that passed is passed.
    graded("pytest_json_report/sample_report.json", "pytest-json-report", 10, 3, 3, 2, 2),
    graded("swebench/report_astropy__astropy-12907.json", "swebench-report", 15, 15, 0, 0, 0),
    graded("swebench/report_astropy__astropy-14309.json", "swebench-report", 142, 142, 0, 0, 0),
    # What was submitted, and what the container printed: neither is a result.
    Case("swebench/mini_results.json", Kind.TESTS, None),
    Case("swebench/django-10924.eval.log", Kind.TESTS, None),
    dotnet("nunit_correct3.xml", "nunit", 22, 22, 0, 0, 0),
    Case(
        "nunit_xunit_trx/nunit_sec1752_file.xml",
        Kind.TESTS,
        "nunit",
        refused="declares a document type or entities",
    ),
    dotnet("xunit_fixie.xml", "xunit", 7, 3, 3, 0, 1),
    dotnet("xunit_netcore31.trx", "trx", 6, 2, 3, 0, 1),
    # A first run of six tests, of which three fail; then those alone, three, two and one of them.
    go("go-test-json-flaky-rerun.out", 4, 12, 6, 6, noted=("id that occurred before",), repeated=6),
    go("go-test-json-with-nonjson-stdout.out", 1, 1, 1, 0, noted=("no JSON object",)),
    # Four pass; three fail, and one with its four subtests.
    go("go-test-json-with-parallel-fails.out", 1, 12, 4, 8),
    # 22 subtests in one, of 3+3+2+2+3+3+2+2+2+3+2+2+2+2+2+2+2+2+2+2+2+1 checks.
    Case(
        "tap/subtest_sample.tap",
        Kind.TESTS,
        "tap",
        {"subtests": 23, "cases": 48, "passed": 48},
        ("a description that stands twice gets a number",),
    ),
    Case(
        "atif/openhands_hello-world.trajectory.json",
        Kind.TELEMETRY,
        "atif",
        {"steps": 6, "events": 6, "start": 1, "message": 3, "edit": 1, "submit": 1},
    ),
    Case(
        "atif/terminus_2_hello-world-context-summarization-linear-history.trajectory.json",
        Kind.TELEMETRY,
        "atif",
        {
            **{"steps": 5, "events": 5, "start": 1, "run": 1, "edit": 2, "message": 1},
            "subagent_references": 3,
        },
        (
            *("goes on in another file", "read from the JSON of messages"),
            "a subagent's trajectory is in another file",
        ),
    ),
    Case(
        "atif/terminus_2_hello-world-context-summarization-linear-history.trajectory.cont-1.json",
        Kind.TELEMETRY,
        "atif",
        {"steps": 8, "copied_steps": 4, "events": 4, "edit": 1, "read": 1, "submit": 2},
        ("read from the JSON of messages",),
    ),
    telemetry(
        "swe_agent_traj/swe_agent_test_repo.traj",
        "swe-agent",
        ("clock: none",),
        **{"steps": 5, "events": 6, "start": 1, "search": 1, "read": 1, "edit": 1, "run": 1},
        submit=1,
    ),
    # Its first edit was refused by the linter; `rm` of a script that was written is an edit.
    telemetry(
        "swe_agent_traj/marshmallow_function_calling_replace.traj",
        "swe-agent",
        ("clock: none",),
        **{"steps": 11, "events": 12, "start": 1, "search": 2, "read": 1, "edit": 5, "run": 2},
        submit=1,
    ),
    # 28 turns, of which two held several commands and were not run; one removes three files.
    telemetry(
        "mini_swe_agent/django-13590.traj.json",
        "mini-swe-agent",
        ("whole seconds", "parsed from text: 2 runs", "the task has no time"),
        **{"messages": 58, "left_out": 2, "events": 32, "message": 4, "read": 3, "search": 5},
        **{"edit": 8, "test": 4, "run": 7, "submit": 1},
    ),
    telemetry(
        "mini_swe_agent/local.traj.json",
        "mini-swe-agent",
        ("a bare list of messages",),
        **{"messages": 6, "events": 4, "start": 1, "message": 1, "run": 1, "submit": 1},
    ),
    telemetry(
        "openhands/basic_gui_mode.json",
        "openhands",
        **{"records": 18, "bookkeeping": 8, "events": 6, "start": 1, "message": 1, "edit": 2},
        run=2,
    ),
    # The action that line 7 answers is cut out of the file.
    telemetry(
        "openhands/sdk_v1_events.jsonl",
        "openhands-sdk",
        ("of an action that is not in the file",),
        **{"records": 10, "bookkeeping": 5, "events": 2, "run": 2},
    ),
    # The call and its result are records of their own, without ids.
    telemetry(
        "claude_code/claude_schema_drift.jsonl",
        "claude-code",
        **{"records": 10, "messages": 5, "events": 4, "start": 1, "message": 2, "read": 1},
    ),
    telemetry(
        "claude_code/representative_messages.jsonl",
        "claude-code",
        **{"records": 12, "messages": 11, "events": 9, "start": 1, "message": 6, "edit": 1},
        run=1,
    ),
    # One run of the tests printed how many passed, the other a failure without a sum.
    telemetry(
        "claude_code/sample_session.json",
        "claude-code",
        ("parsed from text: 1 run",),
        **{"records": 33, "messages": 33, "events": 21, "start": 1, "message": 8, "plan": 1},
        **{"search": 2, "edit": 4, "test": 2, "run": 1, "checkpoint": 2},
    ),
    telemetry("codex/codex_051_usage.jsonl", "codex-rollout", records=3, events=2, submit=2),
    telemetry(
        "codex/codex_exec_stream_4.jsonl",
        "codex-exec",
        ("clock: none",),
        **{"records": 8, "items": 4, "events": 3, "read": 1, "message": 1, "submit": 1},
    ),
    # A record of each sort that there is, most with one and the same made-up id.
    telemetry(
        "codex/codex_stage0_small.jsonl",
        "codex-rollout",
        (
            *("fabricated clock: all 18", "39 time stamps cannot be read", "forked from another"),
            *("a turn was aborted", "names no call before it (2 times)", "ended in an error"),
            "an error is reported",
        ),
        **{"records": 118, "repeated": 2, "snapshots": 1, "events": 19, "start": 1, "message": 6},
        **{"plan": 1, "search": 6, "edit": 1, "run": 2, "submit": 2},
    ),
    # Ten questions that were asked all at once, so that no time can be told.
    telemetry(
        "inspect/2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval",
        "inspect-eval",
        ("fabricated clock", "10 samples"),
        **{"samples": 10, "events": 20, "start": 10, "message": 10},
    ),
    telemetry(
        "inspect/log_streaming.eval",
        "inspect-eval",
        ("fabricated clock", "4 samples"),
        **{"samples": 4, "events": 8, "start": 4, "message": 4},
    ),
    # It has no events, and of its messages only what eleven calls gave back: errors.
    telemetry(
        "inspect/log_tool_call_error.json",
        "inspect-json",
        ("names no call before it (11 times)",),
        **{"samples": 1, "events": 12, "start": 1, "run": 11},
    ),
    # The agent's 631 tokens are those of its one call of a model that tells any.
    telemetry(
        "otel_genai/langfuse_microsoft_agent.json",
        "otel-genai",
        **{"spans": 4, "agents": 1, "sums_left_out": 1, "events": 4, "start": 1, "message": 2},
        read=1,
    ),
    Case(
        "otel_genai/otlp_trace_example.json",
        Kind.TELEMETRY,
        "otel-genai",
        refused="no span in it is of an agent",
    ),
    change("gitdiff_new_binary_file.patch", files=1, files_added=1, added=0, removed=0, binary=1),
    change("gitdiff_rename_modify.patch", files=1, files_renamed=1, added=2, removed=1),
    change("gitdiff_two_files.patch", files=2, files_modified=2, added=12, removed=8),
    change("sweagent_pydicom_1458.patch", files=1, files_modified=1, added=3, removed=2),
    change("unidiff_binary.diff", files=1, files_added=1, added=0, removed=0, binary=1),
    change("unidiff_git_delete.diff", files=1, files_deleted=1, added=0, removed=10),
    change("unidiff_git_rename.diff", files=3, files_renamed=3, added=2, removed=2),
    change(
        "unidiff_sample8.diff", files=5, files_added=3, files_modified=1, files_deleted=1, binary=3
    ),
    change(
        "unidiff_svn.diff",
        files=3,
        files_added=1,
        files_modified=1,
        files_deleted=1,
        added=7,
        removed=4,
    ),
    change("wtp_diff-unified-bad.diff", files=1, files_modified=1, added=5, removed=3),
    change("wtp_embedded-diff.comment", files=1, files_modified=1, added=3, removed=0),
    sarif("appendix_k4.sarif", 1, 0, 1, 0, noted=("tells of an error",)),
    sarif("bash-report.sarif", 27, 27, 0, 0),
    sarif("codeql_valid.sarif", 3, 3, 0, 0),
    sarif("dockle_0_3_15.sarif", 4, 4, 0, 0),
    sarif("taint-python-report.sarif", 11, 11, 0, 1),
    Case("sarif/no_runs.sarif", Kind.SCAN, "sarif", refused="no runs in it"),
    scan("bandit/bandit_dd.json", "bandit", 47, 47, 0, 0),
    scan("semgrep_trivy_native/semgrep_many.json", "semgrep", 48, 48, 0, 0),
    speed("pytest_output.json", "pytest-benchmark", 2, 0, ("raw timings that are no numbers",)),
    speed("hyperfine_big_calc.json", "hyperfine", 4, 40),
    speed("gbench_googlecpp_output.json", "google-benchmark", 2, 2),
    # Besides fourteen benchmarks, a BigO and its RMS.
    speed("gbench_test1_run1.json", "google-benchmark", 14, 14, aggregates=2),
    speed("criterion_estimates.json", "criterion", 1, 0, ("does not name its benchmark",)),
    speed("criterion_sample.json", "criterion", 1, 100, ("does not name its benchmark",)),
    speed("criterion_output.txt", "bencher", 4, 0),
    Case(
        "sandbox/strace_log.1",
        Kind.SANDBOX,
        "strace",
        {"lines": 66, "accesses": 5, "exec": 1, "read": 2, "write": 2, "allowed": 4, "neither": 1},
    ),
    # Three execs without PATH records: the program is what SYSCALL names.
    Case(
        "sandbox/audit_exec_from_net.log",
        Kind.SANDBOX,
        "auditd",
        {"lines": 3, "events": 3, "accesses": 3, "exec": 3, "allowed": 3},
    ),
    # sudo and three programs in 12 events; the others are logins, accounts and a write.
    Case(
        "sandbox/audit_enriched.log",
        Kind.SANDBOX,
        "auditd",
        {"lines": 29, "events": 12, "accesses": 4, "exec": 4, "allowed": 4},
    ),
    # Two connections that were answered, and two names asked for, each with A and AAAA.
    Case(
        "sandbox/gvisor_wget.log",
        Kind.SANDBOX,
        "gvisor",
        {"lines": 47, "accesses": 6, "connect": 2, "send": 4, "allowed": 6},
    ),
    # A scan of ports from outside; the rule of the last 16 says BLOCK, that of the others nothing.
    Case(
        "sandbox/iptables_scan.log",
        Kind.SANDBOX,
        "iptables",
        {"lines": 49, "accesses": 49, "receive": 49, "refused": 16, "neither": 33},
    ),
    Case(
        "sandbox/tetragon_cat_kprobe.json",
        Kind.SANDBOX,
        "tetragon",
        {"lines": 1, "accesses": 1, "read": 1, "allowed": 1},
        ("without its first slash is given one",),
    ),
    Case(
        "sandbox/tetragon_nc_connect.json",
        Kind.SANDBOX,
        "tetragon",
        {"lines": 1, "accesses": 1, "connect": 1, "neither": 1},
    ),
]


# Of these the folder has no file: our own fixtures have to do.
WITHOUT_A_CASE = {
    *("claude-stream", "gemini-cli", "openinference"),
    *("benchmarkdotnet", "harbor-reward", "harbor-trial", "jmh"),
    *("swebench-run", "terminal-bench", "trivy"),
    *("falco", "squid"),
}


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.path)
def test_a_real_file_is_read_as_it_should_be(case: Case) -> None:
    file = CASES / case.path
    if not file.exists():
        pytest.skip(f"{case.path} is not there")
    reader = find_reader(case.kind, file.read_bytes()[:HEAD_BYTES])
    assert (reader and reader.format) == case.format
    if reader is None:
        return
    if case.refused:
        with pytest.raises(Unreadable, match=case.refused):
            read(reader, file)
        return
    _, report = read(reader, file)
    assert {name: report.counts.get(name, 0) for name in case.counts} == case.counts
    assert len(report.notes) == len(case.noted), notes(report)
    for note, expected in zip(report.notes, case.noted, strict=True):
        assert expected in note.text


def test_every_format_has_a_real_file_in_the_table() -> None:
    formats = {reader.format for reader in READERS if reader.kind is not Kind.LOG}
    assert {case.format for case in TABLE if case.format} == formats - WITHOUT_A_CASE


def test_no_harbor_sample_has_a_clock() -> None:
    files = sorted((CASES / "atif").glob("*.json"))
    if not files:
        pytest.skip("the ATIF cases are not there")
    for file in files:
        reader = find_reader(Kind.TELEMETRY, file.read_bytes())
        assert reader is not None
        events, report = read(reader, file)
        assert report.clock is Clock.NONE
        assert {event.t for event in events} == {None}


@pytest.mark.parametrize(
    ("path", "clock", "times"),
    [
        ("swe_agent_traj/swe_agent_test_repo.traj", Clock.NONE, {None}),
        ("mini_swe_agent/local.traj.json", Clock.NONE, {None}),
        # The provider's stamps: the first call at 1763510436, the last at 1763510752.
        ("mini_swe_agent/django-13590.traj.json", Clock.ZONED, {None, 0.0, 316.0}),
        # The call of 10:03:00 in a session that began at 10:00:00.
        ("claude_code/representative_messages.jsonl", Clock.ZONED, {0.0, 180.0}),
        ("codex/codex_051_usage.jsonl", Clock.ZONED, {0.0, 10.0}),
        ("codex/codex_exec_stream_4.jsonl", Clock.NONE, {None}),
        ("codex/codex_stage0_small.jsonl", Clock.NONE, {None}),
        ("inspect/log_streaming.eval", Clock.NONE, {None}),
        # The tool began at 16:44:35.938, the agent at 16:44:29.952.
        ("otel_genai/langfuse_microsoft_agent.json", Clock.ZONED, {0.0, 5.986}),
        # From the first record on, 20:29:13.519638; the last word was said at 20:30:35.414886.
        ("openhands/basic_gui_mode.json", Clock.NAIVE, {81.895248}),
        # From 05:39:18.809928; the second call was made at 05:40:00.385957.
        ("openhands/sdk_v1_events.jsonl", Clock.NAIVE, {29.891319, 41.576029}),
    ],
)
def test_the_clock_of_a_real_trajectory_is_as_good_as_it_is(
    path: str, clock: Clock, times: set[float | None]
) -> None:
    file = CASES / path
    if not file.exists():
        pytest.skip(f"{path} is not there")
    reader = find_reader(Kind.TELEMETRY, file.read_bytes()[:HEAD_BYTES])
    assert reader is not None
    events, report = read(reader, file)
    assert report.clock is clock
    assert times <= {event.t for event in events}


def test_every_event_of_a_real_trajectory_points_at_its_record() -> None:
    of_kind = [case for case in TABLE if case.kind is Kind.TELEMETRY and case.format]
    paths = [case.path for case in of_kind if not case.refused]
    files = [CASES / path for path in paths if (CASES / path).exists()]
    if not files:
        pytest.skip("the cases are not there")
    for file in files:
        data = file.read_bytes()
        reader = find_reader(Kind.TELEMETRY, data[:HEAD_BYTES])
        assert reader is not None
        pointers = {JsonPlace(event.raw or "").tokens for event in read(reader, data)[0]}
        assert values_at(io.BytesIO(data), pointers).keys() == pointers, file


def test_every_real_file_is_claimed_by_one_reader_of_its_kind_at_most() -> None:
    if not CASES.exists():
        pytest.skip("the cases are not there")
    claimed = {(case.path, case.kind): case.format for case in TABLE}
    for file in (
        file for folder in CASES.iterdir() if folder.is_dir() for file in folder.iterdir()
    ):
        head = file.read_bytes()[:HEAD_BYTES]
        path = f"{file.parent.name}/{file.name}"
        for kind in {reader.kind for reader in READERS} - {Kind.LOG}:
            of_kind = [reader for reader in READERS if reader.kind is kind]
            formats = [reader.format for reader in of_kind if reader.recognises(head)]
            expected = claimed.get((path, kind))
            if (path, kind) in claimed:
                assert formats == ([expected] if expected else []), path
            else:
                assert len(formats) < 2, (path, formats)
