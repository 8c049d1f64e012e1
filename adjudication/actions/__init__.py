"""What gets written on a case, and when: one transaction each, that locks, checks, writes."""

from adjudication.actions.claims import (
    claim_case,
    claim_next,
    decline,
    release,
    renew,
    save_draft,
    take_over,
)
from adjudication.actions.conflicts import declare_conflict
from adjudication.actions.reviews import ask_for_review
from adjudication.actions.rulings import (
    Decision,
    ask_again,
    commit_score,
    correct_ruling,
    end_wait,
    rule,
)

__all__ = [
    "Decision",
    "ask_again",
    "ask_for_review",
    "claim_case",
    "claim_next",
    "commit_score",
    "correct_ruling",
    "declare_conflict",
    "decline",
    "end_wait",
    "release",
    "renew",
    "rule",
    "save_draft",
    "take_over",
]
