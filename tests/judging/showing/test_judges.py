"""What an Objective card says beside its figures."""

from __future__ import annotations

from typing import Any

import pytest

from judging.scoring.policy import CURRENT
from judging.showing.addresses import Addresses
from judging.showing.judges import objective_card


def notes_of(**changes: Any) -> tuple[str, ...]:
    judge = {
        "raw": "90.00",
        "base": "90.00",
        "bonus": "0.00",
        "static_rate": "90.00",
        "hidden_rate": None,
        "reproducible": True,
        "gate": "reduced_evidence",
        "rationale": "",
        "marks": [],
        "evidence": {"tests": [], "build": {"ok": True, "log": None}, "logs": []},
        **changes,
    }
    card = {"judges": {"objective": judge}, "withheld": []}
    return objective_card(card, CURRENT, Addresses(match="m-1")).notes


@pytest.mark.parametrize(
    ("reproducible", "note"),
    [
        (True, "Reproducible: the runs lie within 2 points of each other."),
        (False, "Not reproducible: the runs differ by more than 2 points."),
        (
            None,
            "Whether it is reproducible is not known: there are not two runs to compare.",
        ),
    ],
)
def test_one_run_alone_is_neither_reproducible_nor_not(
    reproducible: bool | None, note: str
) -> None:
    assert notes_of(reproducible=reproducible) == (note,)


def test_without_a_base_nothing_is_said_of_runs() -> None:
    notes = notes_of(base=None, raw="0.00", reproducible=None, gate="build_failed")
    assert notes == ("The build failed, so the score is 0 whatever else is there.",)


def test_what_was_left_out_is_said() -> None:
    assert notes_of(marks=["unreadable_run"], skipped=["t::a"])[1:] == (
        "A run whose results cannot be read is left out.",
        "1 test skipped in every run: not counted.",
    )
