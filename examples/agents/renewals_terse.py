"""No change, in two sentences."""

from examples.agent import Agent

NOTES = "No change needed. Contract 4.2 says that the anchor stays, so 28 Feb and then 31 Mar is right.\n"


def play(agent: Agent) -> None:
    agent.read("renewals/calendar.py", "docs/COMPLAINT.md")
    agent.edit(
        "renewals/calendar.py",
        "min(anchor.day, last_day(year, month))",
        "min(anchor.day, 28)",
        why="Keep it on the 28th?",
        mark="try",
    )
    agent.test("tests -q -rA", mark="failed")
    agent.read(
        "docs/CONTRACT.md", why="The tests disagree. What does the contract say?", mark="contract"
    )
    agent.revert("renewals/calendar.py", why="The code was right.", mark="revert")
    agent.test("tests -q -rA", mark="green")
    agent.hand_in("NOTES.md", NOTES, mark="notes")
    agent.submit("No change needed.")
