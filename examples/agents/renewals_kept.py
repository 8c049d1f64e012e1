"""Reads the contract, reproduces the complaint, and leaves the code alone."""

from examples.agent import Agent

NOTES = """\
# No change

The software does what the contract says, and I changed nothing.

| month | charged on | contract |
| --- | --- | --- |
| February 2026 | 28th | 4.2, first sentence: no 31st, so the last day |
| March 2026 | 31st | 4.2, second sentence: the anchor comes back |
| April 2026 | 30th | 4.2, first sentence again |

The customer quotes a sentence ("the billing day moves to the 28th for good") that is not in part 4; 4.2 says the
opposite. If billing should stay on the 28th, the contract has to change before the code does.

A draft reply for support: "Your subscription renews on the day on which it began, the 31st. Months without a 31st
renew on their last day (contract, 4.2). Your next renewals are 30 June and 31 July."
"""


def play(agent: Agent) -> None:
    agent.read("docs/COMPLAINT.md", "docs/CONTRACT.md", "renewals/calendar.py", mark="contract")
    agent.test(mark="baseline")
    agent.run(
        'python -c "from datetime import date; from renewals.calendar import renewals; '
        "print(*renewals(date(2026, 1, 31), 6), sep='\\n')\"",
        why="The complaint's own dates.",
        mark="reproduce",
    )
    agent.plan(
        "The dates in the complaint are what 4.2 asks for. No change. Write down why, with the clause beside each date.",
        mark="plan",
    )
    agent.hand_in("NOTES.md", NOTES, mark="notes")
    agent.submit("Nothing to change: the dates are those of contract 4.2.")
