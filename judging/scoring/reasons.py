"""Why there is no answer: the reason codes of SCORING.md, and what each does to a total."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """The code that stands beside every null, and beside a score that a rule has set."""

    # The run itself: there was nothing to measure.
    NO_EDITS = "no_edits"
    NO_ERRORS = "no_errors"
    NO_CONTRADICTIONS = "no_contradictions"
    NO_FAILING_TESTS = "no_failing_tests"
    TOO_FEW = "too_few"

    # The challenge: the judge or metric does not apply.
    NOT_APPLICABLE = "not_applicable"

    # Something is missing that could have been there.
    NO_TELEMETRY = "no_telemetry"
    UNREADABLE = "unreadable"
    NO_CLOCK = "no_clock"
    DEGRADED = "degraded"
    NO_CONTENT = "no_content"
    TESTS_UNREADABLE = "tests_unreadable"
    NO_TESTS = "no_tests"
    NO_MODEL = "no_model"
    NO_PANEL = "no_panel"
    WAITING = "waiting"
    HELD = "held"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    INVALID = "invalid"
    FAILED = "failed"

    # A rule has set the score to 0: there is an answer, and this is why it is what it is.
    BUILD_FAILED = "build_failed"
    UNVERIFIED = "unverified"

    # The value is null and the metric's score 0: it was there to be done, and was not.
    UNANSWERED = "unanswered"
    UNRESOLVED = "unresolved"
    UNFIXED = "unfixed"

    @property
    def is_missing(self) -> bool:
        """Whether a judge left out for this makes the total incomplete, not just reduced.

        Withholding evidence must never pay, so whatever is not known to lie in the
        challenge or in the run counts as missing (SCORING.md, 1).
        """
        return self not in _LIES_IN_CHALLENGE_OR_RUN

    @property
    def sentence(self) -> str:
        """The reason in words for people."""
        return _SENTENCES[self]


_LIES_IN_CHALLENGE_OR_RUN = frozenset(
    {
        Reason.NO_EDITS,
        Reason.NO_ERRORS,
        Reason.NO_CONTRADICTIONS,
        Reason.NO_FAILING_TESTS,
        Reason.TOO_FEW,
        Reason.NOT_APPLICABLE,
    }
)

_SENTENCES = {
    Reason.NO_EDITS: "nothing was changed",
    Reason.NO_ERRORS: "nothing that had worked went wrong",
    Reason.NO_CONTRADICTIONS: "there was no contradiction to answer",
    Reason.NO_FAILING_TESTS: "no test failed when first seen",
    Reason.TOO_FEW: "there is too little to measure",
    Reason.NOT_APPLICABLE: "the challenge leaves this out",
    Reason.NO_TELEMETRY: "there is no telemetry",
    Reason.UNREADABLE: "a file that this needs is absent or cannot be read",
    Reason.NO_CLOCK: "the telemetry has no clock",
    Reason.DEGRADED: "a time that this needs is missing or runs backwards",
    Reason.NO_CONTENT: "the telemetry does not say what the files contained",
    Reason.TESTS_UNREADABLE: "the results of the tests that were run cannot be read",
    Reason.NO_TESTS: "there is no test in either suite",
    Reason.NO_MODEL: "no model has answered",
    Reason.NO_PANEL: "no seat of the panel has answered",
    Reason.WAITING: "no seat is configured and no verdict was uploaded",
    Reason.HELD: "a model waits to be asked",
    Reason.REFUSED: "the model refused to answer",
    Reason.TIMEOUT: "the model did not answer in time",
    Reason.UNAVAILABLE: "the model could not be reached",
    Reason.INVALID: "the model's answer stayed invalid",
    Reason.FAILED: "the judge's work broke off",
    Reason.BUILD_FAILED: "the build failed",
    Reason.UNVERIFIED: "no test was ever run",
    Reason.UNANSWERED: "no contradiction was answered by a change of approach",
    Reason.UNRESOLVED: "no error was resolved",
    Reason.UNFIXED: "no failing test was made to pass for good",
}
