"""The most urgent case that a reviewer may decide, found and locked as fast as it can be.

Everybody presses "next case" at once, and building this query takes longer than running it.
So it is compiled once, from the same methods that make the list, for a reviewer and a moment
that never were; each call puts its own in their place. It goes down the rungs of
`adjudication.urgency` and looks at a rung only where those above it gave nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from django.conf import settings
from django.db import connection

from adjudication.models import Case
from adjudication.urgency import RUNGS, on_rung
from bouts.models import User

SOMEBODY = -1
SOMETIME = datetime(1, 2, 3, tzinfo=UTC) + settings.CASE_LIMIT


def lock_next_case(user: User, at: datetime) -> Case | None:
    """Lock the case that stands first in the list among those this reviewer could claim.

    A case that somebody else is locking at this moment is passed over. Needs a transaction.
    """
    sql, params = _compiled()
    actual = {
        SOMEBODY: user.pk,
        SOMETIME: at,
        SOMETIME - settings.CASE_LIMIT: at - settings.CASE_LIMIT,
        SOMETIME - settings.CASE_TARGET: at - settings.CASE_TARGET,
    }
    return next(iter(Case.objects.raw(sql, [actual.get(param, param) for param in params])), None)


@cache
def _compiled() -> tuple[str, tuple[object, ...]]:
    somebody = User(pk=SOMEBODY, role=User.Role.REVIEWER)
    decidable = Case.objects.decidable_by(somebody, SOMETIME)
    firsts, params = [], []
    for rung in RUNGS:
        first = on_rung(decidable, rung, SOMETIME).order_by("opened_at", "pk").values("pk")
        locked = first.select_for_update(skip_locked=True, of=("self",))[:1]
        sql, given = locked.query.get_compiler(connection=connection).as_sql()
        firsts.append(f"({sql})")
        params += given
    # COALESCE stops at the first rung that has a case.
    table = Case._meta.db_table
    return f"SELECT * FROM {table} WHERE id = COALESCE({', '.join(firsts)})", tuple(params)
