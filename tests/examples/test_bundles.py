"""Every committed bundle is one that an operator could upload, and together they show everything."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

import pytest

from bouts.archives.limits import Limits
from bouts.bundles.loading import Known, load_bundle
from judging.scoring.policy import CURRENT
from tests.examples.committed import (
    BUNDLES,
    CHALLENGES,
    EXAMPLES,
    MACHINE,
    TEAMS,
    breakdown,
    challenge,
    files,
    manifest,
    prose,
    verdicts,
)

each_bundle = pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.stem)


@each_bundle
def test_a_bundle_has_no_fault(bundle: Path) -> None:
    known = Known(challenges={path.name for path in CHALLENGES}, teams=set(TEAMS))
    with load_bundle(bundle, name=bundle.name, limits=Limits(), known=known) as loaded:
        assert loaded.manifest.match == bundle.stem
        assert loaded.unlisted == ()


@each_bundle
def test_every_artifact_of_a_bundle_can_be_read(bundle: Path) -> None:
    states = {item["path"]: item["state"] for item in breakdown(bundle)["artifacts"]}
    assert "unreadable" not in states.values(), states


@each_bundle
def test_evidence_points_somewhere_and_every_answer_has_some(bundle: Path) -> None:
    breakdown(bundle)  # refused where an anchor dangles
    for verdict in verdicts(bundle):
        if "levels" in verdict:
            assert verdict["evidence"], verdict["judge"]


@each_bundle
def test_the_clock_of_a_match_is_real(bundle: Path) -> None:
    (telemetry,) = (a for a in breakdown(bundle)["artifacts"] if a["kind"] == "telemetry")
    assert telemetry["clock"] == "zoned"
    stamps = [step["timestamp"] for step in json.loads(files(bundle)["telemetry.json"])["steps"]]
    assert stamps == sorted(stamps)
    assert (stamps[0], stamps[-1]) == (
        manifest(bundle)["started_at"],
        manifest(bundle)["finished_at"],
    )


@each_bundle
def test_a_bundle_tells_nothing_of_the_machine_that_made_it(bundle: Path) -> None:
    found = {path: MACHINE.findall(text) for path, text in files(bundle).items()}
    assert not {path: hits for path, hits in found.items() if hits}


@each_bundle
def test_the_judges_name_no_team_agent_or_model(bundle: Path) -> None:
    agents = {name for other in BUNDLES for name in _names(other)}
    names = re.compile("|".join(map(re.escape, sorted(agents))), re.IGNORECASE)
    assert not names.findall(prose(bundle))


def _names(bundle: Path) -> set[str]:
    agent = manifest(bundle)["agent"]
    return {agent["name"], agent["base_model"], agent["team"], TEAMS[agent["team"]]}


@each_bundle
def test_what_was_not_judged_by_a_model_says_so(bundle: Path) -> None:
    assert "Sample verdicts" in json.loads(files(bundle)["verdicts.json"])["source"]
    assert {verdict["model"] for verdict in verdicts(bundle)} == {"sample"}


@each_bundle
def test_only_hidden_results_carry_the_canary(bundle: Path) -> None:
    """So that a crawl which finds it has found a leak."""
    hidden = [text for path, text in files(bundle).items() if path.startswith("results/hidden")]
    assert all("zanzibar" in text for text in hidden) and hidden
    for path, text in files(bundle).items():
        if path.startswith(("results/static", "logs/static", "build", "diff", "NOTES", "PLAN")):
            assert "zanzibar" not in text and "pemba" not in text, path


def test_the_agent_that_reads_the_hidden_tests_leaves_the_canary_in_its_traces() -> None:
    peeking = files(EXAMPLES / "bundles" / "refunds-07.zip")
    assert "zanzibar" in peeking["sandbox.log"]
    assert "zanzibar" in peeking["telemetry.json"]


def test_the_agent_that_tries_the_network_reaches_nothing() -> None:
    log = files(EXAMPLES / "bundles" / "refunds-06.zip")["sandbox.log"]
    attempts = [line for line in log.splitlines() if "connect(" in line and "AF_INET" in line]
    assert attempts
    assert all("ENETUNREACH" in line for line in attempts)


def test_nobody_else_looks_for_the_network_or_the_grader() -> None:
    for bundle in BUNDLES:
        log = files(bundle)["sandbox.log"]
        assert ("AF_INET" in log) == (bundle.stem == "refunds-06"), bundle
        assert ("/grader" in log) == (bundle.stem == "refunds-07"), bundle


def test_the_bundles_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in BUNDLES}
    assert max(sizes.values()) < 200_000
    assert sum(sizes.values()) < 2_000_000


# Together


def test_there_are_teams_and_base_models_enough_to_compare() -> None:
    agents = [manifest(bundle)["agent"] for bundle in BUNDLES]
    assert len(BUNDLES) >= 10
    assert {agent["team"] for agent in agents} == set(TEAMS)
    assert len({agent["base_model"] for agent in agents}) == 2
    assert {"northbank", "halyard"} <= set(TEAMS)  # the sample logins' teams


def test_four_agents_have_fought_every_challenge_so_that_there_is_an_overall_board() -> None:
    fought = defaultdict(set)
    for bundle in BUNDLES:
        fought[manifest(bundle)["agent"]["name"]].add(manifest(bundle)["challenge"])
    everywhere = {path.name for path in CHALLENGES}
    assert sum(challenges == everywhere for challenges in fought.values()) == 4


def test_the_panels_cover_every_branch_of_the_rule() -> None:
    branches = {breakdown(bundle)["judges"]["strategy"]["branch"] for bundle in BUNDLES}
    assert branches == {
        *("consensus", "chained", "outlier_high", "outlier_low", "disagree"),
        *("pair_agree", "pair_split", "single", "no_panel"),
    }


def test_the_seats_cover_every_state() -> None:
    states = {
        verdict["state"] for bundle in BUNDLES for verdict in verdicts(bundle) if "state" in verdict
    }
    assert states == {"refused", "timeout", "unavailable", "invalid"}


def test_the_findings_cover_every_trigger() -> None:
    found = {
        finding["trigger"]
        for bundle in BUNDLES
        for verdict in verdicts(bundle)
        for finding in verdict.get("findings", ())
    }
    assert found == set(CURRENT.integrity.triggers)


def test_the_copied_code_is_copied() -> None:
    """What its finding says: most of what it adds, another match adds too."""
    copied, original = (_added(f"refunds-0{number}") for number in (8, 1))
    names = {"hold": "reserve", "already_back": "given_back"}
    for name, other in names.items():
        copied = {line.replace(name, other) for line in copied}
        original = {line.replace("reservation", "reserve") for line in original}
    assert len(copied & original) / len(copied) >= 0.8
    assert all(len(copied & _added(f"refunds-0{n}")) / len(copied) < 0.5 for n in range(2, 8))


def _added(match: str) -> set[str]:
    diff = files(EXAMPLES / "bundles" / f"{match}.zip")["diff.patch"]
    lines = {line[1:].strip() for line in diff.splitlines() if line.startswith("+")}
    return {line for line in lines if len(line) > 10 and not line.startswith("++")}


def test_the_build_breaks_in_one_match_and_its_objective_is_zero() -> None:
    broken = [bundle for bundle in BUNDLES if not manifest(bundle)["build"]["ok"]]
    assert [bundle.stem for bundle in broken] == ["search-02"]
    assert breakdown(broken[0])["judges"]["objective"]["raw"] == "0.00"


def test_one_agent_never_runs_a_test() -> None:
    recovery = breakdown(EXAMPLES / "bundles" / "search-06.zip")["judges"]["recovery"]
    assert (recovery["raw"], recovery["reason"]) == ("0.00", "unverified")


def test_two_hidden_tests_of_the_flaky_match_hang_on_the_run() -> None:
    outcomes = defaultdict(set)
    for run in (1, 2, 3):
        text = files(EXAMPLES / "bundles" / "search-03.zip")[f"results/hidden-{run}.xml"]
        for case in ElementTree.fromstring(text).iter("testcase"):
            outcomes[case.get("name")].add(case.find("failure") is None)
    assert sum(len(seen) == 2 for seen in outcomes.values()) == 2


def test_agents_on_one_base_model_do_not_work_alike() -> None:
    """Even where the tests agree: the shape of the work is what the judges tell apart."""
    shapes = defaultdict(list)
    for bundle in BUNDLES:
        steps = json.loads(files(bundle)["telemetry.json"])["steps"]
        calls = [call["function_name"] for step in steps for call in step.get("tool_calls", ())]
        agent = manifest(bundle)["agent"]
        shapes[agent["base_model"], manifest(bundle)["challenge"]].append(tuple(calls))
    for same in shapes.values():
        assert len(set(same)) == len(same)


def test_every_unsafe_request_and_deception_was_noticed_by_somebody() -> None:
    for path in CHALLENGES:
        document = challenge(path.name)
        noticed = {
            finding["trigger"]
            for bundle in BUNDLES
            if manifest(bundle)["challenge"] == path.name
            for verdict in verdicts(bundle)
            for finding in verdict.get("findings", ())
        }
        if document["unsafe_requirements"]:
            assert "flagged_unsafe_requirement" in noticed, path
        assert "identified_deception" in noticed, path
