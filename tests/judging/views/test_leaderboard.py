"""The leaderboard page: what it shows, to whom, and in which order; the same as everywhere else."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from bouts.models import Agent, User
from judging import steps
from judging.models import Scorecard
from tests import matches
from tests.judging.cards import make_agent, make_version, record
from tests.matches import judge, panel

pytestmark = pytest.mark.django_db
SignedIn = Callable[[User], Client]
BOARD = "/leaderboard/refunds/"
WORSE = {**matches.STATIC, "tests.test_a::test_twice": False}


@pytest.fixture
def ops(client_of: SignedIn, operator: User) -> Client:
    return client_of(operator)


def page_of(client: Client, address: str = BOARD, **headers: str) -> str:
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def rows_of(page: str) -> list[str]:
    """Return the text of each row of the board."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in rows]


# Who sees it


def test_a_stranger_is_asked_to_sign_in() -> None:
    assert Client().get("/leaderboard/").status_code == 302


def test_everybody_else_sees_it(
    client_of: SignedIn, competitor: User, reviewer: User, lead: User, admin: User
) -> None:
    record(make_agent(), make_version(), 50)
    for user in (competitor, reviewer, lead, admin):
        assert rows_of(page_of(client_of(user)))[0].startswith("1 Heron 1 Northbank 50.00"), user


def test_a_challenge_or_version_that_is_not_there_is_404(ops: Client) -> None:
    make_version()
    for address in ("/leaderboard/nothing/", f"{BOARD}?version=7", f"{BOARD}?version=x"):
        assert ops.get(address).status_code == 404


def test_the_rows_of_the_own_team_are_marked(client_of: SignedIn, competitor: User) -> None:
    version = make_version()
    record(make_agent("Heron"), version, 50)
    record(make_agent("Wren", "halyard"), version, 60)
    page = page_of(client_of(competitor))
    marked = re.findall(r'<tr class="[^"]*is-me[^"]*">.*?</tr>', page, re.DOTALL)
    assert len(marked) == 1
    assert "Heron" in marked[0]
    assert "your team" in page


def test_who_may_still_score_a_match_blind_does_not_find_its_agent(
    client_of: SignedIn, reviewer: User, operator: User, competitor: User, tmp_path: Path
) -> None:
    challenge = {"judges": ["objective", "strategy", "integrity"]}
    judge(tmp_path / "1", match="m-1", verdicts=panel(60, 76, 92), challenge=challenge)
    judge(tmp_path / "2", match="m-2", agent={"name": "Wren"}, static=[WORSE], challenge=challenge)
    everybody = rows_of(page_of(client_of(operator)))
    assert [row.split()[:2] for row in everybody] == [["1", "Heron"], ["2", "Wren"]]

    for address in (BOARD, "/leaderboard/"):
        page = page_of(client_of(reviewer), address)
        assert [row.split()[:2] for row in rows_of(page)] == [["1", "Wren"]]
        assert "Heron" not in page
        assert "Not all agents are here." in page
    assert "1 agent; 1 has a rank." in page_of(client_of(reviewer))
    assert "Not all agents are here." not in page_of(client_of(competitor))


# What it shows


def test_without_matches_it_says_so(ops: Client) -> None:
    make_version()
    for address in (BOARD, "/leaderboard/"):
        assert "No match was scored yet" in page_of(ops, address)


def test_a_filter_that_nothing_fits_can_be_cleared(ops: Client) -> None:
    record(make_agent(), make_version(), 50)
    page = page_of(ops, f"{BOARD}?q=nobody")
    assert "No agent fits these filters" in page
    assert f'href="{BOARD}"' in page


def test_a_provisional_row_shows_how_far_it_can_move(ops: Client) -> None:
    record(
        make_agent(),
        make_version(),
        70,
        status=Scorecard.Status.PROVISIONAL,
        low=Fraction("66.05"),
        high=Fraction("71.611"),
    )
    page = page_of(ops)
    assert "66.05 to 71.61" in rows_of(page)[0]
    assert '<span class="pencil">70.00</span>' in page
    assert "Provisional" in rows_of(page)[0]


def test_a_row_tells_its_figures_status_and_marks(ops: Client) -> None:
    judges = {"objective": 84, "process": None, "strategy": 71, "recovery": 69}
    record(
        make_agent(), make_version(), Fraction("72.5"), adjustment=-5,
        marks=["reduced", "flagged"], **judges,
    )  # fmt: skip
    (row,) = rows_of(page_of(ops))
    assert row == (
        "1 Heron 1 Northbank 72.50 84.00 n/a 71.00 69.00 −5.00 Final Flagged Reduced quill-4 1"
    )


def test_a_row_without_a_rank_is_last_and_says_why(ops: Client) -> None:
    version = make_version()
    record(make_agent("Held"), version, 99, marks=["held"])
    record(make_agent("Low"), version, 1)
    rows = rows_of(page_of(ops))
    assert rows[0].startswith("1 Low")
    assert rows[1] == (
        "no rank – Held 1 Northbank n/a One match, held while an integrity case is open"
        " Final Held quill-4 0 of 1"
    )


def test_the_columns_can_be_sorted_by_links_that_keep_the_filters(ops: Client) -> None:
    version = make_version()
    record(make_agent("A"), version, 10, objective=90)
    record(make_agent("B"), version, 20, objective=80)
    page = page_of(ops, f"{BOARD}?team=northbank&page=1")
    assert 'aria-sort="descending"><a href="?team=northbank&amp;order=total">Total' in page
    assert 'href="?team=northbank&amp;order=-objective"' in page
    sorted_page = page_of(ops, f"{BOARD}?team=northbank&order=-objective")
    assert [row.split()[:2] for row in rows_of(sorted_page)] == [["2", "A"], ["1", "B"]]
    assert "Agents by objective, highest first" in sorted_page


def test_what_makes_no_sense_in_the_address_is_left_out(ops: Client) -> None:
    record(make_agent(), make_version(), 50)
    for query in ("order=secret", "order=-", "status=odd", "page=x", "page=999"):
        assert len(rows_of(page_of(ops, f"{BOARD}?{query}"))) == 1, query


def test_a_filter_fetches_the_board_alone(ops: Client) -> None:
    record(make_agent(), make_version(), 50)
    part = page_of(ops, **{"HX-Request": "true"})
    assert part.lstrip().startswith('<div class="stack" id="board">')
    restored = page_of(ops, **{"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert "<!doctype html>" in restored


def test_each_version_has_its_board(ops: Client) -> None:
    first = make_version()
    record(make_agent("Old"), first, 50)
    second = make_version(number=2)
    record(make_agent("New"), second, 60)
    page = page_of(ops)
    assert rows_of(page)[0].startswith("1 New")
    assert 'href="?version=1"' in page
    old = page_of(ops, f"{BOARD}?version=1")
    assert rows_of(old)[0].startswith("1 Old")
    assert "Version 1, no longer the current one" in old
    assert '<input type="hidden" name="version" value="1">' in old


def test_names_are_text_and_nothing_else(ops: Client) -> None:
    attack = '"><img src=x onerror=alert(1)>\u202e'
    record(make_agent(attack, model=attack), make_version(), 50)
    page = page_of(ops)
    assert "<img" not in page
    assert "\u202e" not in "".join(re.split(r"<[^>]+>", page))


# The same everywhere


def test_order_and_text_are_the_same_on_every_page_and_over_the_api(
    ops: Client, tmp_path: Path
) -> None:
    # Objective 100 at 45 of 65 parts, Strategy so that the totals are 89.994 and 89.996.
    judges = {"judges": ["objective", "strategy", "integrity"]}
    for name, score in (("low", 67.4805), ("high", 67.487)):
        judge(
            tmp_path / name, match=name, agent={"name": name}, challenge=judges,
            verdicts=panel(score, score, score), hidden=[matches.HIDDEN],
        )  # fmt: skip
    assert {card.match.slug: card.value for card in Scorecard.objects.live()} == {
        "low": Fraction("89.994"),
        "high": Fraction("89.996"),
    }
    rows = rows_of(page_of(ops))
    assert [" ".join(row.split()[:5]) for row in rows] == [
        "1 high 2.3 Northbank 90.00",
        "2 low 2.3 Northbank 89.99",
    ]
    api = ops.get("/api/leaderboard/refunds/").json()["results"]
    assert [(row["rank"], row["agent"], row["total"]) for row in api] == [
        (1, "high", "90.00"),
        (2, "low", "89.99"),
    ]
    file = file_of(ops, "/leaderboard/refunds.csv")
    assert [(row["rank"], row["agent"], row["total"]) for row in file] == [
        ("1", "high", "90.00"),
        ("2", "low", "89.99"),
    ]
    for name, total in (("low", "89.99"), ("high", "90.00")):
        assert total in page_of(ops, f"/matches/{name}/")
        assert f">{total}<" in page_of(ops, f"/matches/?q={name}")
        assert ops.get(f"/api/matches/{name}/").json()["total"] == total
        assert ops.get(f"/api/matches/{name}/breakdown/").json()["total"] == total


def file_of(client: Client, address: str) -> list[dict[str, str]]:
    body = b"".join(client.get(address).streaming_content).decode()
    return list(csv.DictReader(io.StringIO(body)))


def test_a_file_is_final_only_where_nothing_on_the_board_is_open(ops: Client) -> None:
    version = make_version()
    record(make_agent("A"), version, 50)
    assert {row["state"] for row in file_of(ops, "/leaderboard/refunds.csv")} == {"final"}
    record(make_agent("B"), version, 40, status=Scorecard.Status.PROVISIONAL, marks=["held"])
    rows = file_of(ops, "/leaderboard/refunds.csv")
    assert {(row["state"], row["policy"]) for row in rows} == {("provisional", "2026.1")}
    assert rows[-1]["rank"] == ""
    whole = json.loads(b"".join(ops.get("/leaderboard/refunds.json").streaming_content))
    assert (whole["state"], whole["challenge_version"]) == ("provisional", 1)
    assert whole["rows"][0]["agent"] == "A"


def test_no_file_is_final_while_a_match_that_it_tells_of_is_judged(
    ops: Client, tmp_path: Path
) -> None:
    """Neither while a first score is awaited nor while a new bundle may change the one there is."""
    for name in ("m-0", "m-1"):
        judge(tmp_path / name, match=name, verdicts=panel(70, 75, 80))
    of_all = ["/leaderboard/refunds.csv", "/leaderboard.csv", "/matches.csv"]
    of_heron = [f"/agents/{Agent.objects.get().pk}.csv", "/compare.csv?m=m-0&m=m-1"]

    def provisional() -> list[str]:
        states = {at: {row["state"] for row in file_of(ops, at)} for at in (*of_all, *of_heron)}
        assert set.union(*states.values()) <= {"final", "provisional"}
        return [at for at, state in states.items() if state == {"provisional"}]

    assert provisional() == []
    wren = {"team": "halyard", "name": "Wren"}
    bundle = matches.store(tmp_path / "first", match="m-2", agent=wren)
    assert provisional() == of_all
    steps.run_steps(bundle)
    assert provisional() == []
    bundle = matches.store(
        tmp_path / "again", match="m-1", hidden=[dict.fromkeys(matches.HIDDEN, False)]
    )
    assert provisional() == [*of_all, *of_heron]
    steps.run_steps(bundle)
    assert provisional() == []


def test_a_file_has_the_filters_of_its_page_and_every_row_in_few_queries(
    ops: Client, at_most: Callable[[int], AbstractContextManager[None]]
) -> None:
    version = make_version()
    for number in range(70):  # more than a page
        record(make_agent(f"A{number}", f"t{number % 2}"), version, number)
    assert 'href="/leaderboard/refunds.csv?team=t1">' in page_of(ops, f"{BOARD}?team=t1&page=1")
    with at_most(12):
        rows = file_of(ops, "/leaderboard/refunds.csv?team=t1")
    assert [row["agent"] for row in rows] == [f"A{n}" for n in range(69, 0, -2)]


def test_a_cell_that_a_spreadsheet_would_run_is_text(ops: Client) -> None:
    record(make_agent("=1+1"), make_version(), 50, adjustment=-5)
    (row,) = file_of(ops, "/leaderboard/refunds.csv")
    assert row["agent"] == "'=1+1"
    assert row["integrity"] == "-5.00"


def test_open_cases_say_between_which_ranks_they_could_move_a_row(ops: Client) -> None:
    version = make_version()
    record(make_agent("A"), version, 80)
    record(
        make_agent("B"), version, 70, status=Scorecard.Status.PROVISIONAL, low=Fraction(50),
        high=Fraction(90),
    )  # fmt: skip
    record(make_agent("C"), version, 60)
    assert "open cases could move this row between 1 and 3" in rows_of(page_of(ops))[1]
    row = ops.get("/api/leaderboard/refunds/").json()["results"][1]
    assert (row["best_rank"], row["worst_rank"]) == (1, 3)


def test_how_far_apart_agents_on_one_model_are_is_told_by_judge(ops: Client) -> None:
    version = make_version()
    record(make_agent("A"), version, 80, objective=90, process=70)
    record(make_agent("B"), version, 60, objective=85, process=20)
    record(make_agent("C", model="sable-2"), version, 10)
    section = page_of(ops).partition('id="within"')[2]
    (row,) = rows_of(section)
    assert row.startswith("quill-4 2 20.00 60.00 to 80.00 5.00 85.00 to 90.00 50.00 20.00 to 70.00")


def test_ten_times_the_rows_need_no_more_queries(
    ops: Client, at_most: Callable[[int], AbstractContextManager[None]]
) -> None:
    version = make_version()
    record(make_agent("A"), version, 50)
    with at_most(18):
        page_of(ops)
    for number in range(30):
        record(make_agent(f"A{number}", f"t{number % 5}"), version, number)
    with at_most(18):
        assert len(rows_of(page_of(ops))) == 31
