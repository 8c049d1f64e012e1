"""The log of who changed what: a score, a case, an account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import models

from bouts.models import AuditEntry, User
from bouts.prepared import save_new


def record(
    actor: User | None,
    action: str,
    subject: models.Model | str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str = "",
) -> AuditEntry:
    """Add an entry. Call it inside the transaction of the change that it tells of.

    `action` is the name of the action that changed something, such as ``change_role``;
    `subject` a row, or its name as `subject_of` gives it; `before` and `after` hold only
    what changed. Decimals and times are welcome in them. No actor means the system itself.
    """
    if isinstance(subject, models.Model):
        subject = subject_of(subject)
    entry = AuditEntry(
        actor=actor, action=action, subject=subject, before=before, after=after, reason=reason
    )
    save_new(entry)
    return entry


def subject_of(row: models.Model) -> str:
    """Name a row as the log does: ``person:ines``, ``team:northbank``, ``case:12``."""
    if isinstance(row, User):
        return f"person:{row.username}"
    return f"{row._meta.model_name}:{getattr(row, 'slug', row.pk)}"
