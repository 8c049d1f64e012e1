"""Queries: words, "phrases", AND, OR, NOT and brackets, read into a tree of tuples.

("word", "refund"), ("phrase", ["bank", "transfer"]), ("and", a, b), ("or", a, b), ("not", a)
"""

import re

from finder.text import words

TOKEN = re.compile(r'"([^"]*)"|([()])|([^\s()"]+)')


class QueryError(ValueError):
    """The query cannot be read."""


def tokens(text):
    for phrase, bracket, word in TOKEN.findall(text):
        if bracket:
            yield bracket, None
        elif word in ("AND", "OR", "NOT"):
            yield word, None
        elif word:
            for part in words(word):
                yield "word", part
        else:
            yield "phrase", words(phrase)


class Parser:
    def __init__(self, text):
        self.left = list(tokens(text))

    def peek(self):
        return self.left[0][0] if self.left else None

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


def parse(text):
    """Read a query into a tree, or raise `QueryError`."""
    return Parser(text).parse()
