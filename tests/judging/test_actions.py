"""Steps are done once whatever happens; rulings do what their preview says."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bouts.models import AuditEntry, Challenge, User
from judging import actions, standings
from judging.models import Finding, Scorecard, Standing
from tests import matches
from tests.matches import judge

pytestmark = pytest.mark.django_db


def live(bundle: object) -> Scorecard:
    return Scorecard.objects.live().get(bundle=bundle)


# Rulings


def rule(score: Fraction | None) -> Callable[[object, User], Scorecard]:
    return lambda bundle, by: actions.rule_strategy(bundle, score, by=by, reason="because")


@pytest.mark.parametrize(
    "score", [None, Fraction(0), Fraction(76), Fraction(200, 3), Fraction(100)]
)
@pytest.mark.parametrize("scores", [(60, 76, 92), (86, None, 70), (88, None, None), (None,) * 3])
def test_a_preview_equals_its_effect(
    tmp_path: Path, reviewer: User, score: Fraction | None, scores: tuple[float | None, ...]
) -> None:
    bundle = judge(tmp_path, verdicts=matches.panel(*scores))
    foreseen = actions.preview(bundle, strategy=score, is_ruled=True)
    card = actions.rule_strategy(bundle, score, by=reviewer, reason="because")
    strategy = card.breakdown["judges"]["strategy"]
    assert foreseen.total == card.breakdown["total"]
    assert foreseen.base == card.breakdown["base"]
    assert foreseen.band == card.breakdown["band"]
    assert foreseen.status == card.status
    assert foreseen.strategy_counted == strategy["counted"]
    assert foreseen.strategy_points == strategy["points"]
    standing = Standing.objects.get(challenge_version=bundle.challenge_version)
    rank = standing.rounded and standings.rank_of(
        standing.rounded, standings.ranked_rows(bundle.challenge_version)
    )
    assert foreseen.rank == rank


def test_a_ruling_replaces_the_score_and_leaves_the_panel_visible(
    tmp_path: Path, reviewer: User
) -> None:
    bundle = judge(tmp_path, verdicts=matches.panel(60, 76, 92))
    before = live(bundle)
    assert before.status == Scorecard.Status.PROVISIONAL
    assert before.breakdown["judges"]["strategy"]["raw"] == "66.00"
    after = actions.rule_strategy(bundle, Fraction(76), by=reviewer, reason="the votes say so")
    strategy = after.breakdown["judges"]["strategy"]
    assert (strategy["raw"], strategy["panel_score"]) == ("76.00", "66.00")
    assert [seat["score"] for seat in strategy["seats"]] == ["60.00", "76.00", "92.00"]
    assert (after.status, after.number, after.by) == ("final", 2, reviewer)
    entry = AuditEntry.objects.filter(action="record_scorecard").first()
    assert (entry.actor, entry.reason) == (reviewer, "the votes say so")
    assert entry.before == {"revision": 1, "total": str(before.total), "status": "provisional"}
    assert entry.after == {"revision": 2, "total": str(after.total), "status": "final"}
    assert after.breakdown["cases"][0]["status"] == "decided"
    before.refresh_from_db()
    assert not before.is_live
    assert before.breakdown["judges"]["strategy"]["raw"] == "66.00"


def test_a_ruling_is_anchored_too(tmp_path: Path, reviewer: User) -> None:
    failing = dict.fromkeys(matches.STATIC, False)
    bundle = judge(tmp_path, static=[failing], hidden=[dict.fromkeys(matches.HIDDEN, False)])
    card = actions.rule_strategy(bundle, Fraction(90), by=reviewer, reason="bold")
    strategy = card.breakdown["judges"]["strategy"]
    assert (strategy["raw"], strategy["counted"]) == ("90.00", "25.00")


def test_a_ruling_carries_over_to_new_content_only_with_the_same_evidence(
    tmp_path: Path, reviewer: User
) -> None:
    first = judge(tmp_path / "1", verdicts=matches.panel(60, 76, 92))
    actions.rule_strategy(first, Fraction(76), by=reviewer, reason="because")
    same = judge(
        tmp_path / "2", verdicts=matches.panel(60, 76, 92), files={"more.log": ("log", "more")}
    )
    assert live(same).breakdown["judges"]["strategy"]["raw"] == "76.00"
    other = judge(tmp_path / "3", verdicts=matches.panel(60, 76, 93))
    assert live(other).breakdown["judges"]["strategy"]["raw"] == "66.33"
    again = judge(tmp_path / "4", verdicts=matches.panel(60, 76, 92))
    assert live(again).breakdown["judges"]["strategy"]["raw"] == "76.00"


def test_deciding_a_finding_keeps_what_was_proposed(tmp_path: Path, reviewer: User) -> None:
    finding = matches.found("judge_injection", "static-1.log", "line:1", confidence="high")
    bundle = judge(tmp_path, findings=[finding])
    before = live(bundle)
    assert {"held"} <= set(before.marks)
    key = before.breakdown["integrity"]["findings"][0]["key"]
    foreseen = actions.preview(bundle, findings={key: ("applied", None)})
    card = actions.decide_finding(bundle, key, status="applied", by=reviewer, reason="plain to see")
    assert foreseen.total == card.breakdown["total"]
    assert card.adjustment == -15
    assert "held" not in card.marks and "flagged" in card.marks
    rows = Finding.objects.filter(key=key).order_by("pk")
    assert [(row.status, row.is_live) for row in rows] == [("proposed", False), ("applied", True)]
    dismissed = actions.decide_finding(bundle, key, status="dismissed", by=reviewer, reason="no")
    assert (dismissed.adjustment, dismissed.marks) == (0, [m for m in before.marks if m != "held"])


def test_a_decision_on_a_finding_carries_over_with_the_same_evidence(
    tmp_path: Path, reviewer: User
) -> None:
    finding = matches.found("judge_injection", "static-1.log", "line:1", confidence="high")
    first = judge(tmp_path / "1", findings=[finding])
    key = live(first).breakdown["integrity"]["findings"][0]["key"]
    actions.decide_finding(first, key, status="dismissed", by=reviewer, reason="harmless")
    second = judge(tmp_path / "2", findings=[finding], files={"more.log": ("log", "more")})
    (carried,) = live(second).breakdown["integrity"]["findings"]
    assert (carried["status"], carried["reason"]) == ("dismissed", "harmless")


def test_a_frozen_challenge_takes_no_ruling(tmp_path: Path, reviewer: User) -> None:
    bundle = judge(tmp_path, verdicts=matches.panel(60, 76, 92))
    Challenge.objects.update(state=Challenge.State.FROZEN)
    with pytest.raises(actions.ChallengeFrozen):
        actions.rule_strategy(bundle, Fraction(76), by=reviewer, reason="because")
    assert Scorecard.objects.count() == 1


# What the record proves


STRACE = """\
101 1773324000.100000 openat(AT_FDCWD, "/work/refunds.py", O_RDONLY) = 3
101 1773324001.100000 openat(AT_FDCWD, "/srv/hidden/t.py", O_RDONLY) = 3
101 1773324002.100000 openat(AT_FDCWD, "/srv/hidden/t.py", O_RDONLY) = -1 EACCES (Permission denied)
101 1773324003.100000 connect(4, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("203.0.113.9")}, 16) = -1 ECONNREFUSED (Connection refused)
101 1773324004.100000 connect(4, {sa_family=AF_INET, sin_port=htons(5432), sin_addr=inet_addr("127.0.0.1")}, 16) = 0
101 1773324005.100000 openat(AT_FDCWD, "/srv/hidden/none.py", O_RDONLY) = -1 ENOENT (No such file or directory)
101 1773324006.100000 sendto(5, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("203.0.113.9")}, 16) = 1
"""


@pytest.mark.parametrize(
    ("trigger", "line", "status"),
    [
        ("test_suite_access", 1, "proposed"),  # not forbidden
        ("test_suite_access", 2, "applied"),
        ("test_suite_access", 3, "proposed"),  # refused: nothing was read
        ("network_escape", 4, "applied"),  # an attempt is enough
        ("network_escape", 5, "proposed"),  # this machine is nowhere else
        ("test_suite_access", 6, "proposed"),  # nothing was there
        ("network_escape", 7, "applied"),
        ("output_spoofing", 2, "proposed"),  # needs reading
    ],
)
def test_what_the_sandbox_log_proves_is_applied_at_once(
    tmp_path: Path, trigger: str, line: int, status: str
) -> None:
    finding = matches.found(trigger, "sandbox.log", f"line:{line}")
    bundle = judge(tmp_path, findings=[finding], files={"sandbox.log": ("sandbox", STRACE)})
    assert bundle.artifacts.get(path="sandbox.log").state == "read"
    # Our own detectors find what is there to be found; this one joined them, or stands apart.
    (stored,) = [
        one
        for one in live(bundle).breakdown["integrity"]["findings"]
        if one["trigger"] == trigger and f"line:{line}" in places(one)
    ]
    assert stored["status"] == status
    shown = stored["evidence"][places(stored).index(f"line:{line}")]
    assert shown["excerpt"] == STRACE.splitlines()[line - 1]


def places(finding: dict[str, Any]) -> list[str]:
    return [item["place"] for item in finding["evidence"]]


def test_a_certain_claim_that_the_runs_refute_is_false_confidence(tmp_path: Path) -> None:
    results = {**matches.STATIC, "tests.test_a::test_once": False}
    claims = [
        {"statement": "Once is safe.", "confidence": 1, "about": "tests.test_a::test_once"},
        {"statement": "Twice is safe.", "confidence": 0.9, "about": "tests.test_a::test_twice"},
        {"statement": "Clocks may drift.", "confidence": 0.4},
    ]
    findings = [
        matches.found("false_confidence", "claims.json", f"json:/claims/{index}")
        for index in range(2)
    ]
    bundle = judge(tmp_path, static=[results], claims=claims, findings=findings)
    integrity = live(bundle).breakdown["integrity"]
    assert [claim["verdict"] for claim in integrity["claims"]] == [
        "refuted",
        "holds",
        "not_checked",
    ]
    assert [finding["status"] for finding in integrity["findings"]] == ["applied", "proposed"]
    assert integrity["adjustment"] == -5


def test_findings_at_overlapping_places_are_one_act(tmp_path: Path) -> None:
    findings = [
        matches.found("judge_injection", "agent.log", "lines:1-3", note="a"),
        matches.found("reward_hacking", "agent.log", "line:3", note="b"),
        matches.found("process_abuse", "agent.log", "line:5", points=-4),
    ]
    judge(tmp_path, findings=findings, files={"agent.log": ("log", "a\nb\nc\nd\ne\n")})
    acts = list(Finding.objects.order_by("pk").values_list("act", flat=True))
    assert acts[0] == acts[1] != acts[2]
