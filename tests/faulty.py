"""One upload per kind of fault, each refused with the same words by page, API and command."""

from __future__ import annotations

import io
import json
import stat
import warnings
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import matches
from tests.bouts.bundles.making import zipped
from tests.matches import found, panel, write_bundle


@dataclass(frozen=True)
class Faulty:
    """An upload as its file's name and bytes, and the fault that it is refused for."""

    name: str
    content: bytes
    file: str
    field: str  # how it begins
    found: str  # part of what is told

    def is_among(self, faults: Iterable[Mapping[str, str]]) -> bool:
        return any(
            fault["file"] == self.file
            and fault["field"].startswith(self.field)
            and self.found in fault["found"]
            for fault in faults
        )


def packed(folder: Path) -> dict[str, bytes]:
    """Return a folder's files by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def zip_of(files: Mapping[str, bytes], *more: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    """Pack files; ``more`` are added as they are, whatever their names."""
    out = io.BytesIO(zipped(files).getvalue())
    with warnings.catch_warnings(), zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        warnings.filterwarnings("ignore", "Duplicate name")
        for name, content in more:
            archive.writestr(name, content)
    return out.getvalue()


def good(folder: Path, **options: Any) -> bytes:
    return zip_of(packed(write_bundle(folder, **options)))


def truncated(folder: Path) -> Faulty:
    whole = good(folder)
    return Faulty("cut.zip", whole[: len(whole) // 2], "cut.zip", "byte ", "the end of the file")


def leads_out(folder: Path) -> Faulty:
    content = zip_of(packed(write_bundle(folder)), ("../run.log", b"x"))
    return Faulty("out.zip", content, "../run.log", "path", "..")


def bomb(folder: Path) -> Faulty:
    content = zip_of(packed(write_bundle(folder)), ("zeros.bin", bytes(30_000_000)))
    return Faulty("bomb.zip", content, "zeros.bin", "size", "times smaller")


def link(folder: Path) -> Faulty:
    info = zipfile.ZipInfo("passwords.log")
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    content = zip_of(packed(write_bundle(folder)), (info, b"/etc/passwd"))
    return Faulty("link.zip", content, "passwords.log", "kind", "link")


def duplicate(folder: Path) -> Faulty:
    content = zip_of(packed(write_bundle(folder)), ("final.diff", b"--- another"))
    return Faulty("twice.zip", content, "final.diff", "path", "the same name twice")


def unknown_challenge(folder: Path) -> Faulty:
    content = good(folder, challenge="rebates")
    return Faulty("challenge.zip", content, "match.json", "challenge", "rebates")


def unknown_team(folder: Path) -> Faulty:
    content = good(folder, agent={"team": "northbnk"})
    return Faulty("team.zip", content, "match.json", "agent.team", "northbnk")


def dangling(folder: Path) -> Faulty:
    finding = found("plagiarism", "final.diff", "diff:refunds.py:99")
    content = good(folder, verdicts=[], findings=[finding])
    place = "verdicts[0].findings[0].evidence[0].place"
    return Faulty("dangling.zip", content, "verdicts.json", place, "diff:refunds.py:99")


def not_a_number(folder: Path) -> Faulty:
    answers = panel(70, 75, 80)
    answers[1]["score"] = float("nan")
    content = good(folder, verdicts=answers)
    return Faulty("nan.zip", content, "verdicts.json", "verdicts[1].score", "NaN")


def weights(folder: Path) -> Faulty:
    document = matches.challenge(
        weights={"objective": 40, "process": 20, "strategy": 20, "recovery": 15}
    )
    content = json.dumps(document).encode()
    return Faulty("challenge.json", content, "challenge.json", "weights", "a sum of 95")


KINDS: dict[str, Callable[[Path], Faulty]] = {
    kind.__name__: kind
    for kind in (
        truncated, leads_out, bomb, link, duplicate, unknown_challenge, unknown_team, dangling,
        not_a_number, weights,
    )
}  # fmt: skip
