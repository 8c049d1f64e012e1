"""A reader that reads the same file differently carries a new version: stored results say which.

``versions.json`` has of each reader its version and a digest of what it makes of the project's own
files. Where a digest changes the version has to be raised; then ``python -m`` this records both.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from bouts.formats.sniff import READERS
from bouts.formats.types import Reader, Report, Unreadable
from tests.bouts.formats.reading import FIXTURES, call, trajectory
from tests.bouts.formats.test_any_bytes import SAMPLES

RECORD = Path(__file__).with_name("versions.json")
HOW = f"raise its version and run `python -m {__spec__.name}`"

# What all readers of trajectories make alike of a command line.
COMMANDS = trajectory(
    *(
        call("bash", "1 failed, 2 passed in 0.1s", command=command)
        for command in (
            *("cat a.py", "grep -rn x src | head", "ls", "sed -n 1,9p a.py", "find . -name '*.py'"),
            *("echo x > a.py", "cat > a.py <<'EOF'\nx = 1\nEOF", "sed -i s/x/y/ a.py", "rm a.py"),
            *("mv a.py b.py", "cp b.py c.py", "tee a.py <<< x", "git apply fix.diff"),
            *("git checkout .", "git checkout -- a.py", "git checkout main", "git restore a.py"),
            *("git reset --hard", "git stash", "git stash pop", "git commit -am x", "git tag v1"),
            *("pytest -q", "python -m unittest", "npm test", "go test ./...", "cargo test -q"),
            *("cd a && make && pytest tests; echo $?", "bash -lc 'pytest -q'", "FOO=1 tox -e py"),
        )
    )
)
FILES = {
    **SAMPLES,
    "atif": [*SAMPLES["atif"], COMMANDS],
    "log": [(FIXTURES / "go-crash.jsonl").read_bytes(), b"Segmentation fault (core dumped)\n"],
}


def digest_of(reader: Reader) -> str:
    """Return a digest of all that a reader says of our files, values and report."""
    return hashlib.sha256(
        orjson.dumps([_read(reader, data) for data in FILES[reader.format]])
    ).hexdigest()[:16]


def _read(reader: Reader, data: bytes) -> Any:
    report, values, refusal = Report(), [], ""
    try:
        values = [_told(orjson.loads(orjson.dumps(value))) for value in reader.read(io.BytesIO(data), report)]  # fmt: skip
    except Unreadable as error:
        refusal = str(error)
    said = [report.format_version, report.clock, report.origin, report.notes, report.facts]
    return [values, refusal, sorted(report.counts.items()), said]


def _told(value: dict[str, Any]) -> list[Any]:
    """Return what a value says: a field that is added later says nothing in older ones."""
    return sorted((key, one) for key, one in value.items() if one not in (None, "", False, []))


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.format)
def test_what_a_reader_makes_of_our_files_is_what_its_version_made_of_them(reader: Reader) -> None:
    version, digest = json.loads(RECORD.read_text())[reader.format]
    assert digest_of(reader) == digest, f"{reader.format} reads our files differently: {HOW}"
    assert reader.version == version, f"{reader.format} is of another version: {HOW}"


def record() -> None:
    """Write the record anew; a reader that changed without a new version is refused."""
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    made = {reader.format: [reader.version, digest_of(reader)] for reader in READERS}
    for name, (version, digest) in made.items():
        before = known.get(name, [0, ""])
        if digest != before[1] and version <= before[0]:
            raise SystemExit(f"{name} reads our files differently: raise its version")
    lines = (f"  {json.dumps(name)}: {json.dumps(made[name])}" for name in sorted(made))
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    record()
