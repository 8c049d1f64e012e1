"""Rejudgings for tests: of matches whose challenge was mended after they had been judged."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from bouts.models import Bundle, Match, User
from bouts.rules import Judge
from judging.models import Rejudging
from judging.rejudging import actions, work
from judging.rejudging.choice import Choice
from tests import matches

# Telemetry is absent in these bundles: without Process and Recovery the total is complete.
TWO_JUDGES = ["objective", "strategy", "integrity"]
LOCK = f"hidden.t::{matches.CANARY}_lock"
DETERMINISTIC = (Judge.OBJECTIVE, Judge.PROCESS, Judge.RECOVERY, Judge.INTEGRITY)


def make_match(folder: Path, match: str = "m-1", *, name: str = "Heron", **options: Any) -> Bundle:
    """Judge a match in which the hidden test of the lock fails, unless told otherwise."""
    options.setdefault("hidden", [{**matches.HIDDEN, LOCK: False}])
    return matches.judge(
        folder / match,
        match=match,
        agent={"name": name},
        challenge={"judges": TWO_JUDGES, **options.pop("challenge", {})},
        **options,
    )


def mend(folder: Path, severity: str = "medium", **changes: Any) -> None:
    """Give the challenge a new version, in which the test of the lock has another severity."""
    tests = copy.deepcopy(matches.CHALLENGE["tests"])
    tests[3]["severity"] = severity
    matches.store_challenge(folder, judges=TWO_JUDGES, tests=tests, **changes)


def make_mended(folder: Path) -> None:
    """Two agents: the test of the lock, which Heron fails, is worth less than it was."""
    make_match(folder, "m-1")
    make_match(folder, "m-2", name="Wren", hidden=[matches.HIDDEN])
    mend(folder / "mended")


def propose(by: User, *, judges: tuple[Judge, ...] = DETERMINISTIC, **choice: Any) -> Rejudging:
    """Propose a rejudging under the newest versions, of one challenge unless told otherwise."""
    to_newest = choice.pop("to_newest", True)
    reason = choice.pop("reason", "The lock was graded too high.")
    chosen = Choice(**(choice or {"challenge": "refunds"}))
    return actions.propose(chosen, judges=judges, to_newest=to_newest, reason=reason, by=by)


def preview(rejudging: Rejudging) -> Rejudging:
    """Do all the work of a preview here and now."""
    while work.work_on(rejudging.pk):
        pass
    rejudging.refresh_from_db()
    return rejudging


def apply(rejudging: Rejudging, by: User) -> Rejudging:
    actions.ask_to_apply(rejudging.pk, seen=rejudging.ranked_at, by=by)
    assert actions.apply(rejudging.pk)
    rejudging.refresh_from_db()
    return rejudging


def total_of(match: str) -> str | None:
    card = Match.objects.get(slug=match).scorecards.get(is_live=True)
    return None if card.total is None else str(card.total)
