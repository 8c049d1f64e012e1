"""A place has one spelling, and hostile names survive it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.evidence import (
    Anchor,
    BadPlace,
    DiffPlace,
    EventPlace,
    JsonPlace,
    LinePlace,
    LinesPlace,
    TestPlace,
    parse_place,
)
from bouts.rules import Suite

lines = st.integers(1, 10**9)
# PostgreSQL stores no NUL, so a place never holds one (`parse_place` refuses it).
characters = st.characters(exclude_characters="\0")
anything = st.text(characters, min_size=1, max_size=80)
places = st.one_of(
    st.builds(TestPlace, st.sampled_from(Suite), anything),
    st.builds(EventPlace, st.integers(0, 10**9)),
    st.builds(LinePlace, lines),
    st.tuples(lines, lines).map(lambda ends: LinesPlace(min(ends), max(ends))),
    st.builds(DiffPlace, anything, lines, st.booleans()),
    st.lists(st.text(characters, max_size=10)).map(
        lambda keys: JsonPlace(
            "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)
        )
    ),
)


@given(places)
def test_what_is_written_reads_back_as_the_same_place(place: object) -> None:
    assert parse_place(str(place)) == place


@given(st.one_of(st.text(max_size=40), places.map(str)), st.text(max_size=3))
def test_what_can_be_read_has_exactly_one_spelling(text: str, suffix: str) -> None:
    for candidate in (text, text + suffix):
        try:
            place = parse_place(candidate)
        except BadPlace:
            continue
        assert str(place) == candidate


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("test:hidden/a::b[x/y: z]", TestPlace(Suite.HIDDEN, "a::b[x/y: z]")),
        ("event:0", EventPlace(0)),
        ("line:12", LinePlace(12)),
        ("lines:3-9", LinesPlace(3, 9)),
        ("diff:a b:c/d.py:7", DiffPlace("a b:c/d.py", 7)),
        ("diff:x:-7", DiffPlace("x", 7, old=True)),
        ("json:", JsonPlace("")),
        ("json:/runs/0/a~1b~0", JsonPlace("/runs/0/a~1b~0")),
    ],
)
def test_each_form_is_read(text: str, place: object) -> None:
    assert Anchor("x", text).where == place


def test_a_json_pointer_gives_its_keys_unescaped() -> None:
    assert JsonPlace("/a~1b/~01/").tokens == ("a/b", "~1", "")
    assert JsonPlace("").tokens == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "line",
        "line:0",
        "line:01",
        "line:+1",
        "line:١",
        "line:99999999999",
        "line:1\n",
        "lines:9-3",
        "lines:3",
        "event:-1",
        "test:visible/x",
        "test:hidden/",
        "diff:x",
        "diff::3",
        "diff:x:--3",
        "diff:x:0",
        "json:a",
        "json:/a~2",
        "page:3",
        "x" * 5_000,
    ],
)
def test_a_malformed_place_says_how_it_is_written(text: str) -> None:
    with pytest.raises(BadPlace) as bad:
        parse_place(text)
    assert str(bad.value)[0].isupper() or str(bad.value).startswith(text.partition(":")[0])
