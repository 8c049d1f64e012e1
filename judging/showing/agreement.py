"""How far scores agree, as pages for leads and ops show it (SCORING.md, 10)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from judging.scoring.agreement import Agreement, Standing
from judging.scoring.exact import exact, rounded
from judging.scoring.policy import CURRENT


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """How far scores agree, and of what they are scores.

    `flagged` of the units are of flagged panels. Where all of them are, nothing is printed:
    panels are flagged because raters disagree, so they say nothing of raters.
    """

    title: str
    population: str
    flagged: int
    measured: Agreement

    @property
    def why_not(self) -> str:
        """Why no coefficient is printed; empty where they are."""
        if self.measured.standing is Standing.WITHHELD:
            return f"Not printed: under {CURRENT.agreement.indicative_from_units} units."
        if self.flagged == self.measured.units:
            return "Not printed: flagged cases alone are a biased sample."
        return ""

    @property
    def is_indicative(self) -> bool:
        return self.measured.standing is Standing.INDICATIVE

    @property
    def coefficients(self) -> list[tuple[str, str]]:
        """The figures as they are shown, each with its name."""
        found = self.measured
        return [
            (f"Raw, within {CURRENT.agreement.within}", _places(found.within, 4)),
            ("Alpha, interval", _places(found.alpha_interval, 6)),
            ("ICC(A,1)", _places(found.icc_a1, 6)),
            ("ICC(A,k)", _places(found.icc_ak, 6)),
            ("Error, points", _places(found.error_points, 2)),
        ]


def _places(value: Fraction | float | None, places: int) -> str:
    """Return a figure half up to so many places (SCORING.md, preface)."""
    return "undefined" if value is None else f"{rounded(exact(value), places):f}"
