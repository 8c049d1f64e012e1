"""Grades a final tree with real tools: three runs of each suite, build, scan, timings and diff."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from examples.sandbox import GRADER, GRADING, WORK, Sandbox

RUNS = 3
SUITES = {"static": "tests", "hidden": "hidden", "invariant": "invariants"}
BENCHMARK = (
    *("-p", "pytest_benchmark.plugin", "--benchmark-json=benchmark.json"),
    # Time of the processor, so that what else runs on the machine counts for less.
    "--benchmark-timer=time.process_time",
)
PYTEST = ("python", "-m", "pytest", "-p", "no:cacheprovider")


@dataclass
class Grades:
    """The files that grading made: (path in the bundle, entry of `match.json`) and contents."""

    built: bool
    files: dict[str, str] = field(default_factory=dict)
    artifacts: list[dict[str, object]] = field(default_factory=list)

    def add(self, path: str, text: str, kind: str, **more: object) -> None:
        self.files[path] = text
        self.artifacts.append({"path": path, "kind": kind, **more})


def package_of(challenge: Path) -> str:
    """The name of the one package in a challenge's tree."""
    (package,) = (path.parent.name for path in challenge.glob("tree/*/__init__.py"))
    return package


def lay(sandbox: Sandbox, challenge: Path) -> None:
    """Lay out a match: the agent's copy under git, and the hidden tests where it must not look."""
    shutil.copytree(challenge / "tree", sandbox.outside(WORK), dirs_exist_ok=True)
    for name in ("hidden", "invariants", "bench"):
        if (challenge / name).exists():
            shutil.copytree(challenge / name, sandbox.outside(GRADER) / name)
    date = {"GIT_AUTHOR_DATE": "2026-11-02T09:00:00Z", "GIT_COMMITTER_DATE": "2026-11-02T09:00:00Z"}
    for command in (
        ["git", "init", "-q", "-b", "main"],
        ["git", "add", "-A"],
        ["git", "commit", "-q", "-m", "Start"],
        ["git", "tag", "start"],
    ):
        sandbox.run(command, cwd=WORK, extra=date).check_returncode()


def grade(sandbox: Sandbox, challenge: Path) -> Grades:
    """Grade the tree as the agent left it, committed or not."""
    shutil.copytree(
        sandbox.outside(WORK),
        sandbox.outside(GRADING),
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns(".git"),
    )
    shutil.copytree(sandbox.outside(GRADER), sandbox.outside(GRADING), dirs_exist_ok=True)
    grades = _build(sandbox, package_of(challenge))
    _diff(sandbox, grades)
    for suite, folder in SUITES.items():
        if (sandbox.outside(GRADING) / folder).exists():
            for run in range(1, RUNS + 1):
                _test(sandbox, grades, suite, folder, run)
    _scan(sandbox, grades, package_of(challenge))
    if grades.built:
        _time(sandbox, grades)
    return grades


def _build(sandbox: Sandbox, package: str) -> Grades:
    compiled = sandbox.run(["python", "-m", "compileall", "-f", package], cwd=GRADING)
    imported = sandbox.run(["python", "-c", f"import {package}"], cwd=GRADING)
    log = (
        f"$ python -m compileall -f {package}\n{compiled.stdout}exit {compiled.returncode}\n"
        f'$ python -c "import {package}"\n{imported.stdout}exit {imported.returncode}\n'
    )
    grades = Grades(built=not (compiled.returncode or imported.returncode))
    grades.add("build.log", log, "log")
    return grades


def _diff(sandbox: Sandbox, grades: Grades) -> None:
    sandbox.run(["git", "add", "-A"], cwd=WORK).check_returncode()
    diff = sandbox.run(["git", "diff", "--cached", "start"], cwd=WORK)
    grades.add("diff.patch", diff.stdout, "diff")


def _test(sandbox: Sandbox, grades: Grades, suite: str, folder: str, run: int) -> None:
    result = f"{suite}-{run}.xml"
    done = sandbox.run(
        [*PYTEST, folder, "-v", "--tb=short", f"--junitxml={result}"],
        cwd=GRADING,
        # A seed a run: what hangs on the order of a set shows as a difference between runs.
        extra={"PYTHONHASHSEED": str(run)},
    )
    log = f"logs/{suite}-{run}.log"
    file = sandbox.outside(GRADING) / result
    if file.exists():  # pytest writes none where it cannot even load the conftest
        grades.add(f"results/{result}", file.read_text(), "tests", suite=suite, run=run, log=log)
    grades.add(log, done.stdout, "log")


def _scan(sandbox: Sandbox, grades: Grades, package: str) -> None:
    command = ["python", "-m", "bandit", "-q", "-r", package, "-f", "sarif", "-o", "scan.sarif"]
    sandbox.run(command, cwd=GRADING)  # exits 1 where it finds something
    grades.add("scan.sarif", (sandbox.outside(GRADING) / "scan.sarif").read_text(), "scan")


def _time(sandbox: Sandbox, grades: Grades) -> None:
    for file in sorted(sandbox.outside(GRADING).glob("bench/bench_*.py")):
        done = sandbox.run([*PYTEST, *BENCHMARK, f"bench/{file.name}"], cwd=GRADING)
        if done.returncode == 0:
            text = (sandbox.outside(GRADING) / "benchmark.json").read_text()
            grades.add("benchmark.json", text, "benchmark")
