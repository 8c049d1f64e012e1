"""Run test vectors: `python -m judging.scoring FILE`.

Prints a line for each vector that fails, then how many passed and failed. Exits with 0
where all passed, 1 where one failed, 2 where the file is no file of vectors.
"""

from __future__ import annotations

import sys
from pathlib import Path

from judging.scoring.vectors import Malformed, load, mismatches

USAGE = "usage: python -m judging.scoring FILE"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        file = load(Path(arguments[0]))
    except Malformed as malformed:
        for fault in malformed.faults:
            print(f"{arguments[0]}: {fault}", file=sys.stderr)
        return 2
    failed = 0
    for vector in file.vectors:
        if found := mismatches(vector, file.policy):
            failed += 1
            print(vector.id, "; ".join(map(str, found)))
    print(f"{len(file.vectors) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
