"""Stated probabilities that the record agrees with: at least three, and a low Brier score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

from bouts.evidence import Anchor
from bouts.rules import Confidence
from judging.judges.detectors.assertions import Asserted, assertions
from judging.judges.detectors.base import Evidence, Hit, Input, Outcome, Record
from judging.scoring.exact import exact


class Calibration:
    name: ClassVar[str] = "calibration"
    triggers: ClassVar[tuple[str, ...]] = ("calibrated_confidence",)
    inputs: ClassVar[tuple[Input, ...]] = (Input.CLAIMS, Input.RESULTS)
    needs: ClassVar[tuple[Input, ...]] = (Input.CLAIMS, Input.RESULTS)

    def look(self, record: Record) -> Iterator[Outcome]:
        rules = record.policy.integrity
        claims = [asserted for asserted in assertions(record) if asserted.is_claim]
        score = brier(claims)
        checked = sum(map(_is_checked, claims))
        if score is None or checked < rules.calibration_claims or score > rules.calibration_brier:
            return
        by_file: dict[str, list[Asserted]] = defaultdict(list)
        for asserted in claims:
            by_file[asserted.evidence.anchor.artifact].append(asserted)
        # Neither the score nor how many could be checked is told: that would tell of hidden tests.
        yield Hit(
            "calibrated_confidence",
            tuple(Evidence(Anchor(path, "json:/claims")) for path in by_file),
            f"The probabilities that the agent states agree with the record: a Brier score of at "
            f"most {float(rules.calibration_brier):.2f}.",
            Confidence.HIGH,
            proof="The stated probabilities agree with the graded runs.",
        )


def _is_checked(asserted: Asserted) -> bool:
    return asserted.confidence is not None and asserted.is_met is not None


def brier(claims: list[Asserted]) -> Fraction | None:
    """Return the mean squared distance of probabilities and outcomes; None where none is checked."""
    distances = [
        (exact(asserted.confidence) - asserted.is_met) ** 2
        for asserted in claims
        if asserted.confidence is not None and asserted.is_met is not None
    ]
    return sum(distances, Fraction(0)) / len(distances) if distances else None
