"""A query and an index to results."""

from typing import NamedTuple

from finder.query import parse
from finder.rank import score
from finder.snippet import snippet


class Result(NamedTuple):
    number: str
    score: float
    snippet: str


def matching(index, tree):
    kind = tree[0]
    if kind == "word":
        return index.tickets_with(tree[1])
    if kind == "phrase":
        return index.tickets_with_phrase(tree[1])
    if kind == "not":
        return set(index.texts) - matching(index, tree[1])
    left, right = matching(index, tree[1]), matching(index, tree[2])
    return left & right if kind == "and" else left | right


def wanted_words(tree):
    """The words that a result may have; what stands under NOT is not wanted."""
    kind = tree[0]
    if kind == "word":
        return {tree[1]}
    if kind == "phrase":
        return set(tree[1])
    if kind == "not":
        return set()
    return wanted_words(tree[1]) | wanted_words(tree[2])


def search(index, query, limit=10):
    """The best `limit` results for a query."""
    tree = parse(query)
    looked_for = wanted_words(tree)
    scored = [(score(index, number, looked_for), number) for number in matching(index, tree)]
    scored.sort(key=lambda pair: -pair[0])
    return [
        Result(number, points, snippet(index.texts[number], looked_for))
        for points, number in scored[:limit]
    ]
