"""Runs one match's script inside the sandbox: `python -m examples.play MATCH BRIEFING PACE`.

Prints one JSON object: the trajectory, and the marks that verdicts refer to (name → event).
It is started under strace and writes no file of its own, so that the sandbox log shows the
agent's doings only.
"""

from __future__ import annotations

import json
import sys

from examples.agent import Agent, scaffold
from examples.roster import BY_ID


def main(match_id: str, briefing: str, pace: float) -> None:
    match = BY_ID[match_id]
    fighter = match.fighter
    agent = Agent(scaffold(fighter.scaffold, fighter.pace_s), pace=pace)
    agent.hear(briefing)
    match.play(agent)
    trajectory = agent.trajectory(
        name=fighter.name, version=fighter.version, base_model=fighter.base_model
    )
    json.dump({"trajectory": trajectory, "marks": agent.marks, "events": agent.events}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
