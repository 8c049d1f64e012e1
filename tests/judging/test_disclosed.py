from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bouts.disclosure import Audience, Gate
from bouts.models import Bundle
from bouts.rules import Disclosure
from judging.actions import decide_finding, rule_strategy
from judging.disclosed import disclosed
from judging.models import Scorecard
from tests.factories import make_user
from tests.judging.views.making import CANARIES, KEY, rich

COMPETITORS = (
    (Audience.TEAM, Disclosure.CLOSED),
    (Audience.TEAM, Disclosure.CATEGORY),
    (Audience.OTHERS, Disclosure.CLOSED),
    (Audience.OTHERS, Disclosure.OPEN),
    (Audience.BLIND, Disclosure.OPEN),
    (Audience.NOBODY, Disclosure.OPEN),
)

# Texts that are words of our own or identities that everybody may know, by the last key on the
# way to them. Whatever else is a text may come from an upload.
OURS = {
    "match", "policy", "status", "band", "row", "points", "severity", "outcomes", "suite", "id",
    "category", "branch", "confidence", "trigger", "standing", "source", "kind", "state", "gate",
    "marks", "flags", "not_found", "key", "finding", "finding_key", "total", "base", "low", "high",
    "raw", "counted", "score", "mean", "panel_score", "metrics_half", "model_half", "static_rate",
    "hidden_rate", "bonus", "deductions", "seat", "format", "digest", "counts_instead",
    "decided_at", "discarded", "visible_verdict",
}  # fmt: skip


@pytest.fixture
def bundle(db: None, tmp_path: Path) -> Bundle:
    return rich(tmp_path)


@pytest.fixture
def breakdown(bundle: Bundle) -> dict[str, Any]:
    return Scorecard.objects.live().get(match=bundle.match).breakdown


def gate_of(bundle: Bundle, audience: Audience, disclosure: Disclosure) -> Gate:
    return Gate(audience, disclosure, tuple(bundle.hidden_words))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every text in a JSON value."""
    match value:
        case str():
            yield path
        case dict():
            for key, item in value.items():
                yield from leaves(item, (*path, key))
        case list():
            for at, item in enumerate(value):
                yield from leaves(item, (*path, at))


def replaced(value: Any, path: tuple[Any, ...], text: str) -> Any:
    changed = copy.deepcopy(value)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = text
    return changed


def is_ours(path: tuple[Any, ...]) -> bool:
    name = next(step for step in reversed(path) if isinstance(step, str))
    if name == "reason":
        # A code at a judge, a metric, a case and the top; words of a person at a finding,
        # a ruling or a seat.
        return not {"findings", "ruling", "seats", "model", "artifacts", "scans"} & set(path)
    if path[0] == "artifacts":
        return name in {"kind", "suite", "state", "format", "digest"}
    return name in OURS


# What nobody may see


@pytest.mark.parametrize(("audience", "disclosure"), COMPETITORS)
def test_no_audience_of_competitors_reads_what_quotes_a_hidden_test(
    bundle: Bundle, breakdown: dict[str, Any], audience: Audience, disclosure: Disclosure
) -> None:
    full = json.dumps(breakdown).lower()
    assert all(word in full for word in ("test_zanzibar", "kumquat-expected"))
    shown = json.dumps(disclosed(breakdown, gate_of(bundle, audience, disclosure))).lower()
    assert not [word for word in CANARIES if word in shown]


@pytest.mark.parametrize(("audience", "disclosure"), COMPETITORS)
def test_no_text_of_the_breakdown_carries_a_hidden_name_out_wherever_it_stands(
    bundle: Bundle, breakdown: dict[str, Any], audience: Audience, disclosure: Disclosure
) -> None:
    gate = gate_of(bundle, audience, disclosure)
    tried = 0
    for path in leaves(breakdown):
        if is_ours(path):
            continue
        tried += 1
        told = replaced(breakdown, path, "see test_zanzibar_lock, which")
        assert "zanzibar" not in json.dumps(disclosed(told, gate)), path
    assert tried > 150


@pytest.mark.parametrize("audience", [Audience.TEAM, Audience.OTHERS])
def test_what_is_added_to_the_breakdown_stays_inside_until_it_is_listed(
    bundle: Bundle, breakdown: dict[str, Any], audience: Audience
) -> None:
    def with_news(value: Any) -> Any:
        match value:
            case dict():
                inside = {
                    key: item if key in vocabularies else with_news(item)
                    for key, item in value.items()
                }
                return {**inside, "news": "rosa"}
            case list():
                return [with_news(item) for item in value]
        return value

    # Keyed by judge, metric, criterion or severity: another key is another of these.
    vocabularies = {"metrics", "criteria", "counts", "levels"}
    judges = {name: with_news(judge) for name, judge in breakdown["judges"].items()}
    news = {**with_news({**breakdown, "judges": {}}), "judges": judges}
    shown = disclosed(news, gate_of(bundle, audience, Disclosure.CLOSED))
    assert [path for path in leaves(shown) if path[-1] == "news"] == []


# The team


def test_the_team_sees_its_match_in_full_but_for_hidden_tests(
    bundle: Bundle, breakdown: dict[str, Any]
) -> None:
    shown = disclosed(breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CLOSED))
    assert shown["total"] == breakdown["total"]
    assert shown["range"] == breakdown["range"]
    assert sum(Decimal(row["points"]) for row in shown["ledger"]) == Decimal(shown["total"])
    objective = shown["judges"]["objective"]
    assert [test["id"] for test in objective["evidence"]["tests"]] == [
        "tests.test_a::test_once",
        "tests.test_a::test_twice",
    ]
    assert objective["counts"] == breakdown["judges"]["objective"]["counts"]
    process = shown["judges"]["process"]
    assert process["metrics"].keys() == breakdown["judges"]["process"]["metrics"].keys()
    # Its own sentences stand beside the model's, which quote a hidden test.
    assert process["rationale"].endswith("\n\nwithheld")
    assert process["rationale"].startswith(("0 of", "1 of", "2 of", "First", "The change", "n/a"))


def test_withheld_parts_are_listed(bundle: Bundle, breakdown: dict[str, Any]) -> None:
    shown = disclosed(breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CLOSED))
    assert {
        "judges.objective.evidence.tests[hidden]",
        "judges.objective.evidence.logs[hidden]",
        "judges.objective.evidence.digest",
        "judges.objective.unlisted",
        "judges.objective.run_scores",
        "judges.process.rationale",
        "judges.strategy.seats[0].rationale",
        "judges.strategy.seats[0].evidence[0]",
        "judges.strategy.seats[0].model",
        *told_of(breakdown, "test_suite_access", "note", "evidence[0].excerpt"),
        *told_of(breakdown, "reward_hacking", "evidence[0].excerpt", "evidence[1]"),
        "integrity.claims[0].verdict",
        "artifacts[hidden tests]",
        "artifacts[verdicts]",
        "artifacts[PEEKED.md]",
    } <= set(shown["withheld"])


def told_of(breakdown: dict[str, Any], trigger: str, *parts: str) -> list[str]:
    """Name parts of a finding as ``withheld`` does."""
    triggers = [finding["trigger"] for finding in breakdown["integrity"]["findings"]]
    return [f"integrity.findings[{triggers.index(trigger)}].{part}" for part in parts]


def test_neither_digest_nor_count_tells_of_hidden_runs(
    bundle: Bundle, breakdown: dict[str, Any]
) -> None:
    shown = disclosed(breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CLOSED))
    hidden = [
        row["digest"]
        for row in breakdown["artifacts"]
        if row["suite"] == "hidden" or row["path"].startswith("hidden") or row["kind"] == "verdicts"
    ]
    assert len(hidden) == 5
    text = json.dumps(shown)
    assert not [digest for digest in hidden if digest in text]
    assert breakdown["judges"]["objective"]["evidence"]["digest"] not in text
    paths = [row["path"] for row in shown["artifacts"]]
    assert "static-1.xml" in paths
    assert not [path for path in paths if "hidden" in path]
    # A digest over what the seats said and which models they are would name the models.
    assert breakdown["cases"][0]["evidence_digest"] not in text


def test_a_crash_of_a_hidden_run_is_told_by_its_cost_alone(db: None, tmp_path: Path) -> None:
    bundle = rich(
        tmp_path,
        hidden_log='Fatal Python error: Segmentation fault\n  File "/w/refunds/kumquat.py", line 3 in kumquat_pay\n',
    )
    breakdown = Scorecard.objects.live().get().breakdown
    assert "kumquat" in breakdown["judges"]["objective"]["crashes"][0]["signature"]
    shown = disclosed(breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CLOSED))
    assert shown["judges"]["objective"]["crashes"] == [
        {"signature": "withheld", "artifact": None, "place": None}
    ]
    assert "kumquat" not in json.dumps(shown)


def test_a_file_that_quotes_a_hidden_test_is_named_and_not_opened(
    bundle: Bundle, breakdown: dict[str, Any]
) -> None:
    shown = disclosed(breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CLOSED))
    files = {row["path"]: row for row in shown["artifacts"]}
    assert (files["PEEKED.md"]["digest"], files["PEEKED.md"]["raw"]) == (None, False)
    assert files["NOTES.md"]["raw"] is True
    # The timeline is shown event by event; the file as it is stays shut.
    assert files["telemetry.json"]["digest"]
    assert files["telemetry.json"]["raw"] is False


def test_a_guess_at_a_hidden_test_and_a_claim_about_nothing_look_the_same(
    bundle: Bundle, breakdown: dict[str, Any]
) -> None:
    shown = disclosed(breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CLOSED))
    of_requirement, of_hidden, of_nothing = shown["integrity"]["claims"]
    assert breakdown["integrity"]["claims"][1]["verdict"] == "refuted"
    for field in ("record", "visible_verdict"):
        assert of_hidden[field] == of_nothing[field]
    assert of_requirement["record"] == "R1: visible tests passed in 2 of 2 graded runs."
    assert (of_requirement["verdict"], of_requirement["visible_verdict"]) == ("withheld", "holds")


def test_categories_are_added_as_counts_where_the_disclosure_says_so(
    bundle: Bundle, breakdown: dict[str, Any]
) -> None:
    shown = disclosed(breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CATEGORY))
    assert shown["judges"]["objective"]["hidden_categories"] == [
        {"category": "keys", "severity": "critical", "total": 1, "passed": 0, "failed": 1},
        {"category": "locks", "severity": "high", "total": 1, "passed": 1, "failed": 0},
    ]
    closed = disclosed(breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CLOSED))
    assert "hidden_categories" not in closed["judges"]["objective"]


def test_open_shows_the_team_all_but_the_verdicts_file(
    bundle: Bundle, breakdown: dict[str, Any]
) -> None:
    shown = disclosed(breakdown, gate_of(bundle, Audience.TEAM, Disclosure.OPEN))
    objective = shown["judges"]["objective"]
    assert KEY in [test["id"] for test in objective["evidence"]["tests"]]
    assert objective["evidence"]["digest"]
    assert objective["unlisted"] == ["hidden.t::test_zanzibar_unlisted"]
    assert {row["path"] for row in shown["artifacts"] if not row["raw"]} == set()
    assert "verdicts.json" not in {row["path"] for row in shown["artifacts"]}


# The panel


def test_while_the_case_is_open_no_seat_tells_whose_it_is(
    bundle: Bundle, breakdown: dict[str, Any]
) -> None:
    shown = disclosed(breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CLOSED))
    seats = shown["judges"]["strategy"]["seats"]
    assert [(seat["seat"], seat["score"]) for seat in seats] == [
        ("A", "60.00"), ("B", "76.00"), ("C", "92.00"),
    ]  # fmt: skip
    assert seats[2]["rationale"] == "As [withheld], I find a sound order of steps."
    text = json.dumps(shown["judges"]["strategy"]).lower()
    assert not [
        name
        for name in ("claude", "anthropic", "gpt", "openai", "gemini", "google")
        if name in text
    ]


@pytest.mark.parametrize("name", ["Opus", "sonnet-4", "Codex", "DeepMind", "Qwen3", "Grok"])
def test_no_name_of_any_house_is_left_in_what_a_seat_said(
    bundle: Bundle, breakdown: dict[str, Any], name: str
) -> None:
    for seat in breakdown["judges"]["strategy"]["seats"]:
        seat["rationale"] = f"As {name}, I find no fault with -O3 or the meta tag."
    shown = disclosed(breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CLOSED))
    said = {seat["rationale"] for seat in shown["judges"]["strategy"]["seats"]}
    assert said == {"As [withheld], I find no fault with -O3 or the meta tag."}


def test_once_it_is_decided_models_are_named(bundle: Bundle) -> None:
    rosa = make_user("rosa", "reviewer")
    card = rule_strategy(bundle, None, by=rosa, reason="The rule's number stands.")
    shown = disclosed(card.breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CLOSED))
    strategy = shown["judges"]["strategy"]
    assert {seat["seat"]: seat["model"] for seat in strategy["seats"]} == {
        "anthropic": "claude-opus-4-5",
        "openai": "gpt-4o-2024-11-20",
        "google": "gemini-2.5-pro",
    }
    assert strategy["ruling"]["reason"] == "The rule's number stands."
    assert "rosa" not in json.dumps(shown)


def test_the_order_of_the_seats_tells_nothing_of_silent_ones(db: None, tmp_path: Path) -> None:
    silent = [
        {
            "judge": "strategy",
            "seat": seat,
            "model": model,
            "state": "refused",
            "reason": "declined",
        }
        for seat, model in (("anthropic", "claude-9"), ("openai", "gpt-9"))
    ]
    one = {
        "judge": "strategy",
        "seat": "google",
        "model": "gemini-9",
        "score": 50,
        "rationale": "So.",
    }
    bundle = rich(tmp_path, verdicts=[*silent, one])
    card = Scorecard.objects.live().get()
    shown = disclosed(card.breakdown, gate_of(bundle, Audience.TEAM, Disclosure.CLOSED))
    seats = shown["judges"]["strategy"]["seats"]
    assert [(seat["seat"], seat["state"]) for seat in seats] == [
        ("A", "scored"), ("B", "refused"), ("C", "refused"),
    ]  # fmt: skip


# Others, staff, the blind


def test_other_teams_see_scores_and_applied_findings_and_the_ledger_adds_up(
    bundle: Bundle, breakdown: dict[str, Any]
) -> None:
    shown = disclosed(breakdown, gate_of(bundle, Audience.OTHERS, Disclosure.OPEN))
    assert set(shown) == {
        "match", "revision", "policy", "challenge_version", "status", "total", "reason", "base",
        "adjustment", "band", "marks", "ledger", "judges", "integrity", "withheld",
    }  # fmt: skip
    assert shown["integrity"] == {
        "adjustment": -25,
        "findings": [
            {
                "trigger": "test_suite_access",
                "points": -25,
                "severity": "quarantine",
                "status": "applied",
            },
            {
                "trigger": "network_escape",
                "points": -25,
                "severity": "quarantine",
                "status": "applied",
            },
            {
                "trigger": "false_confidence",
                "points": -5,
                "severity": "warning",
                "status": "applied",
            },
        ],
    }
    assert sum(Decimal(row["points"]) for row in shown["ledger"]) == Decimal(shown["total"])
    assert {tuple(row) for row in shown["ledger"]} == {("row", "points")}
    assert "nondeterministic" not in shown["marks"]
    assert set(shown["judges"]["strategy"]) <= {
        "raw", "counted", "weight", "effective_weight", "points", "anchored", "reason",
    }  # fmt: skip


def test_a_dismissed_finding_is_nobody_elses_business(bundle: Bundle) -> None:
    rosa = make_user("rosa", "reviewer")
    key = bundle.findings.get(trigger="test_suite_access").key
    card = decide_finding(bundle, key, status="dismissed", by=rosa, reason="A misread path.")
    shown = disclosed(card.breakdown, gate_of(bundle, Audience.OTHERS, Disclosure.CLOSED))
    triggers = [finding["trigger"] for finding in shown["integrity"]["findings"]]
    assert triggers == ["network_escape", "false_confidence"]
    assert "test_suite_access" not in json.dumps(shown)


def test_staff_see_everything_with_secrets_masked(
    bundle: Bundle, breakdown: dict[str, Any]
) -> None:
    leaked = replaced(
        breakdown, ("judges", "process", "rationale"), "used AKIAIOSFODNN7EXAMPLE to sign"
    )
    shown = disclosed(leaked, gate_of(bundle, Audience.STAFF, Disclosure.CLOSED))
    assert shown["judges"]["process"]["rationale"] == "used AKIA…[masked] to sign"
    assert shown["withheld"] == []
    same = {**shown, "judges": breakdown["judges"], "artifacts": breakdown["artifacts"]}
    same.pop("withheld")
    assert same == breakdown


def test_the_blind_see_no_more_than_which_version_of_the_challenge_it_is(
    bundle: Bundle, breakdown: dict[str, Any]
) -> None:
    shown = disclosed(breakdown, gate_of(bundle, Audience.BLIND, Disclosure.OPEN))
    assert set(shown) == {"challenge_version", "withheld"}
