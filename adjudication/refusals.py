"""Why something is refused although it was asked for properly: the case has moved on.

Pages answer with 409 and show what was written; the API answers with 409 and the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class Refused(Exception):
    """The message is a sentence for the person; `code` is for programs."""

    code: ClassVar[str] = "refused"
    sentence: ClassVar[str]

    def __init__(self, sentence: str = "") -> None:
        super().__init__(sentence or self.sentence)
        self.draft: Mapping[str, str] = {}  # what was written, where it has been kept


class AlreadyClaimed(Refused):
    code = "already_claimed"
    sentence = "Someone else holds this case."


class ClaimLapsed(Refused):
    code = "claim_lapsed"
    sentence = "Your claim on this case has ended. Claim it again to go on."


class CaseClosed(Refused):
    code = "case_closed"
    sentence = "This case is settled; nothing is left to decide."


class CaseChanged(Refused):
    code = "case_changed"
    sentence = "The match has a new score since you opened this form. Look at the effect again."


class Superseded(Refused):
    code = "superseded"
    sentence = "A new upload of this match is being judged. Wait for its score."


class NotBlindYet(Refused):
    code = "not_blind_yet"
    sentence = "A ruling comes after your own score. Commit that first."


class AlreadyCommitted(Refused):
    code = "already_committed"
    sentence = "Your own score on this question is committed and stays as it is."


class AlreadyRuled(Refused):
    code = "already_ruled"
    sentence = "You have ruled on this case. To change that, correct your ruling."


class AlreadyCorrected(Refused):
    code = "already_corrected"
    sentence = "A later ruling has replaced this one."


class Declined(Refused):
    code = "declined"
    sentence = "You declined this case; it is for somebody else."


class PanelAskedAlready(Refused):
    code = "panel_asked_already"
    sentence = "The panel has been asked again on this case once; that is all there is."


class NobodyToAsk(Refused):
    code = "nobody_to_ask"
    sentence = "No seat of the panel is configured: there is nobody to ask again."


class NothingToWaitFor(Refused):
    code = "nothing_to_wait_for"
    sentence = "This case does not wait for the panel any more."


class Frozen(Refused):
    code = "frozen"
    sentence = "This challenge is frozen: no ruling is taken until ops lift that."


class BadDecision(ValueError):
    """A score or ruling that the rules do not know; `field` is where the form is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class AskedAlready(Refused):
    code = "asked_already"
    sentence = "A review of this match was asked for already. There is one a match."


class NotFinal(Refused):
    code = "not_final"
    sentence = "The total is not final. A review is for a final one."


class WindowClosed(Refused):
    code = "window_closed"
    sentence = "The time to ask for a review is over."


class ChangedSince(Refused):
    code = "changed_since"
    sentence = "The match has a new score since you opened this form. Look at it, then ask again."
