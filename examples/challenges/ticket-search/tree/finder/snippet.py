"""The piece of a ticket that is shown."""

from finder.text import spans

WIDTH = 80


def snippet(text, query_words):
    """Some 80 characters around the first hit, hits in <mark>, as HTML."""
    hits = [(start, end) for word, start, end in spans(text) if word in query_words]
    first = max(0, hits[0][0] - WIDTH // 2) if hits else 0
    piece = text[first : first + WIDTH]
    for start, end in reversed(hits):
        if first <= start and end <= first + WIDTH:
            a, b = start - first, end - first
            piece = f"{piece[:a]}<mark>{piece[a:b]}</mark>{piece[b:]}"
    return piece
