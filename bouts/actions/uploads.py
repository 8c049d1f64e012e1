"""Uploads: from a file that somebody sent to a stored match or challenge, or to its faults.

`upload` does it here and now. A page hands the file over with `receive`, and a worker takes
it from there with `process`: the row says how far it has come.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from bouts import audit
from bouts.bundles import ingest
from bouts.bundles.checks import Known
from bouts.bundles.errors import Refused
from bouts.bundles.limits import Limits, size
from bouts.bundles.loading import LoadedBundle, LoadedChallenge, load_upload
from bouts.bundles.reading import readings, refuse_dangling
from bouts.bundles.sources import Source
from bouts.formats.sniff import READERS
from bouts.models import Bundle, Challenge, ChallengeVersion, Team, Upload, User

logger = logging.getLogger(__name__)

Tell = Callable[[str, str], None]  # stage, detail


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
    return Known(
        challenges=set(Challenge.objects.values_list("slug", flat=True)),
        teams=set(Team.objects.values_list("slug", flat=True)),
        formats=formats,
    )


def upload(
    source: Source,
    *,
    name: str,
    by: User | None,
    is_check: bool = False,
    is_sample: bool = False,
    tell: Tell = lambda stage, detail: None,
) -> Outcome:
    """Validate an upload whole and, unless it is only checked, store it.

    Raises `Refused` with every fault; then nothing is stored.
    """
    with load_upload(source, name=name, limits=limits(), known=known()) as loaded:
        tell("validated", _contents(loaded))
        if isinstance(loaded, LoadedChallenge):
            if is_check:
                return Outcome(Upload.State.VALID)
            version, is_new = ingest.store_challenge(loaded, by=by)
            state = Upload.State.STORED if is_new else Upload.State.UNCHANGED
            return Outcome(state, challenge_version=version)
        if is_check:
            refuse_dangling(loaded, readings(loaded, lambda entry: lambda value: None))
            return Outcome(Upload.State.VALID)
        bundle, is_new = ingest.store_bundle(loaded, by=by, is_sample=is_sample)
        state = Upload.State.STORED if is_new else Upload.State.UNCHANGED
        return Outcome(state, bundle=bundle)


def _contents(loaded: LoadedBundle | LoadedChallenge) -> str:
    if isinstance(loaded, LoadedChallenge):
        return f"challenge {loaded.challenge.slug}"
    total = sum(member.size for member in loaded.members.values())
    files = len(loaded.members)
    return f"match {loaded.manifest.match}, {files} file{'s' * (files != 1)}, {size(total)}"


# In the background


def receive(file: UploadedFile, *, by: User, is_check: bool) -> Upload:
    """Keep a sent file for a worker and return the row that tells of it."""
    row = Upload(name=(file.name or "upload")[:200], size=file.size or 0, is_check=is_check, by=by)
    kept = kept_file(row)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("wb") as out:
        shutil.copyfileobj(file.file, out, 1 << 20)
    row.stages = [_stage("received", size(row.size))]
    row.save(force_insert=True)
    return row


def kept_file(row: Upload) -> Path:
    return settings.DATA_DIR / "uploads" / str(row.pk)


def process(upload_id: str) -> Upload | None:
    """Work on a received upload; None where it is over or in other hands.

    The lease lets another worker take over from one that died; what was stored by then is
    found unchanged.
    """
    now = timezone.now()
    is_free = Q(state=Upload.State.RECEIVED) | Q(
        state=Upload.State.WORKING, lease_expires_at__lt=now
    )
    taken = Upload.objects.filter(is_free, pk=upload_id).update(
        state=Upload.State.WORKING,
        attempts=F("attempts") + 1,
        lease_expires_at=now + settings.UPLOAD_LEASE,
    )
    if not taken:
        return None
    row = Upload.objects.select_related("by").get(pk=upload_id)
    if row.attempts > settings.STEP_ATTEMPTS:
        return _finish(row, Upload.State.FAILED, reason="the worker died each time")

    def tell(stage: str, detail: str) -> None:
        row.stages.append(_stage(stage, detail))
        row.save(update_fields=["stages"])

    try:
        outcome = upload(kept_file(row), name=row.name, by=row.by, is_check=row.is_check, tell=tell)
    except Refused as refused:
        row.faults = refused.as_json()
        return _finish(row, Upload.State.REFUSED)
    except Exception as error:
        logger.exception("upload %s failed", row.pk)
        return _finish(row, Upload.State.FAILED, reason=f"{error!r}"[:2000])
    row.bundle, row.challenge_version = outcome.bundle, outcome.challenge_version
    row.stages.append(_stage(outcome.state.value, ""))
    return _finish(row, outcome.state)


def _stage(stage: str, detail: str) -> dict[str, str]:
    return {"stage": stage, "at": timezone.now().isoformat(), "detail": detail}


def _finish(row: Upload, state: Upload.State, reason: str = "") -> Upload:
    row.state, row.reason, row.finished_at, row.lease_expires_at = (
        state,
        reason,
        timezone.now(),
        None,
    )
    row.save()
    if state != Upload.State.FAILED:  # what failed can be tried again
        kept_file(row).unlink(missing_ok=True)
    return row


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
        state=Upload.State.RECEIVED, attempts=0, reason=""
    )
    if retried:
        audit.record(by, "retry_upload", row, {"state": row.state, "reason": row.reason})
