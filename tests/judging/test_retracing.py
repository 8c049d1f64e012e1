"""What a model was asked is made again of the stored files, to the byte of the request."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from bouts import blobs
from bouts.models import Bundle
from judging import steps
from judging.models import CallAttempt, ModelCall
from judging.panel import prompts
from judging.replay import replay
from tests.judging import asking
from tests.judging.test_replay import said, without_triggers
from tests.vendors import replies
from tests.vendors.server import VendorServer

pytestmark = pytest.mark.django_db

SEAT = "bundle 1, strategy, seat openai"


@pytest.fixture
def bundle(
    tmp_path: Path, settings: Settings, vendor_server: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> Bundle:
    """A match that three vendors were asked about; one of them had to be asked twice."""
    settings.SEATS = asking.seats(vendor_server, google={"temperature": "0.5"})
    asking.hurry(monkeypatch)
    vendor_server.play("openai", replies.missing_criterion, replies.good(4))
    bundle = asking.store(tmp_path)
    steps.run_steps(bundle)
    return bundle


def differences(bundle: Bundle) -> list[str]:
    return [str(difference) for difference in replay(bundle.match).differences]


def call_of(bundle: Bundle) -> ModelCall:
    return bundle.calls.get(judge="strategy", seat="openai")


def test_every_request_is_written_again_to_the_byte_with_the_network_off(
    bundle: Bundle, vendor_server: VendorServer
) -> None:
    asked = len(vendor_server.asked())
    assert CallAttempt.objects.filter(remark="").count() == 6
    assert CallAttempt.objects.exclude(remark="").count() == 1
    sent = set(CallAttempt.objects.values_list("request_digest", flat=True))
    assert sent == {hashlib.sha256(got.raw).hexdigest() for got in vendor_server.asked()}
    is_equal, text = said("m-1")
    assert is_equal, text
    assert ", 6 calls, " in text and text.count("\n") == 1
    assert len(vendor_server.asked()) == asked


CHANGES = [
    ("judging_modelcall SET template_digest = 'x'", "template 2026.1: stored x"),
    ("judging_modelcall SET rubric_digest = 'x'", "rubric 2026.1: stored x"),
    ("judging_modelcall SET template_version = '2020.1'", "prompt: stored template 2020.1, rubric 2026.1, recomputed levels-2020.1.txt is no longer kept"),
    ("judging_modelcall SET rubric_version = '2020.1'", "prompt: stored template 2026.1, rubric 2020.1, recomputed strategy-2020.1.toml is no longer kept"),
    ("judging_modelcall SET model = 'gpt-other'", "parameters.model: stored gpt-test-2026-01-01, recomputed gpt-other"),
    ("judging_callresult SET parameters = jsonb_set(parameters, '{max_completion_tokens}', '7')", "request 1: stored "),
    ("judging_callresult SET parameters = jsonb_set(parameters, '{stream}', 'true')", "parameters.stream: stored True, recomputed False"),
    ("judging_callattempt SET request_digest = 'x'", "request 1: stored x"),
    ("judging_callattempt SET remark = ''", "request 2: stored "),
]  # fmt: skip


def test_the_first_part_that_comes_out_otherwise_is_named(bundle: Bundle) -> None:
    for change, what in CHANGES:
        with transaction.atomic():
            without_triggers(f"UPDATE {change}", [])
            told = [line for line in differences(bundle) if line.startswith(SEAT)]
            transaction.set_rollback(True)
        assert any(what in line for line in told), (change, told)


def test_a_stored_text_that_is_not_what_the_files_give_is_named(bundle: Bundle) -> None:
    call = call_of(bundle)
    for part in ("prompt", "evidence"):
        text = blobs.whole(getattr(call, part))
        other = blobs.put(text.replace(b"take the lock first", b"take no lock at all"))
        assert other.pk != getattr(call, f"{part}_id")
        change = f"UPDATE judging_modelcall SET {part}_id = %s WHERE id = %s"
        with transaction.atomic():
            without_triggers(change, [other.pk, call.pk])
            told = [line for line in differences(bundle) if line.startswith(SEAT)]
            transaction.set_rollback(True)
        assert any(f"call {call.pk}, {part}" in line for line in told), told


def test_a_newer_template_is_a_new_version_and_no_fault(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompts, "VERSION", "2027.1")
    replayed = replay(bundle.match)
    assert replayed.is_equal, replayed.differences
    assert len(replayed.notes) == 6
    assert replayed.notes[0].endswith("asked with template 2026.1; new calls use 2027.1")


def test_other_bytes_of_another_version_of_a_library_are_noted(bundle: Bundle) -> None:
    without_triggers("UPDATE judging_callattempt SET request_digest = 'x'", [])
    without_triggers("UPDATE judging_callresult SET written_by = 'pydantic-ai-slim 1.0'", [])
    replayed = replay(bundle.match)
    assert replayed.is_equal, replayed.differences
    note = next(note for note in replayed.notes if note.startswith(SEAT))
    assert "writes the same prompt otherwise than pydantic-ai-slim 1.0 did: request 1" in note
    _, text = said("m-1")
    assert note in text


def test_a_call_that_was_lost_is_traced_too(bundle: Bundle) -> None:
    call = call_of(bundle)
    lost = ModelCall.objects.create(
        **{
            field: getattr(call, field)
            for field in (
                "bundle", "judge", "seat", "round", "vendor", "wire", "model", "prompt", "evidence",
                "template_version", "rubric_version", "rubric_digest", "reserved_usd",
            )
        },
        template_digest="x",
        lease_expires_at=timezone.now(),
    )  # fmt: skip
    told = differences(bundle)
    assert len(told) == 1
    assert f"call {lost.pk}, template 2026.1: stored x" in told[0]
