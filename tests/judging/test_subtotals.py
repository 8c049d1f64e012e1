"""What is kept of an agent's scorecards is what they add up to, and one more costs no more of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bouts.models import Challenge, ChallengeVersion, Match
from judging import narrow, standings, subtotals
from judging.models import Finding, Scorecard, Standing, Subtotal
from judging.sums import Sums, row_on
from tests.judging.cards import make_agent, make_version, record

pytestmark = pytest.mark.django_db

FEW = 4  # matches in a run, so that a dozen make several
COLUMNS = [
    field.attname
    for field in Standing._meta.fields
    if field.attname not in {"id", "updated_at", "band", "awaits_band", "awaits_narrow"}
]

scores = st.one_of(st.none(), st.fractions(-30, 130, max_denominator=97))
cards = st.fixed_dictionaries(
    {
        "value": scores,
        "low": scores,
        "objective": scores,
        "recovery": scores,
        "status": st.sampled_from(Scorecard.Status.values),
        "marks": st.lists(
            st.sampled_from(["flagged", "reduced", "held", "incomplete"]), max_size=1
        ),
    }
)
deeds = st.one_of(
    st.tuples(st.just("score"), st.integers(0, 11), st.integers(0, 2), cards),
    st.tuples(
        st.just("exclude"), st.integers(0, 11), st.sampled_from(["", "withdrawn"]), st.none()
    ),
    st.tuples(st.just("find"), st.integers(0, 11), st.sampled_from(["spoof", "hack"]), st.none()),
)
PLAIN = {"value": Fraction(50), "marks": [], "status": "final"}


def do(
    matches: Sequence[Match], versions: Sequence[ChallengeVersion], deed: tuple[Any, ...]
) -> None:
    """Do one thing to a match of an agent: score it (again), take it off, or find something."""
    kind, at, what, card = deed
    match = Match.objects.get(pk=matches[at].pk)
    if kind == "score":
        record(match.agent, versions[what], match=match.slug, **card)
        return
    live = match.scorecards.live().first()
    if kind == "exclude":
        Match.objects.filter(pk=match.pk).update(exclusion=what)
    elif live is not None:
        Finding.objects.create(
            bundle=live.bundle, key=f"{what} {Finding.objects.count()}", trigger=what,
            status=Finding.Status.APPLIED, points=-5, evidence=[{"artifact": "a", "place": "line:1"}],
        )  # fmt: skip
    standings.refresh(match)


def rows() -> set[tuple[str, ...]]:
    return {tuple(map(str, row)) for row in Standing.objects.default().values_list(*COLUMNS)}


def test_whatever_is_scored_in_whatever_order_the_rows_are_those_made_from_scratch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The matches are there before they are scored, so that runs grow and part in the middle too."""
    monkeypatch.setattr(subtotals, "LONGEST", FEW)
    versions = [make_version("refunds"), make_version("refunds", 2), make_version("ledgers")]
    agent, challenge = make_agent(), Challenge.objects.get(slug="refunds")
    matches = [
        Match.objects.create(slug=f"m-{n}", agent=agent, challenge=challenge) for n in range(12)
    ]

    @given(st.lists(deeds, min_size=4, max_size=24))
    @example([("score", at, 0, PLAIN) for at in (*range(11, -1, -1), *range(12))])
    @example(
        [
            *(("score", at, 0, {**PLAIN, "value": Fraction(at), "objective": Fraction(at)}) for at in range(12)),
            ("find", 4, "hack", None),
            # The lowest and the highest go, one to another version, one off the board.
            ("score", 11, 1, PLAIN), ("exclude", 0, "withdrawn", None), ("score", 5, 2, PLAIN),
            # And all of the first version.
            *(("score", at, 2, PLAIN) for at in range(12)),
        ]
    )  # fmt: skip
    @settings(max_examples=12, deadline=None)
    def holds(done: list[tuple[Any, ...]]) -> None:
        with transaction.atomic():
            for deed in done:
                do(matches, versions, deed)
            kept = rows()
            wholes = {
                row.challenge_version_id: Sums.read(row.sums) for row in Subtotal.objects.wholes()
            }
            assert wholes == {version: scratch(agent.pk, version) for version in wholes}
            longest = max(map(len, Subtotal.objects.values_list("matches", flat=True)), default=0)
            assert longest <= FEW
            narrow.recount()
            assert rows() == kept
            transaction.set_rollback(True)

    holds()


def scratch(agent_id: int, version_id: int) -> Sums:
    cards = subtotals.live_cards(agent_id).filter(challenge_version=version_id)
    return Sums.of(list(cards), subtotals.triggers_of(cards))


@contextmanager
def at_most(queries: int, rows: int) -> Iterator[None]:
    """Fail where a block asks the database more often, or reads more rows, than so many."""
    read: list[int] = []

    def counted(execute: Callable[..., Any], sql: str, *args: Any) -> Any:
        answer = execute(sql, *args)
        read.append(args[-1]["cursor"].rowcount if sql.startswith("SELECT") else 0)
        return answer

    with connection.execute_wrapper(counted):
        yield
    assert len(read) <= queries
    assert sum(read) <= rows


def fill(version: ChallengeVersion, number: int) -> Match:
    """Bring Heron to so many matches on a version, and return one in their middle."""
    heron = make_agent("Heron")
    for at in range(heron.matches.filter(challenge=version.challenge).count(), number):
        record(heron, version, at % 90, objective=Fraction(at % 50))
    on_it = heron.matches.filter(challenge=version.challenge).order_by("pk")
    return on_it[number // 2]


def test_one_more_card_reads_no_more_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row a run, not a card: of 64 matches as of 8 those of one run are read."""
    monkeypatch.setattr(subtotals, "LONGEST", 8)
    version = make_version()
    for number in (8, 64):
        match = fill(version, number)
        runs = Subtotal.objects.exclude(starts_at=None).count()
        assert runs <= number // 4
        with at_most(queries=12, rows=8 + runs + 12):
            standings.refresh(match)


def test_what_a_new_version_changes_is_told_without_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    version = make_version()
    fill(version, 12)
    version.challenge.versions.update(is_live=False)
    with at_most(queries=12, rows=8):
        standings.refresh_overall(version.challenge)
    assert not Standing.objects.default().filter(challenge_version=None).exists()
    assert Standing.objects.default().get().awaits_narrow


def test_rows_from_before_sums_were_kept_are_counted_whole() -> None:
    refunds, ledgers = make_version("refunds"), make_version("ledgers")
    match = fill(refunds, 5)
    fill(ledgers, 4)
    before = rows()
    Subtotal.objects.all().delete()
    standings.refresh(match)
    assert rows() == before
    assert Subtotal.objects.wholes().count() == 2


def test_a_rank_that_a_match_would_have_is_told_by_the_sums() -> None:
    version = make_version()
    match = fill(version, 10)
    record(make_agent("Wren"), version, 5)
    bundle = match.bundles.get(is_live=True)
    with at_most(queries=6, rows=6):
        assert standings.rank_with(bundle, Fraction(5)) == (2, 2)  # as its own 5 has it: 4.5
    assert standings.rank_with(bundle, Fraction(11)) == (1, 2)  # 5.1
    assert standings.rank_with(bundle, None) == (2, 2)  # 40 by nine
    Match.objects.filter(pk=match.pk).update(exclusion="withdrawn")
    bundle.match.refresh_from_db()
    standings.refresh(bundle.match)
    assert standings.rank_with(bundle, Fraction(99)) == (2, 2)  # taken off, it moves nothing


def test_sums_are_read_as_they_were_kept() -> None:
    version = make_version()
    card = record(
        make_agent(), version, Fraction(355, 113), process=Fraction(2, 3), marks=["flagged"]
    )
    sums = Sums.of([card], {card.bundle_id: ["spoof"]})
    assert Sums.read(sums.kept()) == sums
    assert Sums.joined([sums]) == sums
    assert row_on(Sums.joined([sums, sums]))["triggers"] == {"spoof": 2}
