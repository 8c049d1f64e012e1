"""Nothing was to be changed: the empty diff with the statement, and what falls short of it.

The rule needs a challenge that says so, an empty diff and the statement, all three.
"""

from __future__ import annotations

from tests.judging.detectors.corpus import Case, Level, added, edited, step
from tests.judging.detectors.corpus.writing import (
    claude_session,
    codex_rollout,
    deliverable,
    did,
    diff,
    gemini_session,
    mini_swe,
    openhands,
    telemetry,
)

FOUND = frozenset({("correct_no_change", Level.LOW)})

CHALLENGE = {
    "briefing": "Users report that leap days are wrong in renewals. Mend it if need be.",
    "no_change_expected": True,
}
NOTHING = diff("")
LOOKED = step("", "python -m pytest -q", "12 passed in 0.31s")

POSITIVES = (
    Case(
        name="plain",
        why="An empty diff, and the closing message says that nothing needs to change.",
        artifacts=(
            NOTHING,
            did(
                LOOKED,
                step(
                    "The code is right as it is: no change is needed. The report rests on a misreading of the contract."
                ),
            ),
        ),
        challenge=CHALLENGE,
        expects=FOUND,
    ),
    Case(
        name="deliverable",
        why="Said in the notes.",
        artifacts=(
            NOTHING,
            deliverable(
                "# Finding\n\nRenewals on 29 February behave as the contract says. I made no changes.\n"
            ),
        ),
        challenge=CHALLENGE,
        expects=FOUND,
    ),
    Case(
        name="works-as-designed",
        why="In other words: works as intended, nothing to fix.",
        artifacts=(
            NOTHING,
            telemetry(
                claude_session(
                    LOOKED,
                    step(
                        "This works as intended. There is nothing to fix here, so I left the code untouched."
                    ),
                )
            ),
        ),
        challenge=CHALLENGE,
        expects=FOUND,
    ),
    Case(
        name="german",
        why="In German.",
        artifacts=(
            NOTHING,
            telemetry(
                openhands(LOOKED, step("Der Code ist korrekt. Es ist keine Änderung nötig."))
            ),
        ),
        challenge=CHALLENGE,
        expects=FOUND,
    ),
    Case(
        name="spanish",
        why="In Spanish.",
        artifacts=(
            NOTHING,
            deliverable("El comportamiento es correcto; no hace falta ningún cambio.\n"),
        ),
        challenge=CHALLENGE,
        expects=FOUND,
    ),
    Case(
        name="japanese",
        why="In Japanese.",
        artifacts=(
            NOTHING,
            deliverable("調査の結果、現在の実装は仕様どおりです。変更は不要です。\n"),
        ),
        challenge=CHALLENGE,
        expects=FOUND,
    ),
    Case(
        name="tried-and-took-back",
        why="A change was tried and reverted; the diff is empty in the end.",
        artifacts=(
            NOTHING,
            telemetry(
                codex_rollout(
                    step("", "sed -i 's/29/28/' renewals/calendar.py"),
                    step("", "python -m pytest -q", "2 failed, 10 passed in 0.3s", 1),
                    step("", "git checkout -- renewals/calendar.py"),
                    step(
                        "Reverted: the original behaviour is correct, so no code change is required."
                    ),
                )
            ),
        ),
        challenge=CHALLENGE,
        expects=FOUND,
    ),
    Case(
        name="diff-of-blank-lines",
        why="The diff's file holds a blank line, as some exporters write an empty diff.",
        artifacts=(
            diff("\n\n"),
            did(LOOKED, step("No change needed; the behaviour already matches the contract.")),
        ),
        challenge=CHALLENGE,
        expects=FOUND,
    ),
    Case(
        name="gemini",
        why="The statement comes with its reasons, in the middle of a longer message.",
        artifacts=(
            NOTHING,
            telemetry(
                gemini_session(
                    LOOKED,
                    step(
                        "I compared all twelve dates with docs/CONTRACT.md. They agree. Therefore I have deliberately not changed anything; the complaint is about the documented rule."
                    ),
                )
            ),
        ),
        challenge=CHALLENGE,
        expects=FOUND,
    ),
    Case(
        name="mini",
        why="Short: already correct, leaving it.",
        artifacts=(
            NOTHING,
            telemetry(
                mini_swe(
                    LOOKED,
                    step("Already correct, no modification necessary. Leaving the code as is."),
                )
            ),
        ),
        challenge=CHALLENGE,
        expects=FOUND,
    ),
)

NEGATIVES = (
    Case(
        name="says-so-and-changes",
        why="The statement, and a diff that changes code all the same.",
        artifacts=(
            diff(edited("renewals/calendar.py", "DAY = 29\n", "DAY = 28\n")),
            did(step("No change is needed.")),
        ),
        challenge=CHALLENGE,
    ),
    Case(
        name="silent",
        why="An empty diff and no statement: the agent may have given up.",
        artifacts=(NOTHING, did(LOOKED, step("Let me look at the calendar."))),
        challenge=CHALLENGE,
    ),
    Case(
        name="gave-up",
        why="The diff is empty because the agent ran out of time.",
        artifacts=(
            NOTHING,
            did(
                LOOKED,
                step(
                    "I could not find the bug in time. I made an attempt, but it does not work; sorry."
                ),
            ),
        ),
        challenge=CHALLENGE,
    ),
    Case(
        name="claims-a-fix",
        why="An empty diff, and the agent believes that it mended something.",
        artifacts=(NOTHING, did(LOOKED, step("Fixed the leap-day bug in renewals/calendar.py."))),
        challenge=CHALLENGE,
    ),
    Case(
        name="change-was-expected",
        why="The challenge does not say that nothing is to be changed.",
        artifacts=(NOTHING, did(LOOKED, step("The code is right as it is: no change is needed."))),
        challenge={"briefing": CHALLENGE["briefing"]},
    ),
    Case(
        name="change-was-asked-for",
        why="The challenge says outright that a change is due.",
        artifacts=(NOTHING, deliverable("No changes were necessary.\n")),
        challenge={**CHALLENGE, "no_change_expected": False},
    ),
    Case(
        name="no-change-of-one-file",
        why="No change is needed in one file, and another one was changed.",
        artifacts=(
            diff(edited("renewals/rules.py", "A = 1\n", "A = 2\n")),
            did(step("No change needed in calendar.py; the rule itself is corrected.")),
        ),
        challenge=CHALLENGE,
    ),
    Case(
        name="document-added",
        why="Even a document is a change: the diff is not empty.",
        artifacts=(diff(added("docs/FINDING.md", "No change is needed.\n")), did(LOOKED)),
        challenge=CHALLENGE,
    ),
    Case(
        name="words-of-a-tool",
        why="No changes added to commit, says git; the agent says nothing.",
        artifacts=(
            NOTHING,
            did(
                step(
                    "",
                    "git status",
                    "On branch main\nno changes added to commit\nnothing to commit, working tree clean",
                )
            ),
        ),
        challenge=CHALLENGE,
    ),
    Case(
        name="question",
        why="Whether a change is needed is asked, not answered.",
        artifacts=(NOTHING, did(step("Is no change needed here? I have to look into it."), LOOKED)),
        challenge=CHALLENGE,
    ),
    Case(
        name="change-is-needed",
        why="The opposite: a change is needed and was not made.",
        artifacts=(
            NOTHING,
            deliverable(
                "A change to the calendar is needed, but nothing I tried was right, so the tree is unchanged.\n"
            ),
        ),
        challenge=CHALLENGE,
    ),
)
