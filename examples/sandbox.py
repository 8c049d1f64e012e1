"""Where agents and graders work: a place without a network, the same for every match.

Linux namespaces give each run its own empty network, its own host name and its own `/tmp`,
so that what a bundle quotes holds no path, name or address of the machine that made it, and
runs side by side never meet.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

TMP = Path("/tmp")  # every run sees its own folder here
BASE = TMP / "bouts-examples"
WORK = BASE / "work"  # the agent's copy of the tree
OUTBOX = BASE / "outbox"  # what the agent hands in beside the tree
GRADER = BASE / "grader"  # hidden tests: the challenges' forbidden path
GRADING = BASE / "grading"  # the final tree with the hidden tests beside it
HOME = BASE / "home"
TOOLS = TMP / "bouts-tools"  # Python, its packages and these scripts, read only
REPOSITORY = Path(__file__).resolve().parent.parent
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"

# What is mounted where. A virtual environment of our own points at the mounted Python, so that
# tracebacks name these places and not where this machine keeps its Python.
MOUNTS = {
    TOOLS / "python": Path(sys.base_prefix),
    TOOLS / f"env/lib/{PYTHON}/site-packages": Path(sysconfig.get_path("purelib")),
    TOOLS / "scripts/examples": REPOSITORY / "examples",
}
NAMESPACES = ("--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
ENTER = """\
set -e
hostname bout-sandbox
run=$1; cwd=$2; shift 2
while [ "$1" != -- ]; do mount --bind -o ro "$1" "$run/$2"; shift 2; done
shift
mount --rbind "$run" /tmp
cd "$cwd"
exec "$@"
"""

ENVIRONMENT = {
    "PATH": f"{TOOLS}/env/bin:/usr/bin:/bin",
    "HOME": str(HOME),
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "COLUMNS": "100",
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
    # The environment has plugins for Bouts itself, which no challenge needs.
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "agent",
    "GIT_AUTHOR_EMAIL": "agent@sandbox.invalid",
    "GIT_COMMITTER_NAME": "agent",
    "GIT_COMMITTER_EMAIL": "agent@sandbox.invalid",
}

TRACE = ("strace", "-f", "-ttt", "-y", "-s", "200", "-e", "trace=open,openat,execve,connect")
LINE = re.compile(r"^(?P<pid>\d+) +(?P<time>[\d.]+) (?P<rest>.*)$")
CALL = re.compile(
    r'^(?P<call>open|openat|execve)\((?:(?:AT_FDCWD|\d+)<(?P<cwd>[^>]*)>, )?"(?P<path>[^"]*)"'
)
# What the machine's own files, and Python's and git's book-keeping, fill a log with.
MACHINE = ("/usr/", "/lib/", "/lib64/", "/bin/", "/etc/", "/proc/", "/sys/", "/dev/", f"{TOOLS}/")
NAME_SERVICE = (
    'sun_path="/var/run/nscd/socket"'  # the C library asks for a daemon that is not there
)
BOOKKEEPING = re.compile(
    r"/\.git(/|$)|__pycache__|\.pyc"  # git, byte code
    r"|^/tmp$|^/tmp/[a-z0-9_]{8}$|^/tmp/pytest-of-"  # temporary files without a name, and pytest's own
)


class NoSandbox(RuntimeError):
    """This machine cannot make a sandbox, so nothing is run at all."""


@dataclass(frozen=True)
class Sandbox:
    """One run's folder, which its commands see as `TMP`."""

    root: Path

    @classmethod
    def make(cls, root: Path) -> Sandbox:
        if missing := [tool for tool in ("unshare", "strace", "git") if not shutil.which(tool)]:
            raise NoSandbox(f"not installed: {', '.join(missing)}")
        sandbox = cls(root)
        for inner in (WORK, OUTBOX, GRADER, HOME, TOOLS / "env/bin", *MOUNTS):
            sandbox.outside(inner).mkdir(parents=True)
        environment = sandbox.outside(TOOLS / "env")
        (environment / "pyvenv.cfg").write_text(f"home = {TOOLS}/python/bin\n")
        (environment / "bin/python").symlink_to(TOOLS / "python/bin" / PYTHON)
        if sandbox.run(["python", "-c", "import pytest"], cwd=BASE).returncode:
            raise NoSandbox("unshare may not make namespaces here; try as root")
        return sandbox

    def outside(self, inner: Path) -> Path:
        """The path outside the sandbox of a path under `TMP`."""
        return self.root / inner.relative_to(TMP)

    def run(
        self, command: Sequence[str], cwd: Path, extra: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command inside; what it prints, both streams as one, is in `stdout`."""
        prefix = self._prefix(cwd)
        return subprocess.run(
            [*prefix, *command],
            env=ENVIRONMENT | (extra or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=300,
        )

    def play(self, module: str, *arguments: str) -> str:
        """Run one of our own modules inside, under strace. Returns what it prints."""
        log = self.root / "strace.raw"
        command = [*TRACE, "-o", str(TMP / log.name), "python", "-m", module, *arguments]
        done = subprocess.run(
            [*self._prefix(WORK), *command],
            env=ENVIRONMENT | {"PYTHONPATH": f"{TOOLS}/scripts"},
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=300,
            check=True,
        )
        return done.stdout

    def trace(self) -> tuple[str, str]:
        """The sandbox log without the noise, and a note that says what was left out."""
        lines = (self.root / "strace.raw").read_text(errors="replace").splitlines()
        kept = list(telling(lines))
        note = (
            "sandbox.log is what this command wrote, but for the lines named below:\n"
            f"    {' '.join(TRACE)} -o sandbox.log AGENT\n"
            f"It wrote {len(lines):,} lines. {len(lines) - len(kept):,} were left out: files opened under "
            f"{', '.join(MACHINE)} or among Python's own libraries, the book-keeping of git, Python and pytest (.git, byte code, temporary "
            "files), the C library's look for a name service daemon, programs looked for and not found, "
            "and signals.\n"
            "Nothing else was left out or changed. The sandbox has no network: its only interface "
            "is a loopback that is down.\n"
        )
        return "\n".join(kept) + "\n", note

    def _prefix(self, cwd: Path) -> list[str]:
        mounts = [
            str(path)
            for inner, source in MOUNTS.items()
            for path in (source, inner.relative_to(TMP))
        ]
        return [
            *("unshare", *NAMESPACES, "sh", "-c", ENTER, "sh"),
            *(str(self.root), str(cwd), *mounts, "--"),
        ]


def telling(lines: Sequence[str]) -> Iterator[str]:
    """The lines of a strace log that tell something about the agent.

    Only what is known to be noise goes; a line that is not understood stays.
    """
    dropped: set[str] = set()  # processes whose last unfinished call was noise
    for line in lines:
        found = LINE.match(line)
        if not found:
            yield line
            continue
        pid, rest = found["pid"], found["rest"]
        if rest.startswith("---"):
            continue
        if rest.startswith("<...") and pid in dropped:
            dropped.discard(pid)
            continue
        if is_noise(rest):
            if rest.endswith("<unfinished ...>"):
                dropped.add(pid)
            continue
        yield line


def is_noise(rest: str) -> bool:
    if NAME_SERVICE in rest:
        return True
    call = CALL.match(rest)
    if not call:
        return False
    if call["call"] == "execve":
        return "ENOENT" in rest
    path = os.path.normpath(Path(call["cwd"] or "/") / call["path"])
    # The loader looks for Python's libraries where they were when Python was built.
    return path.startswith((*MACHINE, f"{sys.base_prefix}/")) or bool(BOOKKEEPING.search(path))
