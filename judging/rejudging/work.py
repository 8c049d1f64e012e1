"""The steps of a rejudging: a row a match, each previewed by itself.

The rows are the truth. A worker takes one on a lease; one whose worker dies is free again when
the lease lapses, and doing it twice changes nothing. Once all are through, the ranks follow.
"""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from judging.models import RejudgedMatch, Rejudging
from judging.rejudging import candidates, ranks

logger = logging.getLogger(__name__)

State = RejudgedMatch.State
DIED = "the worker died each time"


def work_on(rejudging_id: int) -> bool:
    """Preview one match of a rejudging, or what its ranks would be; return whether more is left."""
    row = _take(rejudging_id)
    if row is None:
        return _rank(rejudging_id)
    _finish(row, **_previewed(row))
    return True


TAKE = """
WITH free AS (
    SELECT id FROM judging_rejudgedmatch
     WHERE rejudging_id = %(rejudging)s
       AND (state = 'waiting' OR (state = 'running' AND lease_expires_at < %(now)s))
       AND EXISTS (SELECT FROM judging_rejudging WHERE id = %(rejudging)s AND state = 'open')
     ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
UPDATE judging_rejudgedmatch row SET state = 'running', attempts = attempts + 1,
       started_at = %(now)s, lease_expires_at = %(until)s
  FROM free WHERE row.id = free.id
RETURNING row.id
"""


def _take(rejudging_id: int) -> RejudgedMatch | None:
    """Take a match on a lease."""
    now = timezone.now()
    values = {"rejudging": rejudging_id, "now": now, "until": now + settings.STEP_LEASE}
    with connection.cursor() as cursor:
        cursor.execute(TAKE, values)
        taken = cursor.fetchone()
    if taken is None:
        return None
    rows = RejudgedMatch.objects.select_related("rejudging__by", "match__challenge")
    return rows.get(pk=taken[0])


def _previewed(row: RejudgedMatch) -> dict[str, Any]:
    """Return what becomes of a row that is ours."""
    if row.attempts > settings.STEP_ATTEMPTS:
        return {"state": State.FAILED, "reason": row.reason or DIED}
    try:
        made = candidates.preview(row.rejudging, row.match)
    except candidates.LeftOut as left_out:
        return {"state": State.LEFT_OUT, "reason": str(left_out)}
    except candidates.Changed:
        return _tried(row, "the match changed while it was looked at")
    except Exception as error:
        logger.exception("%s failed", row)
        return _tried(row, f"{error!r}"[:2000])
    return {"state": State.DONE, "reason": "", **made}


def _tried(row: RejudgedMatch, reason: str) -> dict[str, Any]:
    is_over = row.attempts >= settings.STEP_ATTEMPTS
    return {"state": State.FAILED if is_over else State.WAITING, "reason": reason}


def _finish(row: RejudgedMatch, **columns: Any) -> None:
    """Write what became of a row, if it is still in these hands and its rejudging is open."""
    with transaction.atomic():
        rejudging = Rejudging.objects.select_for_update().get(pk=row.rejudging_id)
        if not rejudging.is_open:
            return
        held = RejudgedMatch.objects.filter(
            pk=row.pk, state=State.RUNNING, lease_expires_at=row.lease_expires_at
        )
        held.update(finished_at=timezone.now(), lease_expires_at=None, **columns)


def _rank(rejudging_id: int) -> bool:
    """Write down the ranks where all matches are through; return False: nothing is left."""
    with transaction.atomic():
        rejudging = (
            Rejudging.objects.select_for_update(skip_locked=True)
            .filter(pk=rejudging_id, state=Rejudging.State.OPEN, ranked_at=None)
            .first()
        )
        if rejudging is not None and not rejudging.matches.under_way().exists():
            rejudging.ranks = ranks.before_and_after(rejudging)
            rejudging.ranked_at = timezone.now()
            rejudging.save(update_fields=["ranks", "ranked_at"])
    return False


def stranded() -> list[int]:
    """Return the rejudgings with a match whose worker is gone, or at which nobody is though there
    is something left to do: a message was lost."""
    now = timezone.now()
    lately = now - settings.STEP_LEASE / 4
    rows = RejudgedMatch.objects.filter(rejudging=OuterRef("pk"))
    lapsed = rows.filter(state=State.RUNNING, lease_expires_at__lt=now)
    # Between two matches of one rejudging nobody holds any: that is no reason to ring again.
    alive = rows.filter(
        Q(state=State.RUNNING, lease_expires_at__gte=now) | Q(finished_at__gte=lately)
    )
    is_quiet = Q(created_at__lt=lately) & ~Q(Exists(alive))
    unfinished = Rejudging.objects.filter(state=Rejudging.State.OPEN, ranked_at=None)
    return list(unfinished.filter(Q(Exists(lapsed)) | is_quiet).values_list("pk", flat=True))


def to_be_applied() -> list[int]:
    """Return the rejudgings that were asked to be applied and that no worker has."""
    return list(Rejudging.objects.to_apply().values_list("pk", flat=True))
