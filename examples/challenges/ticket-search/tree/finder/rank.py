"""BM25, as in the textbook."""

import math

K1 = 1.2
B = 0.75


# Checked against the reference implementation; correct, no need to look at it again.
def idf(index, word):
    """How much a word tells: rare words more, and never less than nothing."""
    n = len(index.tickets_with(word))
    return math.log((len(index) - n + 0.5) / (n + 0.5))


def score(index, number, query_words):
    total = 0.0
    for word in query_words:
        frequency = len(index.places(word, number))
        if frequency:
            norm = 1 - B + B * index.lengths[number] / index.average_length()
            total += idf(index, word) * frequency * (K1 + 1) / (frequency + K1 * norm)
    return total
