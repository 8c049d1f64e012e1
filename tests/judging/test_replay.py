"""What is stored comes out again to the last digit, and one byte that was changed is found."""

from __future__ import annotations

import io
import socket
import subprocess
import urllib.request
from fractions import Fraction
from pathlib import Path

import pytest
import zstandard
from django.core.management import CommandError, call_command
from django.db import connection

from bouts.models import Blob, Bundle, User
from judging.actions import decide_finding, rule_strategy
from judging.models import Finding, Scorecard, Verdict
from judging.network import NetworkIsOff, network_off
from judging.replay import replay
from tests.judging.views.making import rich
from tests.matches import found, judge

pytestmark = pytest.mark.django_db


def said(*arguments: str) -> tuple[bool, str]:
    """Run the command; return whether all was equal, and what it printed."""
    out = io.StringIO()
    try:
        call_command("replay", *arguments, stdout=out)
    except CommandError as error:
        return False, f"{out.getvalue()}{error}"
    return True, out.getvalue()


def without_triggers(sql: str, values: list[object]) -> None:
    """Change a row as somebody might who owns the database."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what is deferred keeps a table from ALTER
        table = sql.split()[1]
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(sql, values)
        cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    return rich(tmp_path)


def test_a_match_with_everything_in_it_comes_out_as_it_is_stored(bundle: Bundle) -> None:
    is_equal, text = said("m-1")
    assert is_equal, text
    assert text.startswith("m-1: ")
    assert text.endswith("1 scorecard: equal\n")


def test_rulings_decisions_and_old_bundles_are_covered(tmp_path: Path, reviewer: User) -> None:
    judge(tmp_path / "1", verdicts=[], findings=[])
    finding = found("plagiarism", "final.diff", "diff:refunds.py:1", confidence="high")
    bundle = judge(tmp_path / "2", findings=[finding], claims=[{"statement": "All pass."}])
    rule_strategy(bundle, Fraction(61), by=reviewer, reason="Read it.")
    key = Finding.objects.get(is_live=True).key
    decide_finding(bundle, key, status="applied", by=reviewer, reason="It is copied.")
    replayed = replay(bundle.match)
    assert replayed.is_equal, replayed.differences
    assert replayed.scorecards == Scorecard.objects.count() == 4
    assert replayed.verdicts == Verdict.objects.exclude(source="ruling").count()


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ("UPDATE judging_verdict SET score = '71' WHERE seat = 'anthropic'", "strategy, seat anthropic, score: stored 71, recomputed"),
        ("UPDATE judging_verdict SET score = '1/3' WHERE judge = 'objective'", "objective, score: stored 1/3, recomputed"),
        ("UPDATE judging_verdict SET rationale = 'x' WHERE judge = 'objective'", "objective, rationale: stored x"),
        ("UPDATE judging_verdict SET evidence_digest = 'x' WHERE seat = ''", "strategy, evidence_digest: stored x"),
        ("UPDATE judging_scorecard SET total = 99.99", "scorecard 1, total: stored 99.99"),
        ("UPDATE judging_scorecard SET value = '99'", "scorecard 1, value: stored 99"),
        ("UPDATE judging_scorecard SET breakdown = jsonb_set(breakdown, '{ledger,0,points}', '\"1.00\"')", "ledger[0].points: stored 1.00"),
        ("UPDATE judging_scorecard SET digest = 'x'", "digest: stored x"),
        ("UPDATE judging_finding SET points = -1", "finding"),
        # Rows that say of themselves that they are not to be made again.
        ("UPDATE judging_verdict SET source = 'own', score = '100' WHERE seat = 'anthropic'", "strategy, seat anthropic, source: stored own, recomputed uploaded"),
        ("UPDATE judging_verdict SET source = 'ruling', score = '100' WHERE judge = 'objective'", "objective, source: stored ruling, recomputed own"),
        ("UPDATE judging_scorecard SET rests_on = '{}', total = 99.99", "scorecard 1, rests_on: stored nothing, recomputed it cannot be made again"),
        ("UPDATE judging_scorecard SET rests_on = jsonb_set(rests_on, '{verdicts,0}', '99')", "scorecard 1, rests_on: stored verdicts 99, recomputed they are gone"),
        # What the database itself lets anybody change.
        ("UPDATE judging_finding SET is_live = false", "is_live: stored False, recomputed True"),
        ("UPDATE judging_verdict SET is_live = false WHERE judge = 'objective'", "bundle 1, objective, row"),
        ("UPDATE judging_scorecard SET is_live = false", "scorecards, is_live: stored [], recomputed [1]"),
    ],
)  # fmt: skip
def test_a_row_that_was_changed_is_found_and_named(bundle: Bundle, change: str, where: str) -> None:
    without_triggers(change, [])
    is_equal, text = said("m-1")
    assert not is_equal
    assert where in text
    assert text.endswith("1 of 1 match differ")


def test_a_stored_byte_that_was_changed_is_found(bundle: Bundle, settings: object) -> None:
    blob = Blob.objects.filter(artifacts__path="static-1.xml").first()
    path = Path(settings.STORAGES["default"]["OPTIONS"]["location"], blob.storage_name)  # type: ignore[attr-defined]
    kept = path.read_bytes()
    try:
        content = zstandard.ZstdDecompressor().stream_reader(kept).read()
        path.chmod(0o600)
        path.write_bytes(zstandard.ZstdCompressor().compress(content.replace(b"0.2", b"0.3", 1)))
        is_equal, text = said("m-1")
        assert not is_equal
        assert f"the content stored as {blob.digest} has the digest" in text
    finally:
        path.write_bytes(kept)


def test_a_match_that_is_not_there_is_named(bundle: Bundle) -> None:
    assert said("m-9") == (False, "no such match: m-9")
    assert said()[0] is said("m-1", "--all")[0] is False


def test_nothing_leaves_the_process_while_the_network_is_off() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        with network_off():
            with pytest.raises(NetworkIsOff):
                socket.create_connection(address)
            with pytest.raises(NetworkIsOff):
                socket.getaddrinfo("localhost", 80)
            with pytest.raises(NetworkIsOff):
                urllib.request.urlopen(f"http://127.0.0.1:{address[1]}/")
            with pytest.raises(NetworkIsOff):
                subprocess.run(["true"], check=True)
            assert Blob.objects.count() == 0  # the database answers
        socket.create_connection(address).close()
