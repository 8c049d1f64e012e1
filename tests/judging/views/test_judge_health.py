"""How judges do, counted by hand beside what the page tells ops."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from fractions import Fraction
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from bouts.models import ChallengeVersion, User
from judging.actions import decide_finding
from judging.models import Verdict
from tests.judging.cards import make_agent, make_version, record
from tests.matches import found, judge, panel

pytestmark = pytest.mark.django_db
SEATS = ("anthropic", "openai", "google")


@pytest.fixture
def ops(operator: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(operator)


def table(client: Client, name: str) -> list[list[str]]:
    """Return the cells of a table of the page, row by row."""
    page = client.get("/judges/").content.decode()
    body = page.partition(f'aria-label="Table of {name}"')[2].partition("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body.partition("<tbody>")[2], re.DOTALL)
    cells = (re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in rows)
    return [
        [" ".join(unescape(re.sub("<[^>]+>", " ", cell)).split()) for cell in row] for row in cells
    ]


def vote(
    scores: Mapping[str, int | None],
    *,
    branch: str = "consensus",
    discarded: str | None = None,
    base_model: str = "quill-4",
    month: int = 3,
    ruling: int | None = None,
    model: str = "large-1",
) -> None:
    """Record a match whose panel voted so; a vote of None is a refusal."""
    strategy = {"branch": branch, "discarded": discarded}
    agent = make_agent(f"Of {base_model}", model=base_model)
    version = ChallengeVersion.objects.first() or make_version()
    card = record(agent, version, 50, breakdown={"judges": {"strategy": strategy}})
    for seat, score in {**scores, "ruling": ruling}.items():
        if seat == "ruling" and score is None:
            continue
        Verdict.objects.create(
            bundle=card.bundle, judge="strategy", seat=seat, source="uploaded",
            model="" if seat == "ruling" else f"{seat}-{model}",
            state="scored" if score is not None else "refused",
            score=None if score is None else Fraction(score),
            answered_at=datetime(2026, month, 9, tzinfo=UTC),
        )  # fmt: skip


def test_only_ops_and_admins_read_it(
    ops: Client, competitor: User, lead: User, admin: User, client_of: Callable[[User], Client]
) -> None:
    assert "No panel has voted yet." in ops.get("/judges/").content.decode()
    assert client_of(admin).get("/judges/").status_code == 200
    assert client_of(competitor).get("/judges/").status_code == 403
    assert client_of(lead).get("/judges/").status_code == 403
    assert Client().get("/judges/").status_code == 302


def test_what_became_of_panels_is_told_in_shares(tmp_path: Path, ops: Client) -> None:
    for name, votes in (("m-1", (70, 75, 80)), ("m-2", (20, 75, 80)), ("m-3", (70, 75, 80))):
        judge(tmp_path / name, match=name, verdicts=panel(*votes))
    assert "One vote discarded</dt><dd>33.3%</dd>" in ops.get("/judges/").content.decode()


def test_a_vote_is_held_against_its_panel_and_against_what_reviewers_ruled(ops: Client) -> None:
    vote(dict(zip(SEATS, (80, 70, 66), strict=True)))
    vote(
        dict(zip(SEATS, (95, 60, 64), strict=True)),
        branch="outlier_high",
        discarded="anthropic",
        ruling=70,
    )
    vote({"anthropic": 40, "openai": 50, "google": None}, branch="pair_agree", model="large-2")
    rows = {(row[0], row[1]): row[2:] for row in table(ops, "votes")}
    assert rows["anthropic", "anthropic-large-1"] == [
        # (80 − 70 + 95 − 64) / 2 above the median, either way the same; 95 lies 25 off the ruling.
        "2", "–", "87.50", "+20.50", "20.50", "1", "1", "0", "+25.00",
    ]  # fmt: skip
    assert rows["openai", "openai-large-1"] == [
        "2", "–", "65.00", "−2.00", "2.00", "0", "1", "1", "−10.00",
    ]  # fmt: skip
    # Another version of a model is another row; a seat that refused has no score, and no zero.
    assert rows["anthropic", "anthropic-large-2"][:5] == ["1", "–", "40.00", "−5.00", "5.00"]
    assert rows["google", "google-large-2"] == [
        "0", "refused 1", "n/a", "n/a", "n/a", "0", "0", "0", "n/a",
    ]  # fmt: skip


def test_a_seat_that_favours_a_house_or_drifts_is_seen_from_ten_panels_on(ops: Client) -> None:
    for number in range(10):
        vote(dict(zip(SEATS, (80 + number, 70, 70), strict=True)), base_model="claude-5")
    for number in range(9):
        scores = dict(zip(SEATS, (50, 50, 40 + number), strict=True))
        vote(scores, base_model="quill-4", month=4, discarded="google", branch="outlier_low")
    assert table(ops, "leans by base model") == [
        ["claude-5", "10", "+14.50 0 discarded", "0.00 0 discarded", "0.00 0 discarded"],
        ["quill-4", "9", "n/a 0 discarded", "n/a 0 discarded", "n/a 9 discarded"],
    ]
    assert [row[:3] for row in table(ops, "leans by month")] == [
        ["Apr 2026", "9", "n/a 0 discarded"],
        ["Mar 2026", "10", "+14.50 0 discarded"],
    ]
    (agreement,) = table(ops, "agreement")
    assert agreement[:3] == ["19", "0", "57"]
    assert agreement[3].endswith("indicative")


def test_seats_that_always_say_the_same_agree_and_vary_in_nothing(ops: Client) -> None:
    for _ in range(10):
        vote(dict.fromkeys(SEATS, 70))
    (agreement,) = table(ops, "agreement")
    assert agreement[3:] == ["1.0000 indicative", "undefined", "undefined", "undefined", "0.00"]


def test_findings_are_counted_by_what_became_of_them(
    ops: Client, lead: User, tmp_path: Path
) -> None:
    for name, status in (("m-1", "applied"), ("m-2", "dismissed"), ("m-3", "")):
        bundle = judge(
            tmp_path / name, match=name, findings=[found("reward_hacking", "final.diff", "diff:refunds.py:1")]
        )  # fmt: skip
        if status:
            key = bundle.findings.get(trigger="reward_hacking").key
            decide_finding(bundle, key, status=status, by=lead, reason="So it is.")
    assert ["Reward hacking", "uploaded", "0", "1", "1", "1", "50.0%"] in table(ops, "findings")


def test_ten_times_the_panels_need_no_more_queries(
    ops: Client, at_most: Callable[[int], AbstractContextManager[None]]
) -> None:
    vote(dict.fromkeys(SEATS, 70))
    with at_most(12):
        ops.get("/judges/")
    for number in range(10):
        vote(dict.fromkeys(SEATS, 70), base_model=f"m-{number}", model=f"v-{number}")
    with at_most(12):
        ops.get("/judges/")
