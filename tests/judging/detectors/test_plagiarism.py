"""Fingerprints of added code: what they hold on to, and what the database makes of them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from textwrap import dedent

import pytest

from bouts.models import Bundle
from judging import fingerprints, steps
from judging.judges.detectors import winnowing
from judging.judges.detectors.winnowing import FEWEST, hashes, similarity
from judging.models import Finding, Fingerprint, Step
from judging.scoring.policy import CURRENT
from tests import matches
from tests.judging.detectors.corpus import Level, added
from tests.judging.detectors.finding import case, diff, found, levels

CODE = dedent(inspect.getsource(winnowing.winnowed) + inspect.getsource(winnowing.fingerprints))
OTHER = dedent(inspect.getsource(re.compile) + inspect.getsource(matches.write_bundle))


def marks(text: str, tree: str = "") -> frozenset[int]:
    return hashes(winnowing.fingerprints({"a.py": text}, [("b.py", tree)]))


def renamed(text: str) -> str:
    for name in ("window", "mark", "chosen", "least", "known", "texts", "path", "kept"):
        text = re.sub(rf"\b{name}\b", f"other_{name}", text)
    return text


def test_other_names_comments_and_layout_change_nothing() -> None:
    assert len(marks(CODE)) >= FEWEST
    commented = CODE.replace("\n", "  # a remark\n").replace("    ", "\t")
    assert marks(renamed(commented)) == marks(CODE)


def test_other_code_shares_little() -> None:
    assert similarity(marks(CODE), marks(OTHER)) < 0.2


def test_what_the_starting_tree_has_is_left_out() -> None:
    assert marks(CODE, tree=CODE) == frozenset()
    assert marks(CODE + OTHER, tree=CODE) <= marks(CODE + OTHER)


def test_too_little_code_is_like_no_other() -> None:
    few = frozenset(range(FEWEST - 1))
    assert similarity(few, few) == 0
    tiny = case(diff(added("a.py", "x = 1\n")), others=(added("a.py", "x = 1\n"),))
    assert levels(tiny, "plagiarism") == []


def test_a_copy_is_proposed_and_the_note_names_nobody() -> None:
    one = case(diff(added("b.py", renamed(CODE))), others=(added("a.py", CODE),))
    assert levels(one, "plagiarism") == [Level.HIGH]
    (finding,) = found(one, "plagiarism")
    assert "other-0" not in finding.note
    assert all(item["excerpt"].startswith("+") for item in finding.evidence)


# In the database


def fought(folder: Path, name: str, code: str, hour: int, team: str = "northbank") -> Bundle:
    """Upload a match and judge it; ``hour`` is when it was fought."""
    return matches.judge(
        folder / name,
        match=name,
        agent={"team": team, "name": name},
        diff=added("a.py", code),
        started_at=f"2026-03-12T{hour:02}:00:00Z",
        finished_at=f"2026-03-12T{hour:02}:30:00Z",
    )


def stolen(bundle: Bundle) -> list[Finding]:
    return list(bundle.findings.filter(trigger="plagiarism", is_live=True))


@pytest.mark.django_db
def test_the_match_that_was_fought_earlier_is_the_source(tmp_path: Path) -> None:
    first = fought(tmp_path, "first", CODE, hour=10)
    second = fought(tmp_path, "second", renamed(CODE), hour=11, team="halyard")
    fought(tmp_path, "third", OTHER, hour=12, team="orrery")
    assert stolen(first) == []
    (finding,) = stolen(second)
    assert (finding.status, finding.confidence, finding.source) == ("proposed", "high", "own")
    (peer,) = fingerprints.peers(second)
    assert (peer.match, peer.is_earlier, peer.similarity) == ("first", True, 1.0)


@pytest.mark.django_db
def test_a_source_that_comes_in_later_has_the_copy_looked_at_again(tmp_path: Path) -> None:
    copy = fought(tmp_path, "copy", renamed(CODE), hour=11)
    assert stolen(copy) == []
    fought(tmp_path, "source", CODE, hour=10, team="halyard")
    waiting = copy.steps.filter(state=Step.State.WAITING).values_list("name", flat=True)
    assert set(waiting) == {"integrity", "scorecard"}
    steps.run_steps(copy)
    assert len(stolen(copy)) == 1
    assert "held" in copy.match.scorecards.get(is_live=True).marks
    fingerprints.reopen_copies(fingerprints.peers(copy), CURRENT)
    assert not copy.steps.filter(state=Step.State.WAITING).exists()


@pytest.mark.django_db
def test_a_hash_that_many_have_is_put_down_to_those_that_came_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprints, "MOST_OF_A_HASH", 2)
    names = ("first", "second", "third", "fourth")
    for hour, name in enumerate(names, start=10):
        last = fought(tmp_path, name, CODE, hour=hour, team=f"team-{name}")
    assert [peer.match for peer in fingerprints.peers(last)] == ["first", "second"]


def test_a_huge_diff_is_read_no_further_than_its_fingerprints_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(winnowing, "MOST_TOKENS", 60)
    (marks,) = winnowing.fingerprints({"a.py": CODE * 50}).values()
    assert 0 < len(marks) < 60
    assert max(mark.last for mark in marks) < CODE.count("\n")


def test_a_comment_that_nobody_closes_hides_nothing() -> None:
    (open_,) = winnowing.fingerprints({"a.c": "/* x\n" + CODE}).values()
    (plain,) = winnowing.fingerprints({"a.c": CODE}).values()
    assert {mark.hash for mark in plain} <= {mark.hash for mark in open_}


@pytest.mark.django_db
def test_an_agent_does_not_steal_from_itself(tmp_path: Path) -> None:
    fought(tmp_path, "first", CODE, hour=10)
    again = matches.judge(
        tmp_path / "again",
        match="again",
        agent={"name": "first", "version": "9"},
        diff=added("a.py", CODE),
        finished_at="2026-03-12T15:00:00Z",
    )
    assert stolen(again) == []


@pytest.mark.django_db
def test_comparing_is_one_query_however_many_there_are(
    tmp_path: Path, django_assert_num_queries: object
) -> None:
    bundle = fought(tmp_path, "first", CODE, hour=10)
    bundle.match.agent  # noqa: B018  known to whoever asks
    for number in range(3):
        fought(tmp_path, f"m-{number}", CODE, hour=11 + number, team="halyard")
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert len(fingerprints.peers(bundle)) == 3
    assert Fingerprint.objects.count() == 4
