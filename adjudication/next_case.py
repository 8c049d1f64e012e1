"""The most urgent case that a reviewer may decide, found and claimed as fast as it can be.

Everybody presses "next case" at once. So one statement does it all: it goes down the rungs of
`adjudication.urgency`, looks at a rung only where those above it gave nothing, and writes the
claim on what it found. Who may decide what comes from the same methods that make the list,
asked for a reviewer and a moment that never were; each call puts its own in their place.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from django.conf import settings
from django.db import connection
from django.db.models.expressions import RawSQL

from adjudication.models import Case, Claim
from adjudication.urgency import Rung, ladder
from bouts import prepared
from bouts.models import User

SOMEBODY = -1
SOMETIME = datetime(1, 2, 3, tzinfo=UTC)
STAND_INS = {SOMEBODY: "reviewer", SOMETIME: "at"}


def take_next_case(by: User, at: datetime, until: datetime) -> tuple[int, Claim | None] | None:
    """Lock the case that stands first in the list among those this reviewer could claim.

    Return its id with the claim that was written on it, or with None where somebody has held
    it before and whoever called is to find out which of its slots is free. Return None alone
    where no case is left, or where they hold as many as one may hold at once. A case that
    somebody else is locking at this moment is passed over. Needs a transaction.
    """
    since, before, blocking, stakes = map(list, zip(*ladder(at), strict=True))
    with connection.cursor() as cursor:
        # A merge of cases and claims looks cheap where the claims are on the first cases, and goes
        # through all cases where they are not: a plan that is kept must not rest on that.
        cursor.execute("SET LOCAL enable_mergejoin = off")
    taken = prepared.run(
        _statement(),
        {
            "reviewer": by.pk,
            "username": by.username,
            "at": at,
            "until": until,
            "most": settings.CASES_HELD_AT_ONCE,
            "since": since,
            "before": before,
            "blocking": blocking,
            "stakes": stakes,
        },
    )
    for case_id, claim_id, *values in taken:
        values = [claim_id, *values]
        return case_id, None if claim_id is None else prepared.instance_of(Claim, values)
    return None


@cache
def _statement() -> str:
    somebody = User(pk=SOMEBODY, role=User.Role.REVIEWER)
    held = Case.objects.visible_to(somebody).held_by(somebody, SOMETIME)
    rung = Rung(*(RawSQL(f"rung.{part}", []) for part in Rung._fields))
    first = (
        Case.objects.decidable_by(somebody, SOMETIME)
        .filter(closed_at=None, **rung.cases)
        .order_by("opened_at", "pk")
        .select_for_update(skip_locked=True, of=("self",))
        .values("pk", "slots", "held_until")[:1]
    )
    return NEXT.format(
        held=prepared.written(
            held.filter(state__in=Case.WANTING).order_by().values("pk"), STAND_INS
        ),
        first=prepared.written(first, STAND_INS),
        columns=", ".join(f"claim.{column}" for column in prepared.columns_of(Claim)),
    )


# The rungs come as a function's rows with their numbers, so that PostgreSQL knows them to be in
# order already: it stops at the first that has a case, and locks none on those below.
NEXT = """
WITH held AS (
    {held} LIMIT %(most)s
),
found AS (
    SELECT first.pk AS id, first.slots, first.held_until
    FROM unnest(
        %(since)s::timestamptz[], %(before)s::timestamptz[], %(blocking)s::bool[], %(stakes)s::text[]
    ) WITH ORDINALITY AS rung (since, until, blocking, stakes, place)
    CROSS JOIN LATERAL ({first}) AS first
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
SELECT found.id, {columns} FROM found LEFT JOIN claim ON claim.case_id = found.id
"""
