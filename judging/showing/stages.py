"""How far an upload has come, a line a stage: from its arrival to the scorecard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.dateparse import parse_datetime

from bouts.models import Upload
from judging.models import Step

DONE, NOW, WAIT, BAD = "done", "now", "wait", "bad"

STEPS = {
    Step.State.WAITING: WAIT,
    Step.State.RUNNING: NOW,
    Step.State.DONE: DONE,
    Step.State.FAILED: BAD,
    Step.State.HELD: WAIT,
}

WORKER_GONE = "its worker is gone; another takes over within a minute"


@dataclass(frozen=True, slots=True)
class Stage:
    """One line of progress. ``took`` is how long it took, or has taken so far."""

    label: str
    state: str
    detail: str = ""
    took: timedelta | None = None


def stages_of(upload: Upload, steps: Sequence[Step], now: datetime) -> list[Stage]:
    """Return the stages of an upload; ``steps`` are those of the bundle that it stored."""
    return [*_arrival(upload, now), *(_judging(step, now) for step in steps)]


def _arrival(upload: Upload, now: datetime) -> Iterator[Stage]:
    told = {entry["stage"]: entry for entry in upload.stages}
    times = {name: parse_datetime(entry["at"]) for name, entry in told.items()}
    yield Stage("Received", DONE, told["received"]["detail"])
    since = times.get("taken", times["received"])
    if "validated" in told:
        yield Stage("Validated", DONE, told["validated"]["detail"], times["validated"] - since)
        since = times["validated"]
    elif upload.state == Upload.State.RECEIVED:
        yield Stage("Validated", WAIT, "waits for a worker", now - since)
    elif upload.state == Upload.State.WORKING:
        yield Stage("Validated", NOW, _hands(upload, now), now - since)
    yield _end(upload, since, now, is_validated="validated" in told)


def _end(upload: Upload, since: datetime, now: datetime, *, is_validated: bool) -> Stage:
    took = upload.finished_at - since if upload.finished_at else None
    match upload.state:
        case Upload.State.REFUSED:
            return Stage("Refused", BAD, "nothing was stored", took)
        case Upload.State.FAILED:
            return Stage("Failed", BAD, upload.reason)
        case Upload.State.VALID:
            return Stage("Checked", DONE, "valid; nothing was stored", took)
        case Upload.State.UNCHANGED:
            return Stage("Unchanged", DONE, "the same content is here already", took)
        case Upload.State.STORED:
            return Stage("Stored", DONE, str(upload.bundle or upload.challenge_version), took)
    label = "Checked" if upload.is_check else "Stored"
    if is_validated:
        return Stage(label, NOW, _hands(upload, now), now - since)
    return Stage(label, WAIT)


def _hands(upload: Upload, now: datetime) -> str:
    """Say what is unusual about the work on an upload."""
    if upload.lease_expires_at and upload.lease_expires_at < now:
        return WORKER_GONE
    return _attempt(upload.attempts)


def _judging(step: Step, now: datetime) -> Stage:
    state = STEPS[Step.State(step.state)]
    said = [_attempt(step.attempts) if state != DONE else "", step.reason]
    if state == NOW and step.lease_expires_at and step.lease_expires_at < now:
        said = [WORKER_GONE]
    return Stage(step.title, state, ": ".join(filter(None, said)), _took(step, now))


def _took(step: Step, now: datetime) -> timedelta | None:
    match step.state:
        case Step.State.WAITING | Step.State.HELD:
            return now - step.created_at
        case Step.State.RUNNING:
            return now - step.started_at
    return step.finished_at - step.started_at if step.started_at and step.finished_at else None


def _attempt(attempts: int) -> str:
    return f"attempt {attempts} of {settings.STEP_ATTEMPTS}" if attempts > 1 else ""
