"""XML as a stream of elements: no DTD, no entities, bounded depth, number and size.

A reader names the elements that it wants *whole*, such as ``testcase``: those come with
their text and all that is inside them. Of all others it is told the start and the end; their
text is not kept; and what it wants to be *left out*, with all that is inside, it never sees.
Namespaces are dropped from names.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Collection, Iterator
from enum import Enum, auto
from typing import Any, BinaryIO, NamedTuple
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import DefusedXMLParser  # type: ignore[import-untyped]

from bouts.formats.crumbs import Crumbs
from bouts.formats.mending import Notation, byte_order_mark, mended
from bouts.formats.text import PICTURES, UNKNOWN_MARK, Clipper
from bouts.formats.types import Report, Unreadable

BLOCK = 64 * 1024
MAX_BYTES = 512 * 1024 * 1024
MAX_DEPTH = 100
MAX_ELEMENTS = 5_000_000
BYTES_EACH = 32  # that elements have on average: see `Crumbs`
BYTES_EACH_WHOLE = 96  # that those which are wanted whole have, with all that is in them
MAX_TAG_BYTES = 4 * 1024 * 1024  # of one tag with its attributes
MAX_WHOLE_ELEMENTS = 20_000  # inside one whole element
TEXT_LIMIT = 64 * 1024  # characters kept of the text of one element
WHOLE_TEXT_LIMIT = 1024 * 1024  # characters kept of all the text in one whole element


class Element:
    """An element with its line in the file; text and children only where it came whole."""

    __slots__ = ("_text", "attributes", "children", "line", "tag")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag = tag
        self.attributes = attributes
        self.line = line
        self.children: list[Element] = []
        self._text: Clipper | None = None

    @property
    def text(self) -> str:
        """The text directly inside, cut in the middle where it is long."""
        return self._text.text() if self._text else ""

    @property
    def kept(self) -> int:
        """How many characters of its text are kept."""
        return self._text.kept if self._text else 0

    def get(self, name: str) -> str | None:
        return self.attributes.get(name)

    def find(self, *tags: str) -> Element | None:
        """Follow tags down through the first child of each name."""
        found: Element | None = self
        for tag in tags:
            children = found.children if found else []
            found = next((child for child in children if child.tag == tag), None)
        return found

    def text_at(self, *tags: str) -> str:
        """Return the text of the element that `find` finds, empty where there is none."""
        found = self.find(*tags)
        return found.text if found else ""

    def add_text(self, piece: str, limit: int) -> None:
        if self._text is None:
            self._text = Clipper(limit)
        self._text.add(piece)


class Step(Enum):
    START = auto()
    END = auto()
    WHOLE = auto()


class Move(NamedTuple):
    step: Step
    element: Element


def moves(
    source: BinaryIO, report: Report, *, whole: Collection[str], left_out: Collection[str] = ()
) -> Iterator[Move]:
    """Walk through a document; raise `Unreadable` with the place for whatever is wrong."""
    size = source.seek(0, io.SEEK_END)
    if size > MAX_BYTES:
        raise Unreadable(f"{size:,} bytes are more than MAX_BYTES = {MAX_BYTES:,}")
    stream = mended(source, XML, report, _declared_encoding(source))
    collector = _Collector(whole, left_out, size)
    # Whatever the file declares, the mended stream is UTF-8.
    parser = DefusedXMLParser(target=collector, encoding="utf-8", forbid_dtd=True)
    expat = collector.expat = parser.parser
    # Straight from the parser: what lies between costs as much as all that is done here.
    expat.ordered_attributes = False
    expat.StartElementHandler, expat.EndElementHandler = collector.start, collector.end
    fed = 0
    try:
        while block := stream.read(BLOCK):
            parser.feed(block)
            fed += len(block)
            if fed - expat.CurrentByteIndex > MAX_TAG_BYTES:
                limit = f"MAX_TAG_BYTES = {MAX_TAG_BYTES:,}"
                raise Unreadable(f"a tag is longer than {limit}", collector.place())
            yield from collector.taken()
        parser.close()
    except DefusedXmlException:
        reason = "it declares a document type or entities, which are never read"
        raise Unreadable(reason, collector.place()) from None
    except ParseError as error:
        raise Unreadable(collector.complaint(str(error)), collector.place()) from None
    yield from collector.taken()


class _Collector:
    """The target of the parser: builds the moves of one block at a time."""

    expat: Any  # set once the parser exists

    def __init__(self, whole: Collection[str], left_out: Collection[str], size: int) -> None:
        self._whole = frozenset(whole)
        self._left_out = frozenset(left_out)
        self._outside = 0  # depth inside an element that is left out
        self._crumbs = Crumbs(size, "elements", BYTES_EACH)
        self._whole_crumbs = Crumbs(size, "elements with results", BYTES_EACH_WHOLE)
        self._containers: list[Element] = []
        self._open: list[Element] = []  # of a whole element: itself and what is open inside
        self._elements = 0
        self._inside = 0  # elements inside the whole one
        self._room = 0  # characters that it may still keep
        self._moves: list[Move] = []

    def taken(self) -> list[Move]:
        """Hand over the moves since the last call."""
        moves, self._moves = self._moves, []
        return moves

    def complaint(self, error: str) -> str:
        """Say what the parser found wrong; a file cut short is what people most often have."""
        if not self._elements:
            return "there is no XML element in it"
        if error.startswith(("no element found", "unclosed token")):
            return f"the file ends early, inside <{self._innermost()}>"
        return f"not well-formed XML: {error.partition(': line')[0]}"

    def _innermost(self) -> str:
        return [*self._containers, *self._open][-1].tag[:80]

    def place(self) -> str:
        return f"line {self.expat.CurrentLineNumber}, column {self.expat.CurrentColumnNumber + 1}"

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if len(self._containers) + len(self._open) + self._outside >= MAX_DEPTH:
            raise Unreadable(f"nested deeper than MAX_DEPTH = {MAX_DEPTH}", self.place())
        if self._elements > MAX_ELEMENTS:
            raise Unreadable(f"more elements than MAX_ELEMENTS = {MAX_ELEMENTS:,}", self.place())
        self._crumbs.add()
        if "}" in tag:
            tag = tag.rpartition("}")[2]
        if self._outside or (tag in self._left_out and not self._open):
            self._outside += 1
            return
        element = Element(tag, attributes, self.expat.CurrentLineNumber)
        if self._open:
            self._inside += 1
            if self._inside > MAX_WHOLE_ELEMENTS:
                limit = f"MAX_WHOLE_ELEMENTS = {MAX_WHOLE_ELEMENTS:,}"
                raise Unreadable(f"more elements than {limit} in one place", self.place())
            self._open[-1].children.append(element)
            self._open.append(element)
        elif tag in self._whole:
            self._whole_crumbs.add()
            self._inside, self._room = 0, WHOLE_TEXT_LIMIT
            self._open.append(element)
        else:
            self._containers.append(element)
            self._moves.append(Move(Step.START, element))

    def data(self, text: str) -> None:
        if self._open:
            self._open[-1].add_text(text, min(TEXT_LIMIT, self._room))

    def end(self, tag: str) -> None:
        if self._outside:
            self._outside -= 1
            return
        if not self._open:
            self._moves.append(Move(Step.END, self._containers.pop()))
            return
        element = self._open.pop()
        self._room = max(self._room - element.kept, 0)
        if not self._open:
            self._moves.append(Move(Step.WHOLE, element))

    def close(self) -> None:
        """Called by the parser at the end."""


def root_tag(head: bytes) -> str | None:
    """Return the name of the root element, or None where the head is no XML with one.

    It looks past comments and a document type, so that a file with one is recognised and
    then refused for it.
    """
    encoding, start = byte_order_mark(head)
    text = head[start:].decode(encoding or _unmarked_encoding(head), errors="replace")
    found = _ROOT.match(text)
    return found[1].rpartition(":")[2] if found else None


_ROOT = re.compile(
    r"(?>\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?>\[.*?\]\s*)?>)*+<([A-Za-z_][\w.:-]*)",
    re.DOTALL,
)
_ENCODING = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z][\w.:-]{0,40})[\"']")


def _unmarked_encoding(head: bytes) -> str:
    if head.startswith(b"<\0"):
        return "utf-16-le"
    if head.startswith(b"\0<"):
        return "utf-16-be"
    return "utf-8"


def _declared_encoding(source: BinaryIO) -> str:
    """Return the encoding of a file without byte order mark; it may lie about UTF-16."""
    source.seek(0)
    head = source.read(512)
    declared = _ENCODING.match(head)
    if not declared:
        return _unmarked_encoding(head)
    name = declared[1].decode("ascii")
    if name.lower().startswith(("utf-16", "utf-32", "ucs-")):
        return "utf-8"  # else the declaration could not have been found in single bytes
    try:
        codec = codecs.lookup(name)
        codecs.getincrementaldecoder(name)
        is_sound = b"<?xml".decode(name) == "<?xml"
    except (LookupError, UnicodeError):
        is_sound = False
    if not is_sound:
        raise Unreadable(f"unknown encoding {name}", "line 1")
    return "utf-8" if codec.name in {"ascii", "utf-8"} else name


# How XML writes characters by number, and which it cannot hold (XML 1.0, "Char")


def _mended_reference(unfit: re.Match[bytes]) -> bytes:
    hexadecimal, decimal = unfit["hex"], unfit["decimal"]
    code = int(hexadecimal, 16) if hexadecimal else int(decimal or 0xFFFE)
    return chr(PICTURES.get(code, ord(UNKNOWN_MARK))).encode()


def _xml_cut(data: bytes) -> int:
    opened = data.rfind(b"&", max(len(data) - len(b"&#x00000000ffff"), 0))
    if opened >= 0 and b";" not in data[opened:]:
        return opened
    return len(data.rstrip(b"\xef\xbf"))  # the beginning of U+FFFE or U+FFFF


XML = Notation(
    name="XML",
    openers=(b"&#", b"\xef\xbf"),
    unfit=re.compile(
        rb"&#(?:"
        rb"x0{0,8}(?P<hex>[0-8bcef]|1[0-9a-f]|d[89a-f][0-9a-f]{2}|fff[ef])"
        rb"|0{0,8}(?P<decimal>[0-8]|1[124-9]|2[0-9]|3[01]"
        rb"|5529[6-9]|55[3-9][0-9]{2}|56[0-9]{3}|57[0-2][0-9]{2}|573[0-3][0-9]|5734[0-3]|6553[45])"
        rb");|\xef\xbf[\xbe\xbf]",
        re.IGNORECASE,
    ),
    mend=_mended_reference,
    cut=_xml_cut,
)
