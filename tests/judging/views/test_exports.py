"""A file holds what is on the screen it was saved from: the same rows, figures and no more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from bouts.models import Bundle, Match, User
from judging import narrow
from tests import matches
from tests.judging.views.making import rich
from tests.judging.views.test_compare import file_of, page_of, text_of
from tests.matches import judge

ClientOf = Callable[[User], Client]
JUDGES = ("objective", "process", "strategy", "recovery")
WORSE = {**matches.STATIC, "tests.test_a::test_twice": False}
TWO_JUDGES = {"judges": ["objective", "strategy", "integrity"], "family": "money"}


@pytest.fixture
def season(db: None, tmp_path: Path) -> None:
    """Ranked matches, a provisional one, a withdrawn one, one that is not complete, and a pending one."""
    judge(tmp_path / "1", match="m-1", challenge=TWO_JUDGES, bout="Autumn")
    judge(tmp_path / "2", match="m-2", static=[WORSE], challenge=TWO_JUDGES)
    judge(
        tmp_path / "3", match="m-3", challenge=TWO_JUDGES, verdicts=matches.panel(20, 50, 90),
        agent={"team": "halyard", "name": "Gull", "base_model": "sable-2"},
    )  # fmt: skip
    judge(
        tmp_path / "4",
        match="m-4",
        agent={"name": "Wren"},
        challenge={"slug": "ledgers", "title": "Ledgers"},
    )
    matches.store(tmp_path / "5", match="m-5", agent={"name": "Lark"}, challenge=TWO_JUDGES)
    Match.objects.filter(slug="m-2").update(exclusion="withdrawn", exclusion_reason="asked to")
    Bundle.objects.update(started_at=timezone.now() - timedelta(days=3))
    narrow.recount()


def tables(html: str) -> list[list[dict[str, str]]]:
    """Return the tables of a page, each a list of rows: by the head of a column the cell's text."""
    found = []
    for table in re.findall(r"<table.*?</table>", html, re.DOTALL):
        head, _, body = table.partition("<tbody>")
        names = [text_of(cell) for cell in re.findall(r"<th[^>]*>(.*?)</th>", head, re.DOTALL)]
        rows = []
        for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL):
            cells: list[str] = []
            for span, cell in re.findall(
                r'<t[dh](?:[^>]*colspan="(\d+)")?[^>]*>(.*?)</t[dh]>', row, re.DOTALL
            ):
                cells += [text_of(cell)] * int(span or 1)
            rows.append(dict(zip(names, cells, strict=True)))
        found.append(rows)
    return found


def figure(cell: str) -> str:
    """Return the number that a cell begins with, as a file writes it; empty where it has none."""
    found = re.match(r"[−+]?[\d.]+", cell)
    return found[0].replace("−", "-").replace("+", "") if found else ""


def saved_from(client: Client, page: str) -> list[dict[str, str]]:
    """Follow a page to its CSV, and see that its JSON says the same; return the rows."""
    csv, json_ = (re.search(rf'href="([^"]*\.{kind}[^"]*)"', page) for kind in ("csv", "json"))
    assert csv and json_
    rows = file_of(client, unescape(csv[1]))
    whole = json.loads(client.get(unescape(json_[1])).getvalue())
    assert [*whole["columns"], "policy", "state"] == list(rows[0])
    assert len(whole["rows"]) == len(rows)
    for one, other in zip(whole["rows"], rows, strict=True):
        texts = {name: "" if value is None else value for name, value in one.items()}
        assert {name: other[name] for name in texts} == {
            name: ";".join(value) if isinstance(value, list) else str(value)
            for name, value in texts.items()
        }
        assert (other["policy"], other["state"]) == (whole["policy"], whole["state"])
    return rows


FIGURES = {"Total": "total", **{name.capitalize(): name for name in JUDGES}}
BOARDS = (
    "/leaderboard/",
    "/leaderboard/refunds/",
    "/leaderboard/refunds/?window=30",
    "/leaderboard/?family=money",
    "/leaderboard/?team=northbank&order=objective",
)


@pytest.mark.parametrize("address", BOARDS)
def test_the_file_of_a_board_has_its_rows(
    season: None, operator: User, client_of: ClientOf, address: str
) -> None:
    client = client_of(operator)
    page = page_of(client, address)
    saved = saved_from(client, page)
    shown = tables(page)[0]
    assert len(shown) == len(saved) > 0
    for row, kept in zip(shown, saved, strict=True):
        cells = {name.rstrip(" ↑↓"): cell for name, cell in row.items()}
        assert cells["Agent"].startswith(f"{kept['agent']} {kept['version']} ")
        assert cells["Base model"] == kept["base_model"]
        assert figure(cells["Rank"]) == kept["rank"]
        assert figure(cells["Matches"]) == kept["ranked_matches"]
        assert kept["reason"] in " ".join(cells.values())
        if not kept["total"]:
            assert cells["Total"] == "n/a"
            continue
        for title, column in (FIGURES | {"Integrity": "integrity"}).items():
            assert figure(cells[title]) == kept[column], column


@pytest.mark.parametrize(
    "query", ["", "?team=halyard", "?status=withdrawn", "?bout=Autumn", "?q=m-"]
)
def test_the_file_of_the_matches_has_its_rows(
    season: None, rival: User, client_of: ClientOf, query: str
) -> None:
    client = client_of(rival)
    page = page_of(client, f"/matches/{query}")
    saved = saved_from(client, page)
    (shown,) = tables(page)
    assert len(shown) == len(saved) > 0
    for row, kept in zip(shown, saved, strict=True):
        assert row["Match"] == " ".join(filter(None, (kept["match"], kept["bout"])))
        assert row["Agent"].startswith(f"{kept['agent']} {kept['version']} ")
        assert row["Base model"] == kept["base_model"]
        assert figure(row["Total"]) == kept["total"]
        status = "Judging" if kept["reason"] == "judging" else kept["status"].capitalize()
        assert row["Status"].startswith(status)
        assert kept["exclusion"].capitalize() in row["Status"]


def test_the_file_of_an_agent_has_its_matches(
    season: None, rival: User, client_of: ClientOf
) -> None:
    client = client_of(rival)
    page = page_of(client, f"/agents/{Match.objects.get(slug='m-1').agent_id}/")
    saved = saved_from(client, page)
    shown = tables(page)[-1]
    assert [row["Match"] for row in shown] == [row["match"] for row in saved] == ["m-2", "m-1"]
    for row, kept in zip(shown, saved, strict=True):
        for title, column in (FIGURES | {"Integrity": "integrity"}).items():
            assert figure(row[title]) == kept[column], column
        assert kept["exclusion"].capitalize() in row["Status"]


def test_the_file_of_a_comparison_has_its_figures(
    season: None, operator: User, client_of: ClientOf
) -> None:
    client = client_of(operator)
    page = page_of(client, "/compare/?m=m-1&m=m-2&m=m-3")
    saved = saved_from(client, page)
    assert saved
    text = text_of(page)
    for kept in saved:
        for value in kept.values():
            if re.fullmatch(r"\d+\.\d\d", value or ""):
                assert value in text, kept


@pytest.mark.parametrize("look", ["team", "others"])
def test_what_is_saved_while_looking_as_another_is_what_they_would_save(
    tmp_path: Path, competitor: User, rival: User, operator: User, client_of: ClientOf, look: str
) -> None:
    """JSON of a card and of a comparison, CSV of one: through the same eyes as the page."""
    for number in (1, 2):
        rich(tmp_path / str(number), match=f"m-{number}")
    they, staff = client_of({"team": competitor, "others": rival}[look]), client_of(operator)
    page = page_of(staff, f"/matches/m-1/?as={look}")
    link = re.search(r'href="(/api/matches/m-1/breakdown/[^"]*)"', page)
    assert link
    assert f"as={look}" in link[1]
    address = unescape(link[1])
    seen, theirs = staff.get(address).json(), they.get(address.partition("&")[0]).json()
    assert seen == theirs
    assert seen != staff.get(address.partition("&")[0]).json()
    for kind in ("csv", "json"):
        files = [
            client.get(f"/compare.{kind}?m=m-1&m=m-2{more}").getvalue()
            for client, more in ((staff, f"&as={look}"), (they, ""), (staff, ""))
        ]
        assert files[0] == files[1]
        # Of a comparison the team may read all that staff may; others may not.
        assert (files[1] == files[2]) is (look == "team")
