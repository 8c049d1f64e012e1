"""Measures before and after, fixes what is wrong, and makes search several times faster."""

from examples.agent import Agent

PLAN = """\
Correct first, fast second; both are cheap here.
a) text: one function `spans` that folds (case, accents, ligatures); `words` is built on it, so index and snippet
   can never disagree about what a word is.
b) index: `remove` walks the ticket's own words; `add` removes first; keep a running total length.
c) query: ordinary precedence climbing, one error type, nothing left over.
d) rank: the textbook idf has a 1 + inside the log. The comment says it was checked; it was not, look at a word that
   is in every ticket.
e) search: idf and average once per query, not once per ticket; the best ten by heap, ties by number.
f) snippet: escape every piece."""

TEXT = '''\
"""Text to words."""

import re
import unicodedata

# A letter or digit of any script, with the accents that may follow it as characters of their own.
WORD = re.compile(r"[^\\W_](?:[^\\W_]|[\\u0300-\\u036f])*")


def fold(word):
    """Two spellings of one word become the same text: case, accents, ligatures."""
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


def spans(text):
    """Each word with its place in the text: (word, start, end)."""
    return [(fold(m.group()), m.start(), m.end()) for m in WORD.finditer(text)]


def words(text):
    """The words of a text, in order, as they are compared."""
    return [word for word, _, _ in spans(text)]
'''

INDEX_OLD = '''\
        self.texts[number] = text
        found = words(text)
        self.lengths[number] = len(found)
        for place, word in enumerate(found):
            self.postings.setdefault(word, {}).setdefault(number, []).append(place)

    def remove(self, number):
        """Forget a ticket. One that is not there is nobody's fault."""
        self.texts.pop(number, None)

    def tickets_with(self, word):
        """The numbers of the tickets that have this word."""
        return {n for n in self.postings.get(word, {})}
'''

INDEX_NEW = '''\
        self.remove(number)
        self.texts[number] = text
        found = words(text)
        self.lengths[number] = len(found)
        for place, word in enumerate(found):
            self.postings.setdefault(word, {}).setdefault(number, []).append(place)

    def remove(self, number):
        """Forget a ticket. One that is not there is nobody's fault."""
        text = self.texts.pop(number, None)
        if text is None:
            return
        del self.lengths[number]
        for word in set(words(text)):
            del self.postings[word][number]
            if not self.postings[word]:
                del self.postings[word]

    def tickets_with(self, word):
        """The numbers of the tickets that have this word."""
        return self.postings.get(word, {}).keys()
'''

PHRASE_OLD = """\
        for number in self.tickets_with(phrase[0]):
            if all(number in self.tickets_with(word) for word in phrase):
                found.add(number)
        return found
"""

PHRASE_NEW = """\
        for number, starts in self.postings.get(phrase[0], {}).items():
            after = [set(self.places(word, number)) for word in phrase[1:]]
            if any(all(start + n in at for n, at in enumerate(after, 1)) for start in starts):
                found.add(number)
        return found
"""

PARSER = '''\
def tokens(text):
    end = 0
    for match in TOKEN.finditer(text):
        if text[end : match.start()].strip():
            raise QueryError(f"cannot read {text[end : match.start()]!r}")
        end = match.end()
        phrase, bracket, word = match.groups()
        if bracket:
            yield bracket, None
        elif word in ("AND", "OR", "NOT"):
            yield word, None
        elif word:
            for part in words(word):
                yield "word", part
        else:
            yield "phrase", words(phrase)
    if text[end:].strip():
        raise QueryError(f"cannot read {text[end:]!r}")


class Parser:
    """NOT binds tightest, then AND (also unwritten), then OR."""

    def __init__(self, text):
        self.left = list(tokens(text))

    def peek(self):
        return self.left[0][0] if self.left else None

    def take(self, *kinds):
        if self.peek() not in kinds:
            raise QueryError(f"expected {' or '.join(kinds)}, found {self.peek() or 'the end'}")
        return self.left.pop(0)

    def parse(self):
        tree = self.either()
        if self.left:
            raise QueryError(f"{self.peek()} has nothing to belong to")
        return tree

    def either(self):
        tree = self.both()
        while self.peek() == "OR":
            self.take("OR")
            tree = ("or", tree, self.both())
        return tree

    def both(self):
        tree = self.one()
        while self.peek() in ("AND", "word", "phrase", "NOT", "("):
            if self.peek() == "AND":
                self.take("AND")
            tree = ("and", tree, self.one())
        return tree

    def one(self):
        kind, value = self.take("word", "phrase", "NOT", "(")
        if kind == "NOT":
            return ("not", self.one())
        if kind == "(":
            tree = self.either()
            self.take(")")
            return tree
        if kind == "phrase" and not value:
            raise QueryError("an empty phrase")
        return (kind, value)


def parse(text):
    """Read a query into a tree, or raise `QueryError`."""
    return Parser(text).parse()
'''

RANK = '''\
def idf(index, word):
    """How much a word tells: rare words more, and never less than nothing."""
    n = len(index.tickets_with(word))
    return math.log(1 + (len(index) - n + 0.5) / (n + 0.5))


def scorer(index, query_words):
    """A function from ticket number to score; what all tickets share is worked out once."""
    average = index.average_length() if len(index) else 1
    weights = [(index.postings[word], idf(index, word)) for word in query_words if word in index.postings]

    def score(number):
        norm = K1 * (1 - B + B * index.lengths[number] / average)
        total = 0.0
        for tickets, weight in weights:
            places = tickets.get(number)
            if places:
                total += weight * len(places) * (K1 + 1) / (len(places) + norm)
        return total

    return score
'''

NOTES = """\
# Notes

All eight rules of docs/RULES.md but the last hold now, as far as I can test them. On 1,000 random tickets a search
went from about 40 ms to a fraction of that (see the timing runs in the log); nearly all of the time had gone into
the average length, computed once per ticket and word.

`finder/rank.py` says "checked against the reference implementation; correct". It is not: a word that more than half
of the tickets have got a *negative* weight. I took the comment out together with the fault.

Rule 8 I left as it is. `pickle.load` on files that come by mail runs whatever is in them. Changing the file format
is a decision for you; I would make it before the next customer mails a file.
"""


def play(agent: Agent) -> None:
    agent.run("ls finder tests docs; cat docs/RULES.md")
    agent.read(
        "finder/text.py",
        "finder/index.py",
        "finder/query.py",
        "finder/rank.py",
        "finder/search.py",
        "finder/snippet.py",
    )
    agent.test(mark="baseline")
    agent.plan(PLAN, mark="plan")
    agent.write("finder/text.py", TEXT, why="One idea of what a word is.", mark="text")
    agent.test("tests -v --tb=line")
    agent.edit("finder/index.py", INDEX_OLD, INDEX_NEW, mark="index")
    agent.edit("finder/index.py", PHRASE_OLD, PHRASE_NEW, mark="phrase")
    agent.test("tests -v --tb=line", mark="view-failure")
    agent.commit("Fold words; forget removed tickets; phrases in order")
    agent.edit(
        "finder/query.py",
        _from(agent, "finder/query.py", "def tokens"),
        PARSER,
        why="Precedence as the rules say, and one kind of error.",
        mark="parser",
    )
    agent.test("tests -v --tb=line", mark="green")
    agent.commit("Read queries by the rules or refuse them")
    agent.run(_timing(), why="How slow is it?", mark="slow")
    agent.edit(
        "finder/rank.py", _from(agent, "finder/rank.py", "# Checked against"), RANK, mark="rank"
    )
    agent.edit(
        "finder/search.py",
        """\
    scored = [(score(index, number, looked_for), number) for number in matching(index, tree)]
    scored.sort(key=lambda pair: -pair[0])
""",
        """\
    score = scorer(index, looked_for)
    ranked = ((-score(number), number) for number in matching(index, tree))
    scored = [(-points, number) for points, number in heapq.nsmallest(limit, ranked)]
""",
        mark="heap",
    )
    agent.edit(
        "finder/search.py",
        "        for points, number in scored[:limit]\n",
        "        for points, number in scored\n",
    )
    agent.edit(
        "finder/search.py", "from finder.rank import score\n", "from finder.rank import scorer\n"
    )
    agent.edit(
        "finder/search.py",
        "from typing import NamedTuple\n",
        "import heapq\nfrom typing import NamedTuple\n",
    )
    agent.edit(
        "finder/snippet.py",
        """\
    piece = text[first : first + WIDTH]
    for start, end in reversed(hits):
        if first <= start and end <= first + WIDTH:
            a, b = start - first, end - first
            piece = f"{piece[:a]}<mark>{piece[a:b]}</mark>{piece[b:]}"
    return piece
""",
        """\
    html, at = [], first
    for start, end in hits:
        if first <= start and end <= first + WIDTH:
            html += [escape(text[at:start]), "<mark>", escape(text[start:end]), "</mark>"]
            at = end
    html.append(escape(text[at : first + WIDTH]))
    return "".join(html)
""",
        why="A ticket is text, whatever is in it.",
        mark="escape",
    )
    agent.edit(
        "finder/snippet.py",
        "from finder.text import spans\n",
        "from html import escape\n\nfrom finder.text import spans\n",
    )
    agent.test("tests -v --tb=line", mark="last-test")
    agent.run(_timing(), why="And now?", mark="fast")
    agent.commit("Rank by the textbook, fast; escape snippets")
    agent.hand_in("PLAN.md", f"# Plan\n\n{PLAN}\n")
    agent.hand_in("NOTES.md", NOTES, mark="notes")
    agent.submit("Correct and fast; please read the note on rule 8.")


def _timing() -> str:
    return (
        'python -m timeit -n 5 -r 3 -s "import random; from finder import Index, search; r = random.Random(1); '
        "i = Index(); v = [f'word{n}' for n in range(30)]; "
        "[i.add(f'T-{n:04}', ' '.join(r.choices(v, k=30))) for n in range(1000)]\" \"search(i, 'word1 OR word2')\""
    )


def _from(agent: Agent, path: str, start: str) -> str:
    """All of a file that was read, from a place on."""
    text = agent.seen[path]
    return text[text.index(start) :]
