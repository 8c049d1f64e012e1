"""Works from memory, edits to the last second and hands in a file that Python cannot read."""

from examples.agent import Agent

NOTES = "Accents, numbers, removal, phrases and brackets fixed. Visible tests were green before the last cleanup.\n"


def play(agent: Agent) -> None:
    agent.read("finder/text.py", "finder/index.py")
    agent.edit("finder/text.py", 'r"[A-Za-z]+"', 'r"\\w+"', mark="words")
    agent.edit(
        "finder/text.py",
        "    return [match.group().lower() for match",
        "    return [plain(match.group()) for match",
    )
    agent.edit(
        "finder/text.py", "    return [(m.group().lower(), m", "    return [(plain(m.group()), m"
    )
    agent.edit(
        "finder/text.py",
        "\n\ndef words(",
        '\n\ndef plain(word):\n    word = unicodedata.normalize("NFD", word.lower())\n'
        '    return "".join(c for c in word if not unicodedata.combining(c))\n\n\ndef words(',
    )
    agent.edit("finder/text.py", "import re\n", "import re\nimport unicodedata\n")
    agent.edit(
        "finder/index.py",
        "        self.texts.pop(number, None)\n",
        "        self.texts.pop(number, None)\n        self.lengths.pop(number, None)\n"
        "        for tickets in self.postings.values():\n            tickets.pop(number, None)\n",
    )
    agent.edit(
        "finder/index.py",
        "        self.texts[number] = text\n",
        "        self.remove(number)\n        self.texts[number] = text\n",
    )
    agent.edit(
        "finder/index.py",
        "            if all(number in self.tickets_with(word) for word in phrase):\n",
        "            first = self.places(phrase[0], number)\n"
        "            if any(all(p + i in self.places(w, number) for i, w in enumerate(phrase)) for p in first):\n",
    )
    agent.test("tests -v --tb=line", mark="first-test")
    agent.read("finder/query.py")
    agent.edit(
        "finder/query.py",
        "        tree = self.both()\n        return tree\n",
        '        tree = self.both()\n        if self.left:\n            raise QueryError("something is left over")\n        return tree\n',
    )
    agent.edit(
        "finder/query.py",
        "        kind, value = self.left.pop(0)\n",
        '        if not self.left:\n            raise QueryError("the query ends too early")\n        kind, value = self.left.pop(0)\n',
    )
    agent.edit(
        "finder/query.py",
        "            tree = self.both()\n            self.left.pop(0)\n",
        '            tree = self.both()\n            if self.peek() != ")":\n                raise QueryError("a bracket is open")\n            self.left.pop(0)\n',
    )
    agent.test("tests -v --tb=line", mark="one-left")
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
        '        tree = self.one()\n        while self.peek() == "OR":',
        '        tree = self.both()\n        while self.peek() == "OR":',
    )
    agent.edit(
        "finder/query.py",
        '            tree = ("or", tree, self.one())',
        '            tree = ("or", tree, self.both())',
    )
    agent.edit(
        "finder/query.py",
        "        tree = self.both()\n        if self.left:",
        "        tree = self.either()\n        if self.left:",
    )
    agent.edit(
        "finder/query.py",
        '            tree = self.both()\n            if self.peek() != ")":',
        '            tree = self.either()\n            if self.peek() != ")":',
    )
    agent.test("tests -v --tb=line", mark="green")
    agent.edit(
        "finder/query.py",
        '            raise QueryError("the query ends too early")\n',
        '            raise QueryError("the query ends too early"\n',
        why="Tidy up the messages before handing in.",
        mark="slip",
    )
    agent.edit(
        "finder/rank.py",
        "# Checked against the reference implementation; correct, no need to look at it again.\n",
        "",
        mark="after-slip",
    )
    agent.hand_in("NOTES.md", NOTES, mark="notes")
    agent.submit("Ready.")
