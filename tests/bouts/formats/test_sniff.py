"""From bytes to a reader: by content, and never by anything else."""

from __future__ import annotations

import pytest

from bouts.formats.sniff import HEAD_BYTES, READERS, find_reader
from bouts.formats.types import Kind
from tests.bouts.formats.reading import FIXTURES, trajectory

SAMPLES = {
    "junit": (FIXTURES / "pytest.xml").read_bytes(),
    "nunit": (FIXTURES / "nunit3.xml").read_bytes(),
    "xunit": (FIXTURES / "xunit2.xml").read_bytes(),
    "trx": (FIXTURES / "mstest.trx").read_bytes(),
    "go-test-json": (FIXTURES / "go-outcomes.jsonl").read_bytes(),
    "tap": (FIXTURES / "tap-node.tap").read_bytes(),
    "atif": trajectory({"message": "hello"}),
    "swe-agent": (FIXTURES / "swe-agent.traj").read_bytes(),
    "mini-swe-agent": (FIXTURES / "mini-2.traj.json").read_bytes(),
    "openhands": (FIXTURES / "openhands.json").read_bytes(),
    "openhands-sdk": (FIXTURES / "openhands-sdk.jsonl").read_bytes(),
    "gemini-cli": (FIXTURES / "gemini-cli.jsonl").read_bytes(),
    "diff": (FIXTURES / "git.diff").read_bytes(),
    "sarif": (FIXTURES / "bandit.sarif").read_bytes(),
    "pytest-benchmark": (FIXTURES / "benchmark.json").read_bytes(),
    **{
        format: (FIXTURES / name).read_bytes()
        for format, name in {
            "claude-code": "claude-code.jsonl",
            "claude-stream": "claude-stream.jsonl",
            "codex-exec": "codex-exec.jsonl",
            "codex-rollout": "codex-rollout.jsonl",
            "inspect-eval": "inspect.eval",
            "inspect-json": "inspect.json",
            "openinference": "openinference.otlp.json",
            "otel-genai": "genai.otlp.json",
            "ctrf": "ctrf-pytest.json",
            "pytest-json-report": "pytest-json-report.json",
            "swebench-run": "swebench-run.json",
            "swebench-report": "swebench-reports.json",
            "terminal-bench": "terminal-bench-run.json",
            "harbor-trial": "harbor-result.json",
            "harbor-reward": "reward.json",
            "bandit": "bandit.json",
            "semgrep": "semgrep.json",
            "trivy": "trivy.json",
            "hyperfine": "hyperfine.json",
            "google-benchmark": "google-benchmark.json",
            "criterion": "criterion-sample.json",
            "bencher": "criterion-bencher.txt",
            "jmh": "jmh.json",
            "benchmarkdotnet": "benchmarkdotnet.json",
        }.items()
    },
    "strace": (FIXTURES / "strace-ttt-y.log").read_bytes(),
    "auditd": (FIXTURES / "auditd.log").read_bytes(),
    "falco": (FIXTURES / "falco.jsonl").read_bytes(),
    "tetragon": (FIXTURES / "tetragon.jsonl").read_bytes(),
    "gvisor": (FIXTURES / "gvisor.log").read_bytes(),
    "iptables": (FIXTURES / "iptables.log").read_bytes(),
    "squid": (FIXTURES / "squid.log").read_bytes(),
    "log": b"whatever\n",
}


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.format)
def test_each_format_is_recognised_by_its_content(reader) -> None:
    assert find_reader(reader.kind, SAMPLES[reader.format][:HEAD_BYTES]) is reader


@pytest.mark.parametrize("format", SAMPLES)
def test_content_of_another_kind_is_not_recognised(format: str) -> None:
    for reader in READERS:
        if reader.kind is not Kind.LOG and reader.format != format:
            assert not reader.recognises(SAMPLES[format][:HEAD_BYTES]), reader.format


FIXTURES_OF_TESTS = {
    "junit": ("pytest.xml", "junit-*.xml"),
    "nunit": ("nunit*.xml",),
    "xunit": ("xunit*.xml",),
    "trx": ("*.trx",),
    "go-test-json": ("go-*.jsonl",),
    "tap": ("*.tap",),
}


@pytest.mark.parametrize("format", FIXTURES_OF_TESTS)
def test_a_file_of_test_results_is_claimed_by_its_own_reader_alone(format: str) -> None:
    files = [file for glob in FIXTURES_OF_TESTS[format] for file in FIXTURES.glob(glob)]
    assert files
    for file in files:
        head = file.read_bytes()[:HEAD_BYTES]
        claimed = [reader.format for reader in READERS if reader.recognises(head)]
        assert [name for name in claimed if name != "log"] == [format], file


def test_a_plan_of_tap_alone_is_no_reward() -> None:
    claimed = [reader.format for reader in READERS if reader.recognises(b"1..4\n")]
    assert claimed == ["tap", "log"]


def test_no_reader_of_test_results_claims_any_other_fixture() -> None:
    own = {
        file
        for globs in FIXTURES_OF_TESTS.values()
        for glob in globs
        for file in FIXTURES.glob(glob)
    }
    others = [file for file in FIXTURES.iterdir() if file.is_file() and file not in own]
    assert others
    for file in others:
        head = file.read_bytes()[:HEAD_BYTES]
        for reader in READERS:
            if reader.format in FIXTURES_OF_TESTS:
                assert not reader.recognises(head), (file, reader.format)


@pytest.mark.parametrize(
    "head", [b"", b"\0" * 1000, b"\xff\xfe<\0", b"<", b"{", b"[[[[", b'{"runs']
)
def test_content_that_says_nothing_is_recognised_by_nobody_but_as_an_empty_diff(
    head: bytes,
) -> None:
    for reader in READERS:
        if reader.kind not in {Kind.LOG, Kind.DIFF}:
            assert not reader.recognises(head)
    assert (find_reader(Kind.DIFF, head) is not None) is (head == b"")


def test_every_fixture_is_claimed_by_one_reader_of_all_at_most() -> None:
    for fixture in FIXTURES.iterdir():
        if fixture.is_file() and fixture.suffix not in {".py", ".md", ".numstat"}:
            head = fixture.read_bytes()[:HEAD_BYTES]
            claims = [r.format for r in READERS if r.kind is not Kind.LOG and r.recognises(head)]
            assert len(claims) <= 1, (fixture.name, claims)
            assert claims or fixture.suffix == ".txt", fixture.name


def test_a_stated_format_overrules_the_content() -> None:
    reader = find_reader(Kind.TESTS, SAMPLES["diff"], "junit")
    assert reader is not None
    assert reader.format == "junit"


def test_a_stated_format_of_another_kind_or_name_is_no_reader() -> None:
    assert find_reader(Kind.TESTS, SAMPLES["junit"], "diff") is None
    assert find_reader(Kind.TESTS, SAMPLES["junit"], "no such format") is None


def test_formats_are_named_once_in_each_kind() -> None:
    names = [(reader.kind, reader.format) for reader in READERS]
    assert len(set(names)) == len(names)


def test_a_byte_order_mark_and_utf_16_do_not_hide_a_format() -> None:
    text = SAMPLES["sarif"].decode()
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert find_reader(Kind.SCAN, text.encode(encoding)[:HEAD_BYTES]) is not None
    xml = '<?xml version="1.0" encoding="utf-16"?><testsuites/>'
    assert find_reader(Kind.TESTS, xml.encode("utf-16")) is not None


def test_a_document_type_does_not_hide_the_root_that_is_then_refused() -> None:
    xml = b'<!-- <a> --><!DOCTYPE x [<!ENTITY a "<testsuite>">]>\n<testsuites/>'
    assert find_reader(Kind.TESTS, xml) is not None


def test_a_head_that_is_cut_anywhere_does_no_harm() -> None:
    for format, sample in SAMPLES.items():
        reader = next(reader for reader in READERS if reader.format == format)
        for length in range(0, min(len(sample), 3000), 37):
            reader.recognises(sample[:length])


def test_many_comments_before_no_root_take_no_time() -> None:
    head = b"<!-- a -->" * (HEAD_BYTES // 10)
    assert find_reader(Kind.TESTS, head) is None
