"""Process: was the work orderly, whatever its result?"""

from __future__ import annotations

from bouts.rules import Judge
from judging.judges.base import Dossier, Opinion
from judging.judges.strategy import SeatAnswer
from judging.judges.telemetry import opinion
from judging.scoring.halves import process
from judging.scoring.policy import Policy
from judging.scoring.telemetry import Telemetry


class ProcessJudge:
    slug = Judge.PROCESS
    title = "Process"
    version = 1

    def judge(
        self,
        dossier: Dossier,
        telemetry: Telemetry,
        policy: Policy,
        asked: SeatAnswer | None = None,
    ) -> Opinion:
        return opinion(self.slug, dossier, telemetry, process, policy, asked)
