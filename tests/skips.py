"""In CI nothing is skipped, but what reads `../shared` where that is not there.

Hooks of pytest, for `conftest.py`. A skipped test is no passed one: a run that skips one fails,
unless "shared" is in its name or reason and there is no such folder.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
SKIPPED = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SKIPPED] = []
    config.pluginmanager.register(Collector(config.stash[SKIPPED]))


class Collector:
    """Writes down what was skipped, tests and whole files alike."""

    def __init__(self, skipped: list[str]) -> None:
        self.skipped = skipped

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.note(report)

    def note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        line = f"{report.nodeid}: {reason}"
        if "shared" not in line or SHARED.exists():
            self.skipped.append(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if forbidden(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if skipped := forbidden(config):
        terminalreporter.section("skipped, which CI does not allow", red=True)
        for line in skipped:
            terminalreporter.line(line)


def forbidden(config: pytest.Config) -> list[str]:
    return config.stash[SKIPPED] if os.environ.get("CI") == "true" else []
