"""The most urgent case that a reviewer may decide, found and claimed as fast as it can be.

Everybody presses "next case" at once. So one round trip does it all: it waits for what the same
person does elsewhere, goes down the rungs of `adjudication.urgency`, looks at a rung only where
those above it gave nothing, and writes the claim on what it found. Who may decide what comes
from the same methods that make the list, asked for a reviewer and a moment that never were; each
call puts its own in their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from django.conf import settings
from django.db.models.expressions import RawSQL

from adjudication.models import Case, Claim
from adjudication.urgency import Rung, ladder
from bouts import prepared
from bouts.models import User

SOMEBODY = -1
SOMETIME = datetime(1, 2, 3, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Taken:
    """What "next case" came to.

    Without a claim the case is locked and takes more than one statement to claim: it has
    several slots, or somebody has held it before.
    """

    case_id: int
    claim: Claim | None


def turn_of(by: User) -> str:
    """Name the lock that keeps apart what one person does in two tabs."""
    return f"cases of {by.pk}"


def take_next_case(by: User, at: datetime, until: datetime) -> Taken | None:
    """Claim the case that stands first in the list among those this reviewer could claim.

    Whoever holds as many as one may hold at once gets the oldest of them. Return None where
    no case is left. A case that somebody else is locking at this moment is passed over.
    """
    values = {
        "turn": turn_of(by),
        "reviewer": by.pk,
        "username": by.username,
        "at": at,
        "until": until,
        "late": at - settings.CASE_TARGET,
        "over": at - settings.CASE_LIMIT,
        "most": settings.CASES_HELD_AT_ONCE,
    }
    for case_id, *claim in prepared.together((WAIT, values), (_take(), values)):
        has_claim = claim[0] is not None
        return Taken(case_id, prepared.instance_of(Claim, claim) if has_claim else None)
    return None


# A statement of its own, so that the next one sees what was committed while this one waited.
# A merge of cases and claims looks cheap where the claims are on the first cases, and goes
# through all cases where they are not: a plan that is kept must not rest on that.
WAIT = (
    "SELECT pg_advisory_xact_lock(hashtext(%(turn)s)), set_config('enable_mergejoin', 'off', true)"
)


@cache
def _take() -> str:
    somebody = User(pk=SOMEBODY, role=User.Role.REVIEWER)
    stand_ins = {
        SOMEBODY: "reviewer",
        SOMETIME: "at",
        SOMETIME - settings.CASE_TARGET: "late",
        SOMETIME - settings.CASE_LIMIT: "over",
    }
    columns = prepared.columns_of(Claim)
    live = Claim.objects.live(SOMETIME).filter(reviewer=somebody)
    known = Case.objects.visible_to(somebody).filter(state__in=Case.WANTING)
    rung = Rung(*(RawSQL(f"rung.{part}", []) for part in Rung._fields))
    first = Case.objects.decidable_by(somebody, SOMETIME).filter(closed_at=None, **rung.cases)
    arrays = [
        f"ARRAY[{', '.join(prepared.spell(value, stand_ins) for value in values)}]"
        for values in zip(*ladder(SOMETIME), strict=True)
    ]
    return TAKE.format(
        live=prepared.written(live.order_by().values(*columns), stand_ins),
        known=prepared.written(
            known.filter(pk=RawSQL("live.case_id", [])).order_by().values("pk"), stand_ins
        ),
        first=prepared.written(
            first.order_by("opened_at", "pk").values("pk", "slots", "held_until")[:1], stand_ins
        ),
        rungs=", ".join(arrays),
        parts=", ".join(Rung._fields),
        columns=", ".join(columns),
        claimed=", ".join(f"claim.{column}" for column in columns),
    )


# Whether one may still know of what one holds is asked only of those who hold as many as one may;
# and of each claim by itself, since joined PostgreSQL may look through all cases for it.
# The rungs come as a function's rows with their numbers, so that PostgreSQL knows them to be in
# order already: it stops at the first that has a case, and locks none on those below.
TAKE = """
WITH live AS (
    {live}
),
held AS (
    SELECT live.* FROM live
    WHERE (SELECT count(*) FROM live) >= %(most)s AND case_id = ({known} LIMIT 1)
),
found AS (
    SELECT first.pk AS id, first.slots, first.held_until
    FROM unnest({rungs}) WITH ORDINALITY AS rung ({parts}, place)
    CROSS JOIN LATERAL ({first} FOR UPDATE OF adjudication_case SKIP LOCKED) AS first
    WHERE (SELECT count(*) FROM held) < %(most)s
    ORDER BY rung.place LIMIT 1
),
claim AS (
    INSERT INTO adjudication_claim (case_id, slot, reviewer_id, claimed_at, expires_at, ended_how)
    SELECT id, 1, %(reviewer)s, %(at)s, %(until)s, '' FROM found
    WHERE slots = 1 AND held_until IS NULL
    RETURNING *
),
noted AS (
    UPDATE adjudication_case SET held_until = %(until)s, full_until = %(until)s
    FROM claim WHERE adjudication_case.id = claim.case_id
),
logged AS (
    INSERT INTO bouts_auditentry (at, actor_id, action, subject, after, reason)
    SELECT %(at)s, %(reviewer)s, 'claim_next', 'case:' || case_id,
           jsonb_build_object('holder', %(username)s::text), ''
    FROM claim
)
SELECT found.id, {claimed} FROM found LEFT JOIN claim ON claim.case_id = found.id
UNION ALL
(SELECT case_id, {columns} FROM held WHERE (SELECT count(*) FROM held) >= %(most)s
 ORDER BY claimed_at, id LIMIT 1)
"""
