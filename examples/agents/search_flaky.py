"""Gets nearly everything right and never asks in which order equals come."""

from examples.agent import Agent

NOTES = """\
# Notes

Fixed: words (any script, accents folded), removal and replacing, phrases, precedence and errors of queries, the
weight of common words, escaping in snippets. I rewrote the parser after the first attempt to patch it made two
tests fail that had passed.

I did not measure speed.
"""


def play(agent: Agent) -> None:
    agent.run("cat docs/RULES.md; ls tests")
    agent.read("finder/query.py", "finder/index.py", "finder/text.py")
    agent.test("tests -v --tb=line", mark="baseline")
    agent.edit(
        "finder/query.py",
        "    def parse(self):\n        tree = self.both()\n",
        "    def parse(self):\n        tree = self.either()\n",
        why="OR outermost: start with it.",
        mark="patch",
    )
    agent.edit(
        "finder/query.py",
        '            tree = ("or", tree, self.one())',
        '            tree = ("or", tree, self.both())',
    )
    agent.test("tests -v --tb=line", mark="patch-failed")
    agent.revert(
        "finder/query.py",
        why="The two levels call each other in a circle now. Back, and properly.",
        mark="revert",
    )
    agent.plan(
        "Parser: write the three levels anew, each calling only the one below, and a `need` that raises QueryError. "
        "Then index, words, rank, snippet, in this order, a test run after each.",
        mark="plan",
    )
    agent.edit(
        "finder/query.py",
        """\
    def parse(self):
        tree = self.both()
        return tree

    def both(self):
        tree = self.either()
        while self.peek() in ("AND", "word", "phrase", "NOT", "("):
            if self.peek() == "AND":
                self.left.pop(0)
            tree = ("and", tree, self.either())
        return tree

    def either(self):
        tree = self.one()
        while self.peek() == "OR":
            self.left.pop(0)
            tree = ("or", tree, self.one())
        return tree

    def one(self):
        kind, value = self.left.pop(0)
        if kind == "NOT":
            return ("not", self.one())
        if kind == "(":
            tree = self.both()
            self.left.pop(0)
            return tree
        return (kind, value)
""",
        """\
    def need(self, *kinds):
        if self.peek() not in kinds:
            raise QueryError(f"{self.peek() or 'end of query'} where {kinds[0]} should be")
        return self.left.pop(0)

    def parse(self):
        tree = self.any_of()
        if self.left:
            raise QueryError(f"unexpected {self.peek()}")
        return tree

    def any_of(self):
        tree = self.all_of()
        while self.peek() == "OR":
            self.need("OR")
            tree = ("or", tree, self.all_of())
        return tree

    def all_of(self):
        tree = self.one()
        while self.peek() not in (None, "OR", ")"):
            if self.peek() == "AND":
                self.need("AND")
            tree = ("and", tree, self.one())
        return tree

    def one(self):
        kind, value = self.need("word", "phrase", "NOT", "(")
        if kind == "NOT":
            return ("not", self.one())
        if kind == "(":
            tree = self.any_of()
            self.need(")")
            return tree
        if not value:
            raise QueryError("an empty phrase")
        return (kind, value)
""",
        mark="rewrite",
    )
    agent.edit(
        "finder/query.py",
        "    for phrase, bracket, word in TOKEN.findall(text):\n",
        '    if text.count(\'"\') % 2:\n        raise QueryError("a quote is open")\n    for phrase, bracket, word in TOKEN.findall(text):\n',
    )
    agent.test("tests -v --tb=line", mark="rewrite-tested")
    agent.commit("Write the parser anew, level by level")
    agent.edit(
        "finder/index.py",
        "        self.texts.pop(number, None)\n",
        """\
        text = self.texts.pop(number, None)
        if text is not None:
            self.lengths.pop(number)
            for word in set(words(text)):
                self.postings[word].pop(number)
""",
    )
    agent.edit(
        "finder/index.py",
        "        self.texts[number] = text\n",
        "        self.remove(number)\n        self.texts[number] = text\n",
    )
    agent.edit(
        "finder/index.py",
        "            if all(number in self.tickets_with(word) for word in phrase):\n                found.add(number)\n",
        """\
            for start in self.places(phrase[0], number):
                if all(start + n in self.places(word, number) for n, word in enumerate(phrase)):
                    found.add(number)
""",
    )
    agent.test("tests -v --tb=line", mark="index-tested")
    agent.edit(
        "finder/text.py",
        'WORD = re.compile(r"[A-Za-z]+")',
        'WORD = re.compile(r"[^\\W_](?:[^\\W_]|[\\u0300-\\u036f])*")\n\n\ndef fold(word):\n    parts = unicodedata.normalize("NFKD", word.casefold())\n    return "".join(c for c in parts if not unicodedata.combining(c))',
    )
    agent.edit("finder/text.py", "import re\n", "import re\nimport unicodedata\n")
    agent.edit(
        "finder/text.py",
        "    return [match.group().lower() for match",
        "    return [fold(match.group()) for match",
    )
    agent.edit(
        "finder/text.py", "    return [(m.group().lower(), m", "    return [(fold(m.group()), m"
    )
    agent.test("tests -v --tb=line", mark="all-green")
    agent.commit("Forget removed tickets; fold words")
    agent.edit(
        "finder/rank.py",
        "return math.log((len(index)",
        "return math.log(1 + (len(index)",
        mark="idf",
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
    parts, at, last = [], first, first + WIDTH
    for start, end in hits:
        if at <= start and end <= last:
            parts.append(escape(text[at:start]) + "<mark>" + escape(text[start:end]) + "</mark>")
            at = end
    return "".join(parts) + escape(text[at:last])
""",
    )
    agent.edit(
        "finder/snippet.py", "from finder.text", "from html import escape\n\nfrom finder.text"
    )
    agent.test("tests -v --tb=line", mark="last-test")
    agent.commit("Weigh common words; escape snippets")
    agent.hand_in("NOTES.md", NOTES, mark="notes")
    agent.submit("All rules but speed; see NOTES.md.")
