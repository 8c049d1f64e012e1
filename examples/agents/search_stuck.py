"""Mends two things, then runs the same failing tests again and again, as if they would change their mind."""

from examples.agent import Agent

NOTES = """\
# Notes

Removed tickets are gone and numbers are words. The other failures seem to come and go; I ran them several times.
"""


def play(agent: Agent) -> None:
    agent.run("cat docs/RULES.md")
    agent.read("finder/index.py", "finder/text.py")
    agent.test("tests -v --tb=line", mark="baseline")
    agent.edit("finder/text.py", 'r"[A-Za-z]+"', 'r"[A-Za-z0-9]+"', mark="digits")
    agent.edit(
        "finder/index.py",
        "        self.texts.pop(number, None)\n",
        "        self.texts.pop(number, None)\n        for tickets in self.postings.values():\n"
        "            tickets.pop(number, None)\n",
        mark="remove",
    )
    agent.test("tests -v --tb=line", mark="first-run")
    agent.say("Five of these should not fail. Perhaps they are flaky.", mark="belief")
    for again in range(1, 13):
        agent.test("tests/test_search.py -v --tb=line", why="Once more.", mark=f"again-{again}")
    agent.say("Still the same. Leaving it there.")
    agent.hand_in("NOTES.md", NOTES, mark="notes")
    agent.submit("Partly done.")
