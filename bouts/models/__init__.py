"""Teams, agents, challenges, matches, and what a bundle holds."""

from bouts.models.artifacts import Artifact, Blob, Chunk, TestResult
from bouts.models.challenges import Challenge, ChallengeVersion
from bouts.models.matches import Agent, Bundle, Match, Upload
from bouts.models.people import (
    ApiToken,
    AuditEntry,
    FormerMembership,
    Invitation,
    Membership,
    PasswordReset,
    SignInTry,
    Team,
    User,
)

__all__ = [
    "Agent",
    "ApiToken",
    "Artifact",
    "AuditEntry",
    "Blob",
    "Bundle",
    "Challenge",
    "ChallengeVersion",
    "Chunk",
    "FormerMembership",
    "Invitation",
    "Match",
    "Membership",
    "PasswordReset",
    "SignInTry",
    "Team",
    "TestResult",
    "Upload",
    "User",
]
