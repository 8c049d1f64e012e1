"""A scripted agent's hands: whatever it does really happens, and is written down as it happens.

The record is an ATIF v1.8 trajectory. Times are read from the clock, observations are what the
tools printed, digests are taken from the files. Standard library only: this runs in the sandbox.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from examples.sandbox import ENVIRONMENT, OUTBOX, WORK

LONGEST = 6_000  # characters of one observation, as agents' own loops cut them


@dataclass(frozen=True)
class Scaffold:
    """How an agent's loop names its tools, and how long the agent thinks before it acts."""

    name: str
    pace_s: float
    calls: dict[str, Callable[..., tuple[str, dict[str, Any]]]]


def _plain_calls() -> dict[str, Callable[..., tuple[str, dict[str, Any]]]]:
    return {
        "read": lambda path: ("read_file", {"path": path}),
        "search": lambda pattern, path: ("grep", {"pattern": pattern, "path": path}),
        "replace": lambda path, old, new: (
            "edit_file",
            {"path": path, "old_string": old, "new_string": new},
        ),
        "write": lambda path, text: ("write_file", {"path": path, "content": text}),
        "run": lambda command: ("bash", {"command": command}),
        "plan": lambda text: ("update_plan", {"plan": text}),
        "submit": lambda text: ("submit", {"summary": text}),
        "hand_in": _hand_in,
    }


def _editor_calls() -> dict[str, Callable[..., tuple[str, dict[str, Any]]]]:
    def editor(command: str, path: str, **rest: str) -> tuple[str, dict[str, Any]]:
        return "str_replace_editor", {"command": command, "path": path, **rest}

    return {
        "read": lambda path: editor("view", path),
        "search": lambda pattern, path: (
            "execute_bash",
            {"command": f"grep -rn {shlex.quote(pattern)} {path}"},
        ),
        "replace": lambda path, old, new: editor("str_replace", path, old_str=old, new_str=new),
        "write": lambda path, text: editor("create", path, file_text=text),
        "run": lambda command: ("execute_bash", {"command": command}),
        "plan": lambda text: ("think", {"thought": text}),
        "submit": lambda text: ("finish", {"message": text}),
        "hand_in": _hand_in,
    }


def _hand_in(name: str, text: str) -> tuple[str, dict[str, Any]]:
    """The arena's own tool, the same for every loop."""
    return "submit_file", {"name": name, "content": text}


def scaffold(name: str, pace_s: float) -> Scaffold:
    """`plain` has a tool a deed, `editor` one editor and a shell."""
    return Scaffold(name, pace_s, {"plain": _plain_calls, "editor": _editor_calls}[name]())


@dataclass
class Outcome:
    """What a tool call gave back."""

    text: str
    exit_code: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


class Agent:
    """Each method is one step. ``mark`` names the step's event for whoever judges the match."""

    def __init__(
        self,
        scaffold: Scaffold,
        work: Path = WORK,
        outbox: Path = OUTBOX,
        *,
        pace: float = 1.0,
    ) -> None:
        self.scaffold = scaffold
        self.work = work
        self.outbox = outbox
        self.pace = pace  # a factor on every pause; tests use 0
        self.steps: list[dict[str, Any]] = []
        self.marks: dict[str, int] = {}
        self.claims: list[dict[str, Any]] = []
        self.seen: dict[str, str] = {}  # files as they were when they were last read
        self.events = 0
        self._calls = 0

    # Talking and thinking

    def hear(self, text: str) -> None:
        """What the user asks for: the first step of every trajectory."""
        self._step("user", text)

    def think(self, seconds: float) -> None:
        """Do nothing for a while, as a model does between two steps."""
        time.sleep(seconds * self.pace)

    def say(self, text: str, mark: str = "") -> None:
        self._pause()
        self._step("agent", text, mark=mark)

    def plan(self, text: str, why: str = "", mark: str = "") -> None:
        self._act(why, [(self._name("plan", text), lambda: Outcome("Plan updated."))], mark)

    # Looking

    def read(self, *paths: str, why: str = "", mark: str = "") -> None:
        """Read files, all in one step."""
        calls = [(self._name("read", path), lambda p=path: self._shown(p)) for path in paths]
        self._act(why, calls, mark)

    def search(self, pattern: str, path: str = ".", why: str = "", mark: str = "") -> None:
        command = f"grep -rn --exclude-dir=.git {shlex.quote(pattern)} {path}"
        self._act(why, [(self._name("search", pattern, path), lambda: self._shell(command))], mark)

    # Changing

    def edit(self, path: str, old: str, new: str, why: str = "", mark: str = "") -> None:
        """Replace the one place where `old` stands. Anything but one place is a script's mistake."""

        def change(text: str) -> str:
            if text.count(old) != 1:
                raise ValueError(f"{path} has {text.count(old)} places like {old!r}")
            return text.replace(old, new)

        call = self._name("replace", path, old, new)
        self._act(why, [(call, lambda: self._change(path, change))], mark)

    def write(self, path: str, text: str, why: str = "", mark: str = "") -> None:
        call = self._name("write", path, text)
        self._act(why, [(call, lambda: self._change(path, lambda _: text))], mark)

    def revert(self, path: str, why: str = "", mark: str = "") -> None:
        """Put a file back to how it was last committed."""
        command = f"git checkout -- {path}"

        def back() -> Outcome:
            before = self._digest(path)
            outcome = self._shell(command)
            outcome.extra |= {
                "path": path,
                "before_sha256": before,
                "after_sha256": self._digest(path),
            }
            return outcome

        self._act(why, [(self._name("run", command), back)], mark)

    # Running

    def run(self, command: str, why: str = "", mark: str = "") -> Outcome:
        return self._act(why, [(self._name("run", command), lambda: self._shell(command))], mark)[0]

    def test(
        self, arguments: str = "tests -v --tb=short", why: str = "", mark: str = ""
    ) -> Outcome:
        return self.run(f"python -m pytest {arguments} -p no:cacheprovider", why, mark)

    def commit(self, message: str, why: str = "", mark: str = "") -> None:
        self.run(f"git add -A && git commit -q -m {shlex.quote(message)}", why, mark)

    # Handing in

    def hand_in(self, name: str, text: str, why: str = "", mark: str = "") -> None:
        """Hand in a file beside the tree, such as NOTES.md."""

        def deliver() -> Outcome:
            (self.outbox / name).write_text(text)
            return Outcome(f"Received {name}.")

        self._act(why, [(self._name("hand_in", name, text), deliver)], mark)

    def claim(self, statement: str, confidence: float, about: str = "") -> None:
        """State something with a probability; `hand_in_claims` writes all that were stated."""
        self.claims.append(
            {"statement": statement, "confidence": confidence, "about": about, "at": now()}
        )

    def hand_in_claims(self, why: str = "", mark: str = "") -> None:
        document = {"schema": "bouts.claims/1", "claims": self.claims}
        self.hand_in("claims.json", json.dumps(document, indent=2) + "\n", why, mark)

    def submit(self, text: str, mark: str = "") -> None:
        self._act("", [(self._name("submit", text), lambda: Outcome("Submitted."))], mark)

    # The record

    def trajectory(self, *, name: str, version: str, base_model: str) -> dict[str, Any]:
        return {
            "schema_version": "ATIF-v1.8",
            "session_id": hashlib.sha256(json.dumps(self.steps).encode()).hexdigest()[:32],
            "agent": {
                "name": name,
                "version": version,
                "model_name": base_model,
                "extra": {"scaffold": self.scaffold.name, "cwd": str(WORK)},
            },
            "notes": "Sample data. The agent followed a script and no model was called; "
            "every action ran, and every time was read from the clock.",
            "steps": self.steps,
            "final_metrics": {"total_steps": len(self.steps)},
        }

    def _name(self, deed: str, *arguments: str) -> tuple[str, dict[str, Any]]:
        return self.scaffold.calls[deed](*arguments)

    def _pause(self) -> None:
        self.think(self.scaffold.pace_s)

    def _act(
        self,
        why: str,
        calls: list[tuple[tuple[str, dict[str, Any]], Callable[[], Outcome]]],
        mark: str,
    ) -> list[Outcome]:
        self._pause()
        at = now()
        tool_calls, results, outcomes = [], [], []
        for (function, arguments), do in calls:
            self._calls += 1
            call_id = f"call_{self._calls}"
            began = time.monotonic()
            outcome = do()
            took = round(time.monotonic() - began, 3)
            tool_calls.append(
                {"tool_call_id": call_id, "function_name": function, "arguments": arguments}
            )
            results.append(
                {
                    "source_call_id": call_id,
                    "content": cut(outcome.text),
                    "extra": {"exit_code": outcome.exit_code, "duration_s": took, **outcome.extra},
                }
            )
            outcomes.append(outcome)
        self._step("agent", why, at=at, tool_calls=tool_calls, results=results, mark=mark)
        return outcomes

    def _step(
        self,
        source: str,
        message: str,
        *,
        at: str | None = None,
        tool_calls: list[dict[str, Any]] | None = None,
        results: list[dict[str, Any]] | None = None,
        mark: str = "",
    ) -> None:
        step: dict[str, Any] = {
            "step_id": len(self.steps) + 1,
            "timestamp": at or now(),
            "source": source,
            "message": message,
        }
        if source == "agent":
            step["llm_call_count"] = 0
        if tool_calls:
            step |= {"tool_calls": tool_calls, "observation": {"results": results}}
        self.steps.append(step)
        if mark:
            # A step's first call, or the step itself where it calls no tool.
            self.marks[mark] = self.events + 1
        self.events += len(tool_calls or ()) or 1

    def _shown(self, path: str) -> Outcome:
        self.seen[path] = (self.work / path).read_text()
        return Outcome(self.seen[path])

    def _shell(self, command: str) -> Outcome:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.work,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=60,
        )
        return Outcome(done.stdout, done.returncode)

    def _change(self, path: str, change: Callable[[str], str]) -> Outcome:
        file = self.work / path
        old = file.read_text() if file.exists() else ""
        before = self._digest(path)
        new = change(old)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(new)
        extra = {"path": path, "before_sha256": before, "after_sha256": self._digest(path)}
        return Outcome(f"{'Changed' if before else 'Wrote'} {path}.", extra=extra)

    def _digest(self, path: str) -> str | None:
        """SHA-256 of a file of the tree, or None where there is none."""
        file = self.work / path
        return hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else None


def now() -> str:
    """The time, with zone: 2026-11-30T11:45:02.123Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def cut(text: str) -> str:
    """Long output loses its middle, and says so."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n[... {len(text) - LONGEST} characters cut ...]\n{text[-half:]}"
