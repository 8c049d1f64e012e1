"""The whole card of one scorecard as HTML: immutable, so it is made once for each audience."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db.models import Max
from django.template.loader import render_to_string
from django.utils import timezone

from bouts.packing import Part
from judging.judges.base import digest_of
from judging.models import Scorecard, Verdict
from judging.scoring.policy import WEIGHED
from judging.showing import words
from judging.showing.build import build_id
from judging.showing.history import Revision, entries, revision_rows, signatures
from judging.showing.integrity import integrity_card
from judging.showing.judges import figures_of, halves_card, objective_card, strategy_card
from judging.showing.ledger import head_of
from judging.showing.tabs import tabs_of
from judging.sight import Sight

TEMPLATE = "judging/_card.html"
RULING_SEAT = "ruling"


def card_part(sight: Sight) -> Part:
    """Return the card as HTML, from the cache where it has been made for this audience.

    Nothing of the viewer is in it but their time zone: only the scorecard, the gate's key and
    whether it is live.
    """
    key = card_key(sight)
    part: Part | None = None if settings.DEBUG else cache.get(key)
    if part is None:
        part = Part.of(render_to_string(TEMPLATE, context_of(sight)))
        cache.set(key, part)
    return part


def card_key(sight: Sight) -> str:
    """Return what tells one rendered card from another."""
    head = sight.head
    looks = f"{sight.looking_as or '-'}:{'live' if sight.is_live else 'fixed'}"
    zone = timezone.get_current_timezone_name()
    return f"card:{build_id()}:{head.card_id}:{head.card_is_live:d}:{sight.key}:{looks}:{zone}"


def context_of(sight: Sight) -> dict[str, Any]:
    """Make what the card's template shows."""
    card, shown = sight.card, sight.breakdown
    assert card is not None
    addresses, policy = sight.addresses, sight.policy
    revisions = _revisions(card, names=sight.gate.shows_staff_matters)
    head = head_of(shown, policy)
    context: dict[str, Any] = {
        "scorecard": card,
        "match": sight.match,
        "bundle": card.bundle,
        "card": shown,
        "head": head,
        "figures": {
            row.label.lower(): figures_of(
                row.label.lower(), shown["judges"][row.label.lower()], is_open=row.is_open
            )
            for row in head.rows
        },
        "anchor_margin": policy.anchor_margin,
        "marks": words.marks_of(shown),
        "why_no_total": words.why_no_total(shown["reason"]),
        "integrity": integrity_card(shown, policy, addresses),
        "revisions": revision_rows(revisions, card.number, sight.gate, addresses),
        "revision_count": len(revisions),
        "addresses": addresses,
        "permanent": addresses.scorecard(card.number),
        "digest": digest_of(shown),
        "is_live": sight.is_live,
        "shows_evidence": sight.gate.shows_evidence,
        "gate": sight.gate,
    }
    if sight.gate.shows_evidence:
        ruled_at = next((one.created_at for one in reversed(revisions) if one.is_ruling), None)
        context |= {
            "objective": objective_card(shown, policy, addresses),
            "process": halves_card("process", shown, policy, addresses),
            "strategy": strategy_card(shown, policy, addresses),
            "recovery": halves_card("recovery", shown, policy, addresses),
            "signatures": signatures(shown, _signed_at(card), ruled_at),
            "entries": entries(shown, revisions, sight.gate, policy),
            "tabs": tabs_of(shown, addresses),
        }
    return context


def _revisions(card: Scorecard, *, names: bool) -> list[Revision]:
    """Return the match's scorecards up to this one, oldest first.

    Later ones stand in the banner above an old card, so that an old card never changes.
    """
    rows = Scorecard.objects.filter(match=card.match_id, number__lte=card.number)
    fields = (
        "number", "bundle__number", "total", "status", "cause", "by__username", "reason",
        "created_at", "policy", "challenge_version__number", "adjustment", *WEIGHED,
    )  # fmt: skip
    return [
        Revision(
            number=row["number"],
            bundle=row["bundle__number"],
            total=row["total"],
            status=row["status"],
            cause=row["cause"],
            by=(row["by__username"] or "") if names else "",
            reason=row["reason"],
            created_at=row["created_at"],
            policy=row["policy"],
            challenge_version=row["challenge_version__number"],
            counted={judge.value: row[judge.value] for judge in WEIGHED},
            adjustment=row["adjustment"],
        )
        for row in rows.order_by("number").values(*fields)
    ]


def _signed_at(card: Scorecard) -> dict[str, datetime]:
    """Return when each judge last answered before this card was made up."""
    answered = (
        Verdict.objects.filter(bundle=card.bundle_id, created_at__lte=card.created_at)
        .exclude(seat=RULING_SEAT)
        .values_list("judge")
        .annotate(at=Max("created_at"))
        .order_by()
    )
    return dict(answered)
