"""Every case of the corpus is what it says: a bundle of which every file can be read.

Nothing here runs a detector. What they find in the corpus is measured elsewhere; that a case means
what its author had in mind can only be reviewed, and its ``why`` is there for that.
"""

from __future__ import annotations

import importlib
import io

import pytest

from bouts.formats.diff import DiffReader
from bouts.formats.types import Kind, Report
from bouts.rules import POINTS
from tests.judging.detectors.corpus import Case, dossier_of

LEAST = 10  # cases of each side, by the issue
READ_INTO_VALUES = (Kind.DIFF, Kind.TELEMETRY, Kind.SANDBOX, Kind.TESTS)


def sides(trigger: str) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    module = importlib.import_module(f"tests.judging.detectors.corpus.{trigger}")
    return module.POSITIVES, module.NEGATIVES


CASES = [
    pytest.param(case, id=f"{trigger}-{case.name}")
    for trigger in POINTS
    for side in sides(trigger)
    for case in side
]


@pytest.mark.parametrize("trigger", POINTS)
def test_a_trigger_has_enough_cases_of_both_sides(trigger):
    positives, negatives = sides(trigger)
    assert len(positives) >= LEAST
    assert len(negatives) >= LEAST
    names = [case.name for case in (*positives, *negatives)]
    assert sorted(set(names)) == sorted(names)
    assert all(trigger in {expected for expected, _ in case.expects} for case in positives)
    assert not any(case.expects for case in negatives)


@pytest.mark.parametrize("case", CASES)
def test_a_case_is_a_bundle_whose_every_file_can_be_read(case):
    assert case.why
    with dossier_of(case) as dossier:
        assert len(dossier.sources) == len(case.artifacts) + len(case.results)
        for source in dossier.sources:
            with dossier.opened(source.path) as stream:
                has_text = bool(stream.read().strip())
            if source.kind in READ_INTO_VALUES:
                assert source.is_readable
                assert bool(list(dossier.load(source.path))) == has_text, source.path
    for other in case.others:
        assert list(DiffReader().read(io.BytesIO(other.encode()), Report()))
