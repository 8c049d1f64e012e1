"""What ops do with a rejudging: propose it, have parts of it previewed anew, apply it or drop it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from bouts import audit, locks
from bouts.bundles.hidden import words_of
from bouts.hidden_words import tells
from bouts.models import Bundle, Challenge, ChallengeVersion, Match, User
from bouts.rules import Judge
from judging import standings
from judging.actions import ChallengeFrozen
from judging.models import RejudgedMatch, Rejudging
from judging.rejudging import candidates
from judging.rejudging.choice import Choice
from judging.scoring.policy import CURRENT

State = Rejudging.State
RowState = RejudgedMatch.State

CHANGED = "It changed since the preview, by an upload, a ruling or another rejudging."
BATCH = 1_000


class NothingChosen(Exception):
    """No match fits what was chosen."""


class TellsOfHidden(Exception):
    """The public reason names or quotes a hidden test."""


class Settled(Exception):
    """It is applied or dropped already, or is being applied."""


class NotReady(Exception):
    """Its preview is still being made."""


class Stale(Exception):
    """There is another preview by now than the one that was looked at."""


@transaction.atomic
def propose(
    choice: Choice, *, judges: Iterable[Judge], to_newest: bool, reason: str, by: User
) -> Rejudging:
    """Write down which matches are to be rejudged; a worker makes the preview.

    Whoever calls this rings it when all is committed. Raises `NothingChosen`, `TellsOfHidden`
    and, where all that is chosen is frozen, `ChallengeFrozen`.
    """
    chosen_judges = set(judges)
    rows = choice.matches()
    keys = list(rows.values_list("pk", flat=True))
    if not keys:
        raise NothingChosen
    if not rows.exclude(challenge__state=Challenge.State.FROZEN).exists():
        raise ChallengeFrozen
    if _tells_of_hidden(reason, rows, to_newest=to_newest):
        raise TellsOfHidden
    rejudging = Rejudging.objects.create(
        choice=choice.as_json(),
        judges=[judge.value for judge in Judge if judge in chosen_judges],
        to_newest=to_newest,
        reason=reason,
        policy=CURRENT.version,
        by=by,
    )
    RejudgedMatch.objects.bulk_create(
        (RejudgedMatch(rejudging=rejudging, match_id=key) for key in keys), batch_size=BATCH
    )
    chosen = {**rejudging.choice, "judges": rejudging.judges, "matches": len(keys)}
    audit.record(by, "propose_rejudging", rejudging, None, chosen, reason)
    return rejudging


def _tells_of_hidden(reason: str, matches: QuerySet[Match], *, to_newest: bool) -> bool:
    """Whether a reason tells of a hidden test of any of some matches; alike lists are read once.

    Of one that the newest version adds, too: matches of other challenges show the reason as well.
    """
    matches = matches.order_by()
    bundles = Bundle.objects.filter(match__in=matches, is_live=True)
    lists = bundles.order_by().values_list("hidden_words", flat=True).distinct()
    if any(tells(reason, words) for words in lists.iterator()):
        return True
    newest = ChallengeVersion.objects.filter(
        challenge__in=matches.values("challenge"), is_live=True
    )
    return to_newest and any(tells(reason, words_of(version.spec)) for version in newest)


@transaction.atomic
def preview_anew(rejudging_id: int, *, by: User) -> int:
    """Have those previewed once more that failed, were left out or changed since; return how many.

    Whoever calls this rings the worker. Raises `Settled`.
    """
    rejudging = _open(rejudging_id)
    rows = rejudging.matches.filter(
        Q(state__in=[RowState.FAILED, RowState.LEFT_OUT])
        | Q(pk__in=rejudging.matches.changed_since().values("pk"))
    )
    keys = list(rows.values_list("pk", flat=True))
    if keys:
        rejudging.matches.filter(pk__in=keys).update(
            state=RowState.WAITING,
            attempts=0,
            reason="",
            outcome="",
            moved=0,
            is_flagged=False,
            has_other_status=False,
            cases_opened=0,
            cases_closed=0,
            rulings_carried=0,
            rulings_fallen=0,
            candidate=None,
            finished_at=None,
        )
        rejudging.ranks = rejudging.ranked_at = None
        rejudging.save(update_fields=["ranks", "ranked_at"])
        audit.record(by, "preview_anew", rejudging, None, {"matches": len(keys)})
    return len(keys)


@transaction.atomic
def drop(rejudging_id: int, *, by: User) -> Rejudging:
    """End a rejudging and let nothing of it count; what it would have come to stays on record.

    Dropped twice, it is dropped once. Raises `Settled` where it is applied or being applied.
    """
    rejudging = Rejudging.objects.select_for_update().get(pk=rejudging_id)
    if rejudging.state == State.DROPPED:
        return rejudging
    if not rejudging.is_open:
        raise Settled
    _settle(rejudging, State.DROPPED, by)
    audit.record(by, "drop_rejudging", rejudging, {"state": State.OPEN}, {"state": State.DROPPED})
    return rejudging


@transaction.atomic
def ask_to_apply(rejudging_id: int, *, seen: datetime | None, by: User) -> Rejudging:
    """Have a worker apply a rejudging; asked twice, it is applied once.

    ``seen`` is when the preview was made that this person looked at. Whoever calls this rings
    the worker. Raises `NotReady`, `Stale` where there is another preview by now, and `Settled`
    where it was dropped.
    """
    rejudging = Rejudging.objects.select_for_update().get(pk=rejudging_id)
    if rejudging.state in {State.APPLYING, State.APPLIED}:
        return rejudging
    if not rejudging.is_open:
        raise Settled
    if rejudging.ranked_at is None:
        raise NotReady
    if rejudging.ranked_at != seen:
        raise Stale
    rejudging.state, rejudging.settled_by = State.APPLYING, by
    rejudging.asked_at, rejudging.attempts, rejudging.trouble = timezone.now(), 0, ""
    rejudging.save(update_fields=["state", "settled_by", "asked_at", "attempts", "trouble"])
    audit.record(
        by, "ask_to_apply", rejudging, {"state": State.OPEN}, {"state": State.APPLYING},
        rejudging.reason,
    )  # fmt: skip
    return rejudging


def apply(rejudging_id: int) -> bool:
    """Let a rejudging count that was asked to be applied: all of it in one moment, and once.

    A match that has moved on since its preview is left out. Returns whether it was applied
    here: of several workers one does it, and the others find nothing to do. Where it fails as
    often as it may be tried it is open again, and says why.
    """
    if not _begin(rejudging_id):
        return False
    try:
        return _apply(rejudging_id)
    except Exception as error:
        _fail(rejudging_id, f"{error!r}"[:2000])
        raise


@transaction.atomic
def _begin(rejudging_id: int) -> bool:
    """Take a rejudging on a lease, unless another worker has it."""
    # One that takes longer than its lease is locked all the same.
    free = Rejudging.objects.to_apply().select_for_update(skip_locked=True)
    rejudging = free.filter(pk=rejudging_id).first()
    if rejudging is None:
        return False
    if rejudging.attempts >= settings.STEP_ATTEMPTS:
        _reopen(rejudging, rejudging.trouble or "the worker died each time")
        return False
    rejudging.attempts += 1
    rejudging.lease_expires_at = timezone.now() + settings.STEP_LEASE
    rejudging.save(update_fields=["attempts", "lease_expires_at"])
    return True


@transaction.atomic
def _apply(rejudging_id: int) -> bool:
    applying = Rejudging.objects.select_for_update(skip_locked=True)
    rejudging = applying.filter(pk=rejudging_id, state=State.APPLYING).first()
    if rejudging is None:
        return False
    # Two that hold some of the same agents would otherwise wait for one another.
    locks.one_at_a_time("apply a rejudging")
    rows = rejudging.matches.filter(state=RowState.DONE).select_related("match")
    keys = rows.values_list("match", flat=True)
    held = Match.objects.select_for_update(of=("self",)).filter(pk__in=keys).order_by("pk")
    # Then the agents' boards, in the order in which everybody takes several of them.
    for agent_id in sorted({match.agent_id for match in held}):
        standings.lock(agent_id)
    counts: Counter[str] = Counter()
    for row in rows.order_by("match").iterator(chunk_size=100):
        row.rejudging = rejudging
        _apply_to(row)
        counts[row.state if row.state == RowState.LEFT_OUT else row.outcome] += 1
    by = rejudging.settled_by
    _settle(rejudging, State.APPLIED, by)
    audit.record(
        by, "apply_rejudging", rejudging, {"state": State.APPLYING},
        {"state": State.APPLIED, **counts}, rejudging.reason,
    )  # fmt: skip
    return True


def _apply_to(row: RejudgedMatch) -> None:
    try:
        card = candidates.write(row)
    except candidates.Changed:
        row.state, row.reason = RowState.LEFT_OUT, CHANGED
    except candidates.LeftOut as left_out:
        row.state, row.reason = RowState.LEFT_OUT, str(left_out)
    else:
        row.applied = card if card.pk != row.before_id else None
    row.save(update_fields=["state", "reason", "applied"])


def _open(rejudging_id: int) -> Rejudging:
    rejudging = Rejudging.objects.select_for_update().get(pk=rejudging_id)
    if not rejudging.is_open:
        raise Settled
    return rejudging


def _settle(rejudging: Rejudging, state: State, by: User | None) -> None:
    rejudging.state, rejudging.settled_by, rejudging.settled_at = state, by, timezone.now()
    rejudging.trouble, rejudging.lease_expires_at = "", None
    rejudging.save(
        update_fields=["state", "settled_by", "settled_at", "trouble", "lease_expires_at"]
    )


@transaction.atomic
def _fail(rejudging_id: int, trouble: str) -> None:
    rejudging = Rejudging.objects.select_for_update().get(pk=rejudging_id)
    if rejudging.state != State.APPLYING:
        return
    rejudging.trouble, rejudging.lease_expires_at = trouble, None
    if rejudging.attempts >= settings.STEP_ATTEMPTS:
        _reopen(rejudging, trouble)
    else:
        rejudging.save(update_fields=["trouble", "lease_expires_at"])


def _reopen(rejudging: Rejudging, trouble: str) -> None:
    """Give a rejudging back that could not be applied: nothing of it counts."""
    rejudging.state, rejudging.trouble = State.OPEN, trouble
    rejudging.settled_by = rejudging.lease_expires_at = None
    rejudging.save(update_fields=["state", "trouble", "settled_by", "lease_expires_at"])
    audit.record(None, "reopen_rejudging", rejudging, None, {"state": State.OPEN}, trouble)
