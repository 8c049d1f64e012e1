"""Read and score a bundle without storing anything."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from bouts import blobs
from bouts.actions.uploads import known, limits
from bouts.bundles.errors import Refused, listed
from bouts.bundles.loading import LoadedChallenge, load_bundle, load_challenge, with_its_tree
from bouts.models import ChallengeVersion
from judging.judges.base import JsonDict
from judging.offline import score_files


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("bundle", type=Path, help="an archive or a folder")
        parser.add_argument(
            "--challenge",
            type=Path,
            help="challenge.json, or an archive or folder with it; else the stored one is used",
        )
        parser.add_argument("--json", action="store_true", help="print the breakdown as JSON")

    def handle(self, *, bundle: Path, challenge: Path | None, json: bool, **options: Any) -> None:
        for path in filter(None, (bundle, challenge)):
            if not path.exists():
                raise CommandError(f"{path}: no such file or folder")
        try:
            with (
                load_bundle(bundle, name=bundle.name, limits=limits()) as loaded,
                self._challenge(challenge, loaded.manifest.challenge) as spec,
            ):
                breakdown = score_files(loaded, spec)
        except Refused as refused:
            raise CommandError("\n".join(refused.lines())) from None
        self.stdout.write(as_json(breakdown) if json else as_table(breakdown))

    @contextmanager
    def _challenge(self, path: Path | None, slug: str) -> Iterator[LoadedChallenge]:
        if path is not None:
            with load_challenge(with_its_tree(path), name=path.name, limits=limits()) as loaded:
                if loaded.challenge.slug != slug:
                    raise CommandError(
                        f"the bundle is of challenge {slug}, {path} is {loaded.challenge.slug}"
                    )
                yield loaded
            return
        versions = ChallengeVersion.objects.select_related("tree_archive")
        version = versions.filter(challenge__slug=slug, is_live=True).first()
        if version is None:
            names = listed(known().challenges or ())
            raise CommandError(
                f"challenge {slug} is not known here (known: {names}); use --challenge"
            )
        with tempfile.NamedTemporaryFile() as file:
            if version.tree_archive:
                with blobs.opened(version.tree_archive) as stream:
                    shutil.copyfileobj(stream, file)
                file.flush()
            yield LoadedChallenge(
                challenge=version.spec,
                document=version.document,
                tree=version.starting_tree,
                tree_file=Path(file.name) if version.tree_archive else None,
                digest=version.digest,
            )


def as_json(breakdown: JsonDict) -> str:
    return json.dumps(breakdown, indent=2, ensure_ascii=False)


def as_table(breakdown: JsonDict) -> str:
    """Return the ledger as text: rows that add up, the total below."""
    rows = [
        (row["row"], row.get("raw") or "", row.get("counted") or "", row["points"], row["why"])
        for row in breakdown["ledger"]
    ]
    total = breakdown["total"] or f"n/a ({breakdown['reason']})"
    lines = [f"{breakdown['match']}: {breakdown['status']}, total {total}"]
    if breakdown["marks"]:
        lines.append(f"marks: {', '.join(breakdown['marks'])}")
    lines += [
        f"  {name:<28}{raw:>8}{counted:>8}{points:>9}  {why}"
        for name, raw, counted, points, why in rows
    ]
    lines += [
        f"  {artifact['path']}: unreadable, {artifact['reason']} {artifact['place']}".rstrip()
        for artifact in breakdown["artifacts"]
        if artifact["state"] == "unreadable"
    ]
    return "\n".join(lines)
