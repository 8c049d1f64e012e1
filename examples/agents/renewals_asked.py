"""No change, and three questions that the contract leaves open."""

from examples.agent import Agent

NOTES = """\
# No change to the code

28 February, 31 March, 30 April, 31 May: each is what 4.1 and 4.2 ask for. The sentence that the customer
quotes does not stand in the contract that lies beside the code; maybe they have an older edition, and that is worth
asking before we tell them that they are wrong.

Questions for the owner of the contract:

1. Is there an edition with "moves for good"? Three customers with the same words would be odd otherwise.
2. 4.3 says nothing about the leap year after: does a subscription from 29 February come back to the 29th in 2028? The
   code does that; 4.2 suggests it.
3. 4.4 in a zone where midnight does not exist on a changeover day: the code takes what the zone database says.
"""


def play(agent: Agent) -> None:
    agent.read("docs/CONTRACT.md", "docs/COMPLAINT.md", mark="contract")
    agent.read("renewals/calendar.py", "tests/test_calendar.py")
    agent.search(
        "for good", path="docs", why="Where is the sentence that the customer quotes?", mark="quote"
    )
    agent.test("tests -v", mark="baseline")
    agent.run(
        'python -c "from datetime import date; from renewals.calendar import renewals; '
        'print(renewals(date(2026, 1, 31), 4)); print(renewals(date(2024, 2, 29), 4, every=12))"',
        mark="reproduce",
    )
    agent.say(
        "The code agrees with the contract on every date in the ticket. What the ticket quotes is not there.",
        mark="finding",
    )
    agent.claim("The dates in the complaint are what the contract asks for.", 0.97, "N1")
    agent.claim("The sentence in the complaint stands nowhere in part 4.", 0.99, "N1")
    agent.claim("A leap-day subscription comes back to the 29th in 2028.", 0.9, "N2")
    agent.hand_in_claims(mark="claims")
    agent.hand_in("NOTES.md", NOTES, mark="notes")
    agent.submit("No change; three questions for the owner of the contract.")
