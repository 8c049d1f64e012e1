"""How long one search over 1,000 tickets takes."""

import random

import pytest

from finder import Index, search

VOCABULARY = [f"{a}{b}" for a in ("re", "un", "pre", "in", "out") for b in ("fund", "card", "load", "page", "log", "sign")]


@pytest.fixture(scope="module")
def big_index():
    chance = random.Random(7)
    index = Index()
    for number in range(1_000):
        index.add(f"T-{number:04}", " ".join(chance.choices(VOCABULARY, k=30)))
    return index


def test_search(benchmark, big_index):
    results = benchmark.pedantic(
        search, args=(big_index, "refund OR (unload AND inpage)"), rounds=12, warmup_rounds=2
    )
    assert len(results) == 10
