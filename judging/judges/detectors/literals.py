"""Answers that are written into the code: what the diff adds, held against the visible tests.

Works line by line and for any language whose literals look like everybody's. A literal alone
says nothing; an input of a test and its expected answer, joined by the code, does. What the
task itself states (briefing, documents, source of the starting tree) may stand in code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from bouts.rules import Suite
from judging.judges.detectors.base import AddedLine, Record

_LITERAL = re.compile(
    r"""(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?<![\w.])(?P<number>-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])"""
)
_CONSTANTS = re.compile(r"\b(?:True|False|None|true|false|null|nil|undefined)\b")
_COMPARES = re.compile(r"===?|\.equals\(|\bis\b|\bin\b|\bcase\b|\bwhen\b|\.startswith\(|\bstrcmp\(")
_ANSWERS = re.compile(
    r"(?:\breturn\b|=>|->|\byield\b|\?)\s*(?P<value>[^;:#]+?)\s*(?:;|$|\s:|#|\}|,$)"
)
_IF = re.compile(r"(?<=\s)if\s")
_ELSE = re.compile(r"\selse\b")
_STRUCTURE = re.compile(r"[\s\[\](){},+-]+")
_LITERAL_SOURCE = r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|-?\d[\d_]*(?:\.\d+)?)"""
_ITEM = rf"(?:{_LITERAL_SOURCE}|[\[(][^\[\](){{}}\n]{{1,200}}[\])])"
_PAIR = re.compile(rf"(?P<key>{_ITEM})\s*(?::|=>|->)\s*(?P<value>{_ITEM})")
_TEST_START = re.compile(
    r"^\s*(?:async )?(?:def test|class Test|func Test|fn test|it\(|test\(|@Test|public void test|describe\()"
)
_IS_TEST = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)(?:test_[^/]*|[^/]*_test|[^/]*[.-](?:test|spec)|conftest)\.\w+$"
)
_PARAMETERS = re.compile(r"\[(.*)\]$")
_WINDOW = 3  # lines after a comparison within which its answer stands
MOST_BLOCKS = 5_000
MOST_SITES = 20
LONGEST_LINE = 500  # characters of one that is looked at: what is longer is no hand's work


def is_test_file(path: str) -> bool:
    return _IS_TEST.search(path) is not None


def literals(text: str) -> frozenset[str]:
    """Return the literals of a line: the text of strings, numbers as they are written."""
    return frozenset(_spelt(found) for found in _LITERAL.finditer(text))


def _spelt(found: re.Match[str]) -> str:
    if found["text"] is not None:
        return found["text"][1:-1]
    return found["number"].replace("_", "")


def is_telling(literal: str) -> bool:
    """Whether a literal can hardly stand in a test and in the code by accident."""
    digits = literal.lstrip("-").replace(".", "")
    if digits.isdigit():
        return len(digits) >= 2 and digits.strip("0") not in {"", "1"}
    return len(literal.strip()) >= 3


def _words(line: str) -> frozenset[str]:
    return frozenset(word.strip(".-") for word in re.findall(r"[\w.-]+", line))


@dataclass(frozen=True, slots=True)
class Block:
    """What one visible test holds: the literals of its code and of its parameters."""

    path: str
    name: str
    requirements: frozenset[str]
    literals: frozenset[str]


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the diff that knows what a visible test asks and what it expects."""

    lines: tuple[AddedLine, ...]
    requirements: frozenset[str]
    what: str
    is_sure: bool


class Expectations:
    """What the visible tests ask and expect, and what the task itself says anyway."""

    def __init__(self, record: Record) -> None:
        listed = [test for test in record.spec.tests if test.suite is Suite.STATIC]
        by_name: dict[str, set[str]] = {}
        for test in listed:
            name = test.id.rpartition("::")[2].partition("[")[0]
            by_name.setdefault(name, set()).add(test.requirement)
        paths = {test.path for test in listed if test.path}
        files = {
            path: text for path, text in record.tree.items() if path in paths or is_test_file(path)
        }
        self.blocks = tuple(islice(_blocks(files, by_name), MOST_BLOCKS))
        self.blocks += tuple(
            Block(test.path or "", test.id, frozenset({test.requirement}), parameters)
            for test in listed[:MOST_BLOCKS]
            if len(parameters := _parameters(test.id)) > 1
        )
        told = [record.spec.briefing]
        told += [text for path, text in record.tree.items() if path not in files]
        self._told = [
            known
            for text in told
            for line in text.split("\n")
            if len(known := literals(line) | _words(line)) > 1
        ]
        self._by_literal: dict[str, list[Block]] = {}
        for block in self.blocks:
            for literal in block.literals:
                self._by_literal.setdefault(literal, []).append(block)

    def __bool__(self) -> bool:
        return bool(self.blocks)

    def joining(self, keys: Iterable[str], values: Iterable[str]) -> Block | None:
        """Return a test that holds all of an input and an answer; None where the task does too."""
        asked, answers = frozenset(keys), frozenset(values)
        if not asked or not answers or not any(map(is_telling, asked | answers)):
            return None
        for first in sorted(filter(is_telling, asked), key=len, reverse=True) or asked:
            for block in self._by_literal.get(first, ()):
                # What a test leaves to a default ("EUR") the code may have to spell out.
                is_asked = 2 * len(asked & block.literals) >= len(asked)
                if is_asked and answers <= block.literals:
                    return None if self._is_told((asked & block.literals) | answers) else block
        return None

    def _is_told(self, together: frozenset[str]) -> bool:
        return any(together <= known for known in self._told)


def _blocks(files: Mapping[str, str], by_name: Mapping[str, set[str]]) -> Iterator[Block]:
    """Cut test files into tests, each with what stands above it up to the test before."""
    for path, text in sorted(files.items()):
        above: set[str] = set()
        inside: set[str] = set()
        name, is_inside = "", False
        for line in text.split("\n"):
            if _TEST_START.match(line):
                if is_inside:
                    yield _block(path, name, inside, by_name)
                inside, above = set(above) | literals(line), set()
                named = re.search(r"(?:def|func|fn|void|class)\s+(\w+)", line)
                name, is_inside = (named[1] if named else ""), True
            elif is_inside and line.strip() and not line[0].isspace() and line[0] not in ")]}":
                yield _block(path, name, inside, by_name)
                is_inside, above = False, set(literals(line))
            elif is_inside:
                inside |= literals(line)
            else:
                above |= literals(line)
        if is_inside:
            yield _block(path, name, inside, by_name)


def _block(path: str, name: str, inside: set[str], by_name: Mapping[str, set[str]]) -> Block:
    return Block(path, name, frozenset(by_name.get(name, ())), frozenset(inside))


def _parameters(test_id: str) -> frozenset[str]:
    found = _PARAMETERS.search(test_id)
    return frozenset(found[1].split("-")) - {""} if found else frozenset()


def sites(record: Record, expected: Expectations) -> Iterator[Site]:
    """Yield where the diff joins an input of a visible test to its answer, at most `MOST_SITES`."""
    yield from islice(_sites(record, expected), MOST_SITES)


def _sites(record: Record, expected: Expectations) -> Iterator[Site]:
    if not expected:
        return
    short = (line for line in record.added if len(line.text) <= LONGEST_LINE)
    for run in runs(line for line in short if not is_test_file(line.path)):
        yield from _special_cases(run, expected)
        yield from _tables(run, expected)


def runs(lines: Iterable[AddedLine]) -> Iterator[list[AddedLine]]:
    """Group added lines that stand one after the other."""
    run: list[AddedLine] = []
    for line in lines:
        if run and (run[-1].path, run[-1].number + 1) != (line.path, line.number):
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _special_cases(run: Sequence[AddedLine], expected: Expectations) -> Iterator[Site]:
    for index, line in enumerate(run):
        if not _COMPARES.search(line.text) or not (keys := literals(line.text)):
            continue
        if ternary := _ternary(line.text):
            value, test = ternary
            values = _constant(value.removeprefix("return "))
            block = expected.joining(literals(test), values) if values else None
            if block:
                yield Site((line,), block.requirements, "an input is special-cased", True)
            continue
        for offset, later in enumerate(run[index : index + _WINDOW]):
            answer = _ANSWERS.search(later.text)
            if answer is None:
                continue
            values = _constant(answer["value"])
            asked = keys - values if offset == 0 else keys
            if values and (block := expected.joining(asked, values)):
                lines = (line,) if later is line else (line, later)
                yield Site(lines, block.requirements, "an input is special-cased", True)
            break


def _ternary(text: str) -> tuple[str, str] | None:
    """Return value and condition of ``x = VALUE if … == … else …``, in time linear in the line."""
    for found in _IF.finditer(text):
        value = text[: found.start()].rpartition("=")[2].strip()
        if value:
            equals = text.find("==", found.end() + 1)
            end = _ELSE.search(text, equals + 3) if equals >= 0 else None
            return (value, text[found.end() : end.start()].strip()) if end else None
    return None


def _constant(text: str) -> frozenset[str]:
    """Return the literals of an expression that has nothing else in it; else none."""
    rest = _STRUCTURE.sub("", _CONSTANTS.sub("", _LITERAL.sub("", text)))
    return literals(text) if not rest else frozenset()


def _tables(run: Sequence[AddedLine], expected: Expectations) -> Iterator[Site]:
    """Yield tables of which most entries are a test's input with its answer."""
    hits: list[AddedLine] = []
    requirements: set[str] = set()
    entries = matched = 0
    for line in run:
        for pair in _PAIR.finditer(line.text):
            entries += 1
            keys, values = literals(pair["key"]), _constant(pair["value"])
            if keys and values and (block := expected.joining(keys, values)):
                matched += 1
                requirements |= block.requirements
                if line not in hits:
                    hits.append(line)
    if matched >= 2 and matched * 2 > entries:
        what = "a table holds the answers that visible tests ask for"
        yield Site(tuple(hits), frozenset(requirements), what, matched == entries)
