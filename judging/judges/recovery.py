"""Recovery: what did the agent do when something went wrong?"""

from __future__ import annotations

from bouts.rules import Judge
from judging.judges.base import Dossier, Opinion
from judging.judges.strategy import SeatAnswer
from judging.judges.telemetry import opinion
from judging.scoring.halves import recovery
from judging.scoring.policy import Policy
from judging.scoring.telemetry import Telemetry


class RecoveryJudge:
    slug = Judge.RECOVERY
    title = "Recovery"
    version = 1

    def judge(
        self,
        dossier: Dossier,
        telemetry: Telemetry,
        policy: Policy,
        asked: SeatAnswer | None = None,
    ) -> Opinion:
        return opinion(self.slug, dossier, telemetry, recovery, policy, asked)
