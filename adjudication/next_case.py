"""The most urgent case that a reviewer may decide, found and locked as fast as it can be.

Everybody presses "next case" at once, and building this query takes longer than running it.
So it is compiled once, from the same two methods that make the list, for a reviewer and a
moment that never were; each call puts its own in their place.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from django.conf import settings
from django.db import connection

from adjudication.models import Case
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
    cases = Case.objects.decidable_by(somebody, SOMETIME).in_order(SOMETIME)
    locked = cases.select_for_update(skip_locked=True, of=("self",))[:1]
    return locked.query.get_compiler(connection=connection).as_sql()
