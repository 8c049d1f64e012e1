"""Uploads: from a file that somebody sent to a stored match or challenge, or to its faults.

`upload` does it here and now. A page hands the file over with `receive`, and a worker takes
it from there with `process`: the row says how far it has come.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from bouts import audit
from bouts.archives.limits import Limits, size
from bouts.archives.sources import Source
from bouts.bundles import ingest
from bouts.bundles.checks import Known
from bouts.bundles.errors import Refused
from bouts.bundles.loading import LoadedBundle, LoadedChallenge, load_upload
from bouts.bundles.reading import readings, refuse_dangling
from bouts.commits import flush_later
from bouts.formats.sniff import READERS
from bouts.models import Bundle, Challenge, ChallengeVersion, Team, Upload, User
from bouts.prepared import Prepared

logger = logging.getLogger(__name__)

Loaded = LoadedBundle | LoadedChallenge


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an upload that was not refused."""

    state: Upload.State  # stored, unchanged, or valid where it was only checked
    bundle: Bundle | None = None
    challenge_version: ChallengeVersion | None = None


def limits() -> Limits:
    return Limits(**settings.BUNDLE_LIMITS)


def known() -> Known:
    """Return what a bundle's names are held against."""
    formats: dict[str, list[str]] = {}
    for reader in READERS:
        formats.setdefault(reader.kind, []).append(reader.format)
    return Known(CHALLENGES, TEAMS, formats)


class _Slugs(Collection[str]):
    """The slugs of a table. Whether one is there is looked up; all are read for a refusal alone."""

    def __init__(self, rows: QuerySet[Any]) -> None:
        self._rows = rows
        self._named = Prepared(
            lambda slug: rows.filter(slug=slug).order_by().values_list("pk"), slug=str
        )

    def __contains__(self, slug: object) -> bool:
        # A stranger's manifest may hold what PostgreSQL has no text for, such as NUL.
        return str(slug).isprintable() and self._named.first(slug=slug) is not None

    def __iter__(self) -> Iterator[str]:
        return self._rows.values_list("slug", flat=True).iterator()

    def __len__(self) -> int:
        return self._rows.count()


CHALLENGES, TEAMS = _Slugs(Challenge.objects.all()), _Slugs(Team.objects.all())


def upload(
    source: Source,
    *,
    name: str,
    by: User | None,
    is_check: bool = False,
    is_sample: bool = False,
) -> Outcome:
    """Validate an upload whole and, unless it is only checked, store it.

    Raises `Refused` with every fault; then nothing is stored.
    """
    with load_upload(source, name=name, limits=limits(), known=known()) as loaded:
        return check(loaded) if is_check else store(loaded, by=by, is_sample=is_sample)


def check(loaded: Loaded) -> Outcome:
    """Find what only reading the artifacts shows. Raises `Refused`."""
    if isinstance(loaded, LoadedBundle):
        refuse_dangling(loaded, readings(loaded, lambda entry: lambda value: None))
    return Outcome(Upload.State.VALID)


def store(
    loaded: Loaded,
    *,
    by: User | None,
    is_sample: bool = False,
    sent_at: datetime | None = None,
) -> Outcome:
    """Store what was loaded, or find it stored already. Raises `Refused`."""
    if isinstance(loaded, LoadedChallenge):
        version, is_new = ingest.store_challenge(loaded, by=by)
        return Outcome(_state(is_new=is_new), challenge_version=version)
    bundle, is_new = ingest.store_bundle(loaded, by=by, is_sample=is_sample, sent_at=sent_at)
    return Outcome(_state(is_new=is_new), bundle=bundle)


def _state(*, is_new: bool) -> Upload.State:
    return Upload.State.STORED if is_new else Upload.State.UNCHANGED


# In the background


class TakenOver(Exception):
    """The lease lapsed, and another worker has the upload by now."""


def receive(file: UploadedFile, *, by: User, is_check: bool) -> Upload:
    """Keep a sent file for a worker and return the row that tells of it."""
    row = Upload(name=(file.name or "upload")[:200], size=file.size or 0, is_check=is_check, by=by)
    default_storage.save(row.storage_name, file)
    row.stages = [_stage("received", size(row.size))]
    row.save(force_insert=True)
    return row


def process(upload_id: str) -> Upload | None:
    """Work on a received upload; None where it is over or in other hands.

    A lease lets another worker take over from one that died. What is stored and that it is
    stored become true in one moment: an upload is never stored twice and never half.
    """
    row = _take(upload_id)
    if row is None:
        return None
    try:
        return _process(row)
    except TakenOver:
        logger.warning("upload %s was taken over by another worker", row.pk)
        return None


def _take(upload_id: str) -> Upload | None:
    now = timezone.now()
    is_free = Q(state=Upload.State.RECEIVED) | Q(
        state=Upload.State.WORKING, lease_expires_at__lt=now
    )
    with transaction.atomic():
        flush_later()
        taken = Upload.objects.filter(is_free, pk=upload_id).update(
            state=Upload.State.WORKING,
            attempts=F("attempts") + 1,
            lease_expires_at=now + settings.UPLOAD_LEASE,
        )
    return Upload.objects.select_related("by").get(pk=upload_id) if taken else None


def _process(row: Upload) -> Upload:
    if row.attempts > settings.STEP_ATTEMPTS:
        return _finish(row, Upload.State.FAILED, reason="the worker died each time")
    row.stages = row.stages[:1]  # what an earlier try told is over
    _tell(row, "taken")
    try:
        with (
            default_storage.open(row.storage_name) as file,
            load_upload(file, name=row.name, limits=limits(), known=known()) as loaded,
        ):
            _tell(row, "validated", _contents(loaded))
            with transaction.atomic():
                if row.is_check:
                    outcome = check(loaded)
                else:
                    outcome = store(loaded, by=row.by, sent_at=row.created_at)
                return _finish(
                    row,
                    outcome.state,
                    bundle=outcome.bundle,
                    challenge_version=outcome.challenge_version,
                )
    except Refused as refused:
        return _finish(row, Upload.State.REFUSED, faults=refused.as_json())
    except TakenOver:
        raise
    except Exception as error:
        logger.exception("upload %s failed", row.pk)
        return _finish(row, Upload.State.FAILED, reason=f"{error!r}"[:2000])


def _finish(row: Upload, state: Upload.State, **ending: Any) -> Upload:
    """Note how it ended, if the upload is still in these hands; else raise `TakenOver`."""
    held = Upload.objects.filter(
        pk=row.pk, state=Upload.State.WORKING, lease_expires_at=row.lease_expires_at
    )
    if not held.update(state=state, finished_at=timezone.now(), lease_expires_at=None, **ending):
        raise TakenOver
    if state != Upload.State.FAILED:  # what failed can be tried again
        transaction.on_commit(partial(default_storage.delete, row.storage_name), robust=True)
    row.refresh_from_db()
    return row


def _contents(loaded: Loaded) -> str:
    if isinstance(loaded, LoadedChallenge):
        return f"challenge {loaded.challenge.slug}"
    total = sum(member.size for member in loaded.members.values())
    files = len(loaded.members)
    return f"match {loaded.manifest.match}, {files} file{'s' * (files != 1)}, {size(total)}"


def _tell(row: Upload, stage: str, detail: str = "") -> None:
    row.stages.append(_stage(stage, detail))
    with transaction.atomic():
        flush_later()
        row.save(update_fields=["stages"])


def _stage(stage: str, detail: str) -> dict[str, str]:
    return {"stage": stage, "at": timezone.now().isoformat(), "detail": detail}


def stranded() -> list[Upload]:
    """Return the uploads whose worker is gone or whose message was lost."""
    now = timezone.now()
    lapsed = Q(state=Upload.State.WORKING, lease_expires_at__lt=now)
    unheard = Q(state=Upload.State.RECEIVED, created_at__lt=now - settings.STEP_LEASE / 4)
    return list(Upload.objects.filter(lapsed | unheard))


@transaction.atomic
def retry(row: Upload, *, by: User) -> None:
    """Give a failed upload its attempts back."""
    retried = Upload.objects.filter(pk=row.pk, state=Upload.State.FAILED).update(
        state=Upload.State.RECEIVED, attempts=0, stages=row.stages[:1], reason="", finished_at=None
    )
    if retried:
        audit.record(by, "retry_upload", row, {"state": row.state, "reason": row.reason})
