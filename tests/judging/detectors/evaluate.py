"""How much the detectors find, and how often they are wrong: `python -m tests.judging.detectors.evaluate`.

Recall is over the corpus beside this file, written by somebody who had not seen the detectors.
False alarms are counted over its hard negatives and over text that nobody wrote to deceive: the
standard library's source, taken as added code and as a deliverable, and the examples' honest
agents. A finding of any trigger but a bonus is an alarm there.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import sysconfig
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()  # the dossier of files lives beside that of rows; no database is asked

from bouts.archives.limits import Limits
from bouts.bundles.errors import Refused
from bouts.bundles.loading import load_bundle, load_challenge
from bouts.rules import POINTS
from judging.dossiers import FileDossier
from judging.judges.base import Dossier
from judging.judges.integrity import Found, IntegrityJudge
from judging.judges.objective import tests_of
from judging.scoring.integrity import Status
from judging.scoring.policy import CURRENT
from tests.judging.detectors import corpus
from tests.judging.detectors.corpus import Case, Level, added, dossier_of

if TYPE_CHECKING:
    from types import ModuleType

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
# What was written to be found (examples/README.md, "what to look at").
DISHONEST = {
    *("refunds-02", "refunds-05", "refunds-06", "refunds-07", "refunds-08"),
    *("search-05", "search-06", "search-08"),
}
BONUSES = frozenset(name for name, points in POINTS.items() if points.lowest > 0)
MODULES = 120  # of the standard library
LARGEST = 40_000  # characters of one


@dataclass
class Tally:
    """What came out for one trigger. ``missed`` and ``alarms`` name the cases."""

    positives: int = 0
    negatives: int = 0
    missed: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    grave: list[str] = field(default_factory=list)  # alarms that apply or hold by themselves

    @property
    def found(self) -> int:
        return self.positives - len(self.missed)


def level_of(found: Found) -> Level:
    if found.status is Status.APPLIED:
        return Level.APPLIED
    return Level.HIGH if found.confidence == "high" else Level.LOW


def findings(dossier: Dossier) -> dict[str, Level]:
    """Return the triggers that our own detectors find, each at its surest."""
    levels: dict[str, Level] = {}
    for found in IntegrityJudge().judge(dossier, tests_of(dossier), CURRENT).found:
        if found.source == "own":
            levels[found.trigger] = max(levels.get(found.trigger, Level.LOW), level_of(found))
    return levels


def modules() -> Iterator[tuple[str, ModuleType]]:
    """Yield the modules of the corpus by their triggers."""
    for module in pkgutil.iter_modules(corpus.__path__):
        if module.name in POINTS:
            yield module.name, importlib.import_module(f"{corpus.__name__}.{module.name}")


def over_corpus(tallies: dict[str, Tally]) -> None:
    for trigger, module in modules():
        tally = tallies[trigger]
        for case in module.POSITIVES:
            tally.positives += 1
            levels = _of_case(case)
            for wanted, least in case.expects:
                if levels.get(wanted, 0) < least:
                    told = levels[wanted].name.lower() if wanted in levels else "not found"
                    tally.missed.append(f"{case.name} ({wanted}: {told})")
                    break
        for case in module.NEGATIVES:
            tally.negatives += 1
            if (level := _of_case(case).get(trigger)) is not None:
                tally.alarms.append(f"{case.name} ({level.name.lower()})")
                if level > Level.LOW:
                    tally.grave.append(case.name)


def _of_case(case: Case) -> dict[str, Level]:
    with dossier_of(case) as dossier:
        return findings(dossier)


def standard_library() -> Iterator[Case]:
    """Yield modules of Python's standard library, each as if an agent had added it."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(folder.glob("*.py"))[:MODULES]:
        text = path.read_text(encoding="utf-8", errors="replace")[:LARGEST]
        artifacts = (
            ("diff.patch", "diff", added(f"lib/{path.name}", text), {}),
            ("NOTES.md", "deliverable", text, {}),
        )
        yield Case(path.name, "nobody's attempt", artifacts)


@contextmanager
def sample(bundle: Path) -> Iterator[Dossier]:
    with load_bundle(bundle, name=bundle.name, limits=Limits()) as loaded:
        folder = EXAMPLES / "challenges" / loaded.manifest.challenge
        with load_challenge(folder, name=folder.name, limits=Limits()) as spec:
            yield FileDossier(loaded, spec.challenge, spec.tree, spec.tree_file).dossier


def honest_samples() -> Iterator[tuple[str, dict[str, Level]]]:
    for bundle in sorted((EXAMPLES / "bundles").glob("*.zip")):
        if bundle.stem not in DISHONEST:
            with sample(bundle) as dossier:
                yield bundle.stem, findings(dossier)


def alarms(levels: dict[str, Level]) -> dict[str, Level]:
    return {trigger: level for trigger, level in levels.items() if trigger not in BONUSES}


def report(lines: Iterable[Sequence[object]]) -> None:
    for first, *rest in lines:
        print(f"{first!s:<28}" + "".join(f"{cell!s:>14}" for cell in rest))


def main() -> int:
    tallies: dict[str, Tally] = defaultdict(Tally)
    try:
        over_corpus(tallies)
    except Refused as refused:
        print("\n".join(refused.lines()), file=sys.stderr)
        return 1
    library, samples = Counter[str](), Counter[str]()
    read = 0
    for case in standard_library():
        read += 1
        library.update(alarms(_of_case(case)).keys())
    honest = list(honest_samples())
    for _, levels in honest:
        samples.update(alarms(levels).keys())
    head = ("trigger", "recall", "false alarms", "of them grave", "library", "samples")
    rows: list[Sequence[object]] = [head]
    for trigger in POINTS:
        tally = tallies[trigger]
        rows.append(
            (
                trigger,
                f"{tally.found}/{tally.positives}",
                f"{len(tally.alarms)}/{tally.negatives}",
                f"{len(tally.grave)}/{tally.negatives}",
                "–" if trigger in BONUSES else f"{library[trigger]}/{read}",
                "–" if trigger in BONUSES else f"{samples[trigger]}/{len(honest)}",
            )
        )
    report(rows)
    for trigger, tally in tallies.items():
        for name in tally.missed:
            print(f"missed: {trigger}: {name}")
        for name in tally.alarms:
            print(f"false alarm: {trigger}: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
