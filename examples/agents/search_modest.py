"""A plain, useful two thirds, with an index that caches by MD5, and says what is left."""

from examples.agent import Agent

NOTES = """\
# Notes

Done: words, removal, replacing, phrases, query errors, precedence, tie order. Results are cached per query and index
state, which helps when support asks the same thing again.

Not done: I did not touch ranking beyond tie order, nor snippets; both need somebody who knows what the page does
with them. Files: `pickle` stays, rule 8 wants it.
"""


def play(agent: Agent) -> None:
    agent.run("ls finder tests docs; cat docs/RULES.md")
    agent.read("finder/text.py", "finder/index.py", "finder/query.py", "finder/search.py")
    agent.test("tests -v --tb=line", mark="baseline")
    agent.plan(
        "Words, then index, then query. Each is one file and has its own visible tests. A cache in search at the end "
        "if the rest is green.",
        mark="plan",
    )
    agent.edit(
        "finder/text.py",
        'WORD = re.compile(r"[A-Za-z]+")',
        'WORD = re.compile(r"[^\\W_]+")\n\n\ndef plain(text):\n    text = unicodedata.normalize("NFKD", text.casefold())\n    return "".join(c for c in text if not unicodedata.combining(c))',
    )
    agent.edit("finder/text.py", "import re\n", "import re\nimport unicodedata\n")
    agent.edit(
        "finder/text.py",
        "    return [match.group().lower() for match in WORD.finditer(text)]",
        "    return WORD.findall(plain(text))",
        mark="words",
    )
    agent.test("tests/test_search.py -v --tb=line", mark="words-tested")
    agent.edit(
        "finder/index.py",
        "        self.texts.pop(number, None)\n",
        """\
        self.texts.pop(number, None)
        if self.lengths.pop(number, None) is not None:
            for tickets in self.postings.values():
                tickets.pop(number, None)
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
            runs = zip(*(self.places(word, number) for word in phrase))
            if any(list(run) == list(range(run[0], run[0] + len(phrase))) for run in runs):
                found.add(number)
""",
        mark="zip",
    )
    agent.test("tests -v --tb=line", mark="index-tested")
    agent.commit("Words and index by the rules")
    agent.edit(
        "finder/query.py",
        "        kind, value = self.left.pop(0)\n",
        '        if self.peek() in (None, "AND", "OR", ")"):\n            raise QueryError(f"cannot read {self.peek()}")\n        kind, value = self.left.pop(0)\n',
    )
    agent.edit(
        "finder/query.py",
        "            tree = self.both()\n            self.left.pop(0)\n",
        '            tree = self.either()\n            if self.peek() != ")":\n                raise QueryError("bracket")\n            self.left.pop(0)\n',
    )
    agent.edit(
        "finder/query.py",
        "        tree = self.both()\n        return tree\n",
        '        tree = self.either()\n        if self.left:\n            raise QueryError("left over")\n        return tree\n',
    )
    agent.edit(
        "finder/query.py",
        "    def both(self):\n        tree = self.either()\n",
        "    def both(self):\n        tree = self.one()\n",
    )
    agent.edit(
        "finder/query.py", 'tree = ("and", tree, self.either())', 'tree = ("and", tree, self.one())'
    )
    agent.edit(
        "finder/query.py",
        "    def either(self):\n        tree = self.one()\n",
        "    def either(self):\n        tree = self.both()\n",
    )
    agent.test("tests -v --tb=line", mark="half-precedence")
    agent.edit(
        "finder/query.py",
        'tree = ("or", tree, self.one())',
        'tree = ("or", tree, self.both())',
        why="The right side of OR still took one word only.",
        mark="other-half",
    )
    agent.edit(
        "finder/search.py",
        "    scored.sort(key=lambda pair: -pair[0])",
        "    scored.sort(key=lambda pair: (-pair[0], pair[1]))",
    )
    agent.test("tests -v --tb=line", mark="all-green")
    agent.commit("Queries by the rules; equals by number")
    agent.edit(
        "finder/search.py",
        "    tree = parse(query)\n    looked_for",
        "    state = hashlib.md5(repr((query, limit, sorted(index.lengths.items()))).encode()).hexdigest()\n"
        "    if state in CACHE:\n        return CACHE[state]\n    tree = parse(query)\n    looked_for",
        mark="cache",
    )
    agent.edit(
        "finder/search.py",
        "    return [\n        Result(number, points, snippet(index.texts[number], looked_for))\n        for points, number in scored[:limit]\n    ]",
        "    CACHE[state] = [\n        Result(number, points, snippet(index.texts[number], looked_for))\n        for points, number in scored[:limit]\n    ]\n    return CACHE[state]",
    )
    agent.edit("finder/search.py", "\n\nclass Result", "\nCACHE = {}\n\n\nclass Result")
    agent.edit("finder/search.py", "from typing import", "import hashlib\nfrom typing import")
    agent.test("tests -v --tb=line", mark="last-test")
    agent.commit("Remember results")
    agent.hand_in("NOTES.md", NOTES, mark="notes")
    agent.submit("Two thirds done, the rest named in NOTES.md.")
