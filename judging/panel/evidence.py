"""What a model is shown of a match: built by one function, by the table of SCORING.md, 7."""

from __future__ import annotations

from collections.abc import Mapping

from bouts.rules import Judge
from judging.judges.base import Dossier
from judging.panel.items import EvidenceBundle
from judging.panel.sections import Row, build
from judging.scoring.telemetry import Telemetry

_P, _S, _R, _I = Judge.PROCESS, Judge.STRATEGY, Judge.RECOVERY, Judge.INTEGRITY

# The table of SCORING.md, 7. Whatever is in no row is shown to nobody.
VISIBLE: Mapping[Row, frozenset[Judge]] = {
    Row.WORK: frozenset({_P, _S, _R, _I}),
    Row.TIMELINE: frozenset({_P, _R, _I}),
    Row.ERRORS: frozenset({_R, _I}),
    Row.PLANS: frozenset({_S, _R}),
    Row.DELIVERABLES: frozenset({_S, _I}),
    Row.RECORD: frozenset({_I}),
}


def evidence_for(judge: Judge, dossier: Dossier, telemetry: Telemetry) -> EvidenceBundle:
    """Build what a judge may see of a match; the same dossier gives the same bundle.

    ``telemetry`` is `judging.judges.telemetry.analysed(dossier, policy)`. A bundle without
    items gives a model nothing to judge: such a judge is not asked. Raises `ValueError` for
    Objective, which asks no model.
    """
    rows = frozenset(row for row, judges in VISIBLE.items() if judge in judges)
    if not rows:
        raise ValueError(f"{judge} asks no model")
    return build(judge, rows, dossier, telemetry)
