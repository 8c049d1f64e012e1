"""The sample matches, all of them: each replays to the digit, and their spread is printed."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command

from bouts.models import Bundle
from judging import steps

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(300)]


def printed(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_every_sample_match_replays_and_its_base_model_is_spread() -> None:
    call_command("sample", verbosity=0)
    bundles = list(Bundle.objects.filter(is_live=True))
    for bundle in bundles:
        steps.run_steps(bundle)
    replayed = printed("replay", "--all")
    print(replayed)
    lines = replayed.splitlines()
    assert len(lines) == len(bundles) >= 20
    assert all(line.endswith(": equal") for line in lines)
    spread = printed("spread")
    print(spread)
    assert len(spread.splitlines()) >= 3
    assert "±" in spread
