"""What must hold for any tickets and any query: random ones from a fixed seed."""

import random

import pytest

from finder import Index, search

VOCABULARY = "refund card bank transfer page error login slow".split()


def random_index(seed):
    chance = random.Random(seed)
    texts = {f"T-{n}": " ".join(chance.choices(VOCABULARY, k=chance.randrange(1, 9))) for n in range(40)}
    index = Index()
    for number, text in texts.items():
        index.add(number, text)
    for number in chance.sample(sorted(texts), 10):
        index.remove(number)
        del texts[number]
    return index, texts


def numbers(index, query):
    return {result.number for result in search(index, query, limit=100)}


@pytest.mark.parametrize("seed", range(3))
def test_a_word_finds_exactly_the_tickets_that_have_it(seed):
    index, texts = random_index(seed)
    for word in VOCABULARY:
        have = {number for number, text in texts.items() if word in text.split()}
        assert numbers(index, word) == have, f"pemba: {word}"


@pytest.mark.parametrize("seed", range(3))
def test_a_query_and_its_negation_share_nothing_and_miss_nothing(seed):
    index, texts = random_index(seed)
    for query in ("refund card", "(bank OR page)", '"login slow"'):
        yes, no = numbers(index, query), numbers(index, f"NOT ({query})")
        assert not yes & no and yes | no == set(texts), f"pemba: {query}"


@pytest.mark.parametrize("seed", range(3))
def test_results_come_best_first(seed):
    index, _ = random_index(seed)
    points = [result.score for result in search(index, "refund OR error OR slow", limit=100)]
    assert points == sorted(points, reverse=True), "pemba: not best first"
