"""Makes the sample bundles: `python -m examples.make`. Needs Linux, root, strace and git.

python -m examples.make                     everything: challenges, matches, verdicts (minutes)
python -m examples.make refunds-01 …        play and grade these matches again
python -m examples.make --verdicts          only put the verdicts in again, from `verdicts/`
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from examples.agent import now
from examples.bundle import VERDICTS, assemble, pack, unpack
from examples.grader import grade, lay
from examples.measure import load, measure
from examples.roster import BY_ID, MATCHES, Match
from examples.sample_verdicts import verdicts
from examples.sandbox import OUTBOX, Sandbox

HERE = Path(__file__).resolve().parent
CHALLENGES = HERE / "challenges"
BUNDLES = HERE / "bundles"
MARKS = HERE / "marks.json"  # match → what its script calls an event → the event's number
AT_ONCE = 4  # agents mostly think, so several share the two cores


def main() -> None:
    options = _options()
    matches = [BY_ID[name] for name in options.matches] or list(MATCHES)
    started = time.monotonic()
    if not options.verdicts:
        with tempfile.TemporaryDirectory(prefix="bouts-examples-") as folder:
            runs = Path(folder)
            if not options.matches:
                for challenge in sorted(CHALLENGES.iterdir()):
                    measure(Sandbox.make(runs / challenge.name), challenge)
                    _say(started, f"measured {challenge.name}")
            _fight(matches, runs, options.pace, started)
    marks = json.loads(MARKS.read_text())
    for match in matches:
        _put_verdicts_in(match, marks[match.id])
    _say(started, f"{len(matches)} bundles in {BUNDLES}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make the sample bundles.")
    parser.add_argument("matches", nargs="*", metavar="MATCH", help="only these; else all")
    parser.add_argument("--verdicts", action="store_true", help="only put the verdicts in again")
    parser.add_argument("--pace", type=float, default=1.0, help="a factor on every pause")
    options = parser.parse_args()
    if unknown := [name for name in options.matches if name not in BY_ID]:
        parser.error(f"no such match: {', '.join(unknown)}; there are {', '.join(BY_ID)}")
    return options


def _fight(matches: list[Match], runs: Path, pace: float, started: float) -> None:
    """Play all matches, several at once; then grade them one by one, since timings count."""
    sandboxes = {match.id: Sandbox.make(runs / match.id) for match in matches}

    def play(match: Match) -> dict[str, Any]:
        sandbox = sandboxes[match.id]
        lay(sandbox, CHALLENGES / match.challenge)
        briefing = load(CHALLENGES / match.challenge)["briefing"]
        record: dict[str, Any] = json.loads(
            sandbox.play("examples.play", match.id, briefing, str(pace))
        )
        _say(started, f"played {match.id}: {record['events']} events")
        return record

    with ThreadPoolExecutor(AT_ONCE) as pool:
        records = dict(zip(sandboxes, pool.map(play, matches), strict=True))
    marks = json.loads(MARKS.read_text()) if MARKS.exists() else {}
    for match in matches:
        sandbox, record = sandboxes[match.id], records[match.id]
        grades = grade(sandbox, CHALLENGES / match.challenge)
        files = assemble(match, record, sandbox.outside(OUTBOX), grades, sandbox.trace())
        (BUNDLES / f"{match.id}.zip").write_bytes(pack(files))
        marks[match.id] = record["marks"]
        _say(started, f"graded {match.id}")
    ordered = {match.id: marks[match.id] for match in MATCHES if match.id in marks}
    MARKS.write_text(json.dumps(ordered, indent=1) + "\n")


def _put_verdicts_in(match: Match, marks: dict[str, int]) -> None:
    path = BUNDLES / f"{match.id}.zip"
    files = unpack(path)
    files[VERDICTS] = verdicts(match.id, files, marks, now())
    path.write_bytes(pack(files))


def _say(started: float, text: str) -> None:
    print(f"{time.monotonic() - started:6.1f} s  {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
