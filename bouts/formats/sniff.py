"""From bytes to a reader: by content, never by extension (FORMATS.md, rule 1).

To add a format, write its reader in a file of its own and add one line to `READERS`.
"""

from __future__ import annotations

from pathlib import Path

from bouts.formats.atif import AtifReader
from bouts.formats.auditd import AuditdReader
from bouts.formats.bandit import BanditReader
from bouts.formats.bencher import BencherReader
from bouts.formats.benchmarkdotnet import BenchmarkDotNetReader
from bouts.formats.claude_code import ClaudeCodeReader
from bouts.formats.claude_stream import ClaudeStreamReader
from bouts.formats.codex_exec import CodexExecReader
from bouts.formats.codex_rollout import CodexRolloutReader
from bouts.formats.criterion import CriterionReader
from bouts.formats.ctrf import CtrfReader
from bouts.formats.diff import DiffReader
from bouts.formats.falco import FalcoReader
from bouts.formats.gemini_cli import GeminiCliReader
from bouts.formats.go_test import GoTestReader
from bouts.formats.google_benchmark import GoogleBenchmarkReader
from bouts.formats.gvisor import GvisorReader
from bouts.formats.harbor_reward import HarborRewardReader
from bouts.formats.harbor_trial import HarborTrialReader
from bouts.formats.hyperfine import HyperfineReader
from bouts.formats.inspect_eval import InspectEvalReader
from bouts.formats.inspect_json import InspectJsonReader
from bouts.formats.iptables import IptablesReader
from bouts.formats.jmh import JmhReader
from bouts.formats.junit import JUnitReader
from bouts.formats.mini_swe_agent import MiniSweAgentReader
from bouts.formats.nunit import NUnitReader
from bouts.formats.openhands import OpenHandsReader
from bouts.formats.openhands_sdk import OpenHandsSdkReader
from bouts.formats.openinference import OpenInferenceReader
from bouts.formats.otel_genai import OtelGenAiReader
from bouts.formats.pytest_benchmark import PytestBenchmarkReader
from bouts.formats.pytest_json_report import PytestJsonReportReader
from bouts.formats.run_log import RunLogReader
from bouts.formats.sarif import SarifReader
from bouts.formats.semgrep import SemgrepReader
from bouts.formats.squid import SquidReader
from bouts.formats.strace import StraceReader
from bouts.formats.swe_agent import SweAgentReader
from bouts.formats.swebench_report import SwebenchReportReader
from bouts.formats.swebench_run import SwebenchRunReader
from bouts.formats.tap import TapReader
from bouts.formats.terminal_bench import TerminalBenchReader
from bouts.formats.tetragon import TetragonReader
from bouts.formats.trivy import TrivyReader
from bouts.formats.trx import TrxReader
from bouts.formats.types import Kind, Reader
from bouts.formats.xunit import XUnitReader

# How much of a file a reader gets to see before it says that the file is its own.
HEAD_BYTES = 64 * 1024

# Of one kind, the more particular format stands first: the first that recognises wins.
READERS: tuple[Reader, ...] = (
    JUnitReader(),
    NUnitReader(),
    XUnitReader(),
    TrxReader(),
    CtrfReader(),
    PytestJsonReportReader(),
    SwebenchRunReader(),
    SwebenchReportReader(),
    TerminalBenchReader(),
    HarborTrialReader(),
    HarborRewardReader(),
    GoTestReader(),
    TapReader(),
    AtifReader(),
    SweAgentReader(),
    MiniSweAgentReader(),
    OpenHandsReader(),
    OpenHandsSdkReader(),
    GeminiCliReader(),
    ClaudeCodeReader(),
    ClaudeStreamReader(),
    CodexExecReader(),
    CodexRolloutReader(),
    InspectEvalReader(),
    InspectJsonReader(),
    OpenInferenceReader(),
    OtelGenAiReader(),
    DiffReader(),
    SarifReader(),
    BanditReader(),
    SemgrepReader(),
    TrivyReader(),
    PytestBenchmarkReader(),
    HyperfineReader(),
    GoogleBenchmarkReader(),
    CriterionReader(),
    BencherReader(),
    JmhReader(),
    BenchmarkDotNetReader(),
    StraceReader(),
    AuditdReader(),
    FalcoReader(),
    TetragonReader(),
    GvisorReader(),
    IptablesReader(),
    SquidReader(),
    RunLogReader(),
)


# What a stored reading is held against: an older version may say something else today.
VERSIONS = {reader.format: reader.version for reader in READERS}


def find_reader(kind: Kind, head: bytes, format: str | None = None) -> Reader | None:
    """Return the reader for an artifact, or None where no reader of its kind knows it.

    ``head`` is the first `HEAD_BYTES` of the file, or all of a smaller one. ``format``
    overrules what is sniffed: that reader is returned whatever the bytes look like.
    """
    of_kind = (reader for reader in READERS if reader.kind == kind)
    if format is not None:
        return next((reader for reader in of_kind if reader.format == format), None)
    return next((reader for reader in of_kind if reader.recognises(head)), None)


def reader_of(file: Path, kind: Kind, format: str | None = None) -> Reader | None:
    """Return what `find_reader` finds for a file."""
    with file.open("rb") as source:
        return find_reader(kind, source.read(HEAD_BYTES), format)
