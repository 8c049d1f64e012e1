"""The clocks of the product are those of the rule book (SCORING.md, 8)."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from judging.scoring.policy import CURRENT


def test_leases_targets_and_limits_are_those_that_the_policy_states() -> None:
    rules = CURRENT.cases
    stated = (rules.lease_minutes, rules.target_hours, rules.limit_hours, rules.review_window_days)
    assert stated == (15, 24, 48, 7)
    assert timedelta(minutes=15) == settings.CLAIM_LEASE
    assert timedelta(hours=24) == settings.CASE_TARGET
    assert timedelta(hours=48) == settings.CASE_LIMIT
