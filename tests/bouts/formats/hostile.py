"""Inputs of 10 MB made to cost a reader dear, and what they do cost: `python -m` this, or import it.

Each is made of a sample of the format, so that the reader takes it for its own: a million tiny
records, as many different names, keys without end, nesting, one endless text, and for logs long
lines of whatever makes a pattern look twice. A reader is run on each in a forked process, whose
peak memory and processor time the kernel tells. Nothing is kept of the values, as in ingest.
"""

from __future__ import annotations

import io
import json
import os
import re
import resource
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bouts.formats.guard import ReaderFault
from bouts.formats.sniff import HEAD_BYTES, READERS
from bouts.formats.types import Reader, Report, Unreadable
from tests.bouts.formats.test_sniff import SAMPLES

SIZE = 10_000_000  # bytes
MOST_MEMORY = 3 * 1024**3  # of address space: a reader that wants more fails, not the machine
MOST_CPU_S = 60

# What stands in for a name wherever a sample has one.
_NAMING = re.compile(
    r"(?i)name|id$|path|file|uri|url|message|text|content|command|title|key|nodeid"
)
# What patterns trip over, in lines below the bound on their length.
_STUTTERS = (
    *(b'"', b'\\"', b"<", b"1<", b"1", b"a", b" ", b"(", b") = ", b"=", b"a=", b"[", b"{"),
    *(b"\x1b[", b"IN= OUT= ", b"TCP_A", b"GET ", b"0x1 ", b", O_", b"type=", b"a/", b"\\", b"- "),
    *(b"sin6_port=htons(1) ", b"<... a resumed>", b"::", b"in ", b'File "', b"line 1", b"\xff"),
)
_LINE = 1_000_000


class Cost(NamedTuple):
    """What reading one input came to."""

    format: str
    case: str
    outcome: str  # "read", the refusal's reason, or the fault
    peak_mb: float  # above what the process had before
    seconds: float  # of the processor


def cases(format: str) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the inputs of a format by name, each made when it is called for."""
    sample = SAMPLES[format]
    documents = _documents(sample)
    if len(documents) == 1 and isinstance(documents[0], dict):
        yield from _of_document(documents[0])
    elif len(documents) == 1 and isinstance(documents[0], list):
        rows = documents[0]
        yield "rows", lambda: f"[{','.join(_copies(rows))}]".encode()
        yield "names", lambda: f"[{','.join(_renamed_copies(rows))}]".encode()
        yield "tiny", lambda: f"[{','.join([json.dumps(rows[0]), *_repeated('{}')])}]".encode()
    if documents and isinstance(documents[0], dict) and _is_lines(sample):
        yield from _of_json_lines(documents)
    elif not documents and sample.lstrip(b"\xef\xbb\xbf").startswith(b"<"):
        yield from _of_xml(sample)
    elif not documents:
        yield from _of_lines(sample)


def costs(formats: Iterable[Reader], only: Iterable[str] = ()) -> Iterator[Cost]:
    """Yield what each reader costs on each of its inputs, or on those named."""
    wanted = frozenset(only)
    for reader in formats:
        for case, make in cases(reader.format):
            if not wanted or case in wanted:
                yield _cost(reader, case, make)


# Running one


def _cost(reader: Reader, case: str, make: Callable[[], bytes]) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "input"
        pid = os.fork()
        if not pid:  # what making it takes is not the reader's
            file.write_bytes(make())
            os._exit(0)
        os.waitpid(pid, 0)
        told, tell = os.pipe()
        before = _resident_kb()
        pid = os.fork()
        if not pid:
            os.close(told)
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
            os.write(tell, _outcome(reader, file).encode()[:500])
            os._exit(0)
        os.close(tell)
        with os.fdopen(told, "rb") as answer:
            outcome = answer.read().decode(errors="replace")
        _, status, usage = os.wait4(pid, 0)
    ended = outcome or f"ended by signal {os.WTERMSIG(status)}"
    peak = (usage.ru_maxrss - before) / 1024
    return Cost(reader.format, case, ended, peak, usage.ru_utime + usage.ru_stime)


def _resident_kb() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError("the kernel does not tell the memory of a process")


def _outcome(reader: Reader, file: Path) -> str:
    try:
        with file.open("rb") as source:
            reader.recognises(source.read(HEAD_BYTES))
            for _ in reader.read(source, Report()):
                pass
    except ReaderFault as fault:
        return f"FAULT: {fault.__cause__!r}"
    except Unreadable as refusal:
        return str(refusal)
    except BaseException as error:
        return f"FAULT: {error!r}"
    return "read"


# JSON


def _documents(sample: bytes) -> list[Any]:
    try:
        return [json.loads(sample)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in sample.splitlines() if line.strip()]
    except ValueError:
        return []


def _is_lines(sample: bytes) -> bool:
    return len(_documents(sample)) > 1


def _of_document(document: dict[str, Any]) -> Iterator[tuple[str, Callable[[], bytes]]]:
    lists = [path for path, value in _walked(document) if isinstance(value, list) and value]
    if lists:
        longest = max(lists, key=lambda path: len(json.dumps(_at(document, path))))
        rows = _at(document, longest)
        yield "rows", lambda: _filled(document, longest, "[", _copies(rows), "]")
        yield "names", lambda: _filled(document, longest, "[", _renamed_copies(rows), "]")
        yield "tiny", lambda: _filled(document, longest, "[", _repeated("{}"), "]")
        yield "empty", lambda: _filled(document, longest, "[", _repeated('""'), "]")
        deep = "[" * 900 + "]" * 900
        yield "deep", lambda: _filled(document, longest, "[", _repeated(deep), "]")
    yield "keys", lambda: _with_keys(document, (), 0)
    inner = [
        path for path, value in _walked(document) if isinstance(value, dict) and value and path
    ]
    if inner:
        largest = max(inner, key=lambda path: len(json.dumps(_at(document, path))))
        like = next(iter(_at(document, largest).values()))
        yield "inner keys", lambda: _with_keys(document, largest, like)
    texts = [path for path, value in _walked(document) if isinstance(value, str) and len(path) > 1]
    for name, piece in (("text", "word "), ("lines", "a\nb c\n"), ("quotes", '\\"')):
        if texts:
            longest_text = max(texts, key=lambda path: len(_at(document, path)))
            yield name, _with_text(document, longest_text, piece)


def _of_json_lines(documents: list[Any]) -> Iterator[tuple[str, Callable[[], bytes]]]:
    yield "rows", lambda: _joined(_copies(documents))
    yield "names", lambda: _joined(_renamed_copies(documents))
    yield "tiny", lambda: _joined([json.dumps(documents[0]), *_repeated("{}")])
    most = max(documents, key=lambda value: len(json.dumps(value)))
    for name, make in _of_document(most):
        yield f"one line, {name}", _behind(documents[0], make)


def _behind(first: Any, make: Callable[[], bytes]) -> Callable[[], bytes]:
    return lambda: json.dumps(first).encode() + b"\n" + make() + b"\n"


def _with_text(document: Any, path: tuple[Any, ...], piece: str) -> Callable[[], bytes]:
    return lambda: _put(document, path, piece * (SIZE // len(json.dumps(piece)[1:-1])))


def _walked(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _walked(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _walked(child, (*path, index))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _put(document: Any, path: tuple[Any, ...], value: Any) -> bytes:
    copy = json.loads(json.dumps(document))
    _at(copy, path[:-1])[path[-1]] = value
    return json.dumps(copy).encode()


def _filled(
    document: Any, path: tuple[Any, ...], opening: str, items: Iterable[str], ending: str
) -> bytes:
    """Return the document with this text in place of a value, so that it need not be parsed."""
    mark = "0e30a9-here"
    before, after = _put(document, path, mark).decode().split(f'"{mark}"')
    return f"{before}{opening}{','.join(items)}{ending}{after}".encode()


def _with_keys(document: Any, path: tuple[Any, ...], like: Any) -> bytes:
    written = json.dumps(like)
    count = SIZE // (len(written) + 14)
    fields = [f'"k{number}":{written}' for number in range(count)]
    known = [f"{json.dumps(key)}:{json.dumps(value)}" for key, value in _at(document, path).items()]
    body = ",".join([*known, *fields])
    return _filled(document, path, "{", [body], "}") if path else f"{{{body}}}".encode()


def _copies(rows: list[Any]) -> Iterator[str]:
    written = [json.dumps(row) for row in rows]
    for _ in range(SIZE // (sum(map(len, written)) + len(written)) + 1):
        yield from written


def _renamed_copies(rows: list[Any]) -> Iterator[str]:
    size, number = 0, 0
    while size < SIZE:
        for row in rows:
            number += 1
            written = json.dumps(_renamed(row, number))
            size += len(written) + 1
            yield written


def _renamed(value: Any, number: int, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _renamed(child, number, name) for name, child in value.items()}
    if isinstance(value, list):
        return [_renamed(child, number, key) for child in value]
    is_name = isinstance(value, str) and (_NAMING.search(key) or not key)
    return f"{value}-{number}" if is_name else value


def _repeated(text: str) -> list[str]:
    return [text] * (SIZE // (len(text) + 1))


def _joined(lines: Iterable[str]) -> bytes:
    return "\n".join(lines).encode() + b"\n"


# XML


def _of_xml(sample: bytes) -> Iterator[tuple[str, Callable[[], bytes]]]:
    leaf = min(
        re.findall(rb"<(\w+)[ >]", sample), key=lambda name: (-sample.count(b"<" + name), name)
    )
    found = re.search(rb"<" + leaf + rb"\b[^>]*?(?:/>|>.*?</" + leaf + rb">)", sample, re.DOTALL)
    assert found
    row, before, after = found[0], sample[: found.start()], sample[found.end() :]
    number = re.compile(rb'(name|id|title|message)="([^"]*)"', re.IGNORECASE)

    def filled(items: Iterable[bytes]) -> bytes:
        return before + b"".join(items) + after

    def named() -> Iterator[bytes]:
        for count in range(SIZE // (len(row) + 6)):
            yield number.sub(rb'\1="\2-%d"' % count, row)

    tag = b"<" + leaf
    yield "rows", lambda: filled([row] * (SIZE // len(row)))
    yield "names", lambda: filled(named())
    yield "tiny", lambda: filled([tag + b"/>"] * (SIZE // (len(tag) + 2)))
    yield "others", lambda: filled([b"<a/>"] * (SIZE // 4))
    yield "deep", lambda: before + (tag + b">") * (SIZE // (len(tag) + 1))
    yield "attribute", lambda: filled([tag + b' name="' + b"x" * SIZE + b'"/>'])
    yield (
        "attributes",
        lambda: filled([tag + b"".join(b' a%d="1"' % n for n in range(SIZE // 12)) + b"/>"]),
    )
    yield "text", lambda: filled([tag + b">" + b"word " * (SIZE // 5) + b"</" + leaf + b">"])
    yield "lines", lambda: filled([tag + b">" + b"a\n" * (SIZE // 2) + b"</" + leaf + b">"])
    yield "escapes", lambda: filled([tag + b">" + b"&lt;" * (SIZE // 4) + b"</" + leaf + b">"])


# Lines


def _of_lines(sample: bytes) -> Iterator[tuple[str, Callable[[], bytes]]]:
    lines = [line for line in sample.split(b"\n") if line]
    block = b"\n".join(lines) + b"\n"

    def renamed() -> bytes:
        out, size, count = io.BytesIO(), 0, 0
        while size < SIZE:
            for line in lines:
                count += 1
                size += out.write(re.sub(rb"\d{1,6}\b", b"%d" % (count % 10**8), line) + b"\n")
        return out.getvalue()

    yield "rows", lambda: block * (SIZE // len(block))
    yield "names", renamed
    yield "tiny", lambda: block + b"\n" * SIZE
    yield "words", lambda: block + b"a\n" * (SIZE // 2)
    yield "one line", lambda: lines[0] * (SIZE // len(lines[0]))
    longest = max(lines, key=len)
    # The line as it is, broken off, and gone mad in its middle.
    for stutter in _STUTTERS:
        yield f"stutter {stutter!r}", _stuttered(block, (lines[0], longest), stutter)


def _stuttered(block: bytes, lines: Iterable[bytes], stutter: bytes) -> Callable[[], bytes]:
    def make() -> bytes:
        out = io.BytesIO()
        out.write(block)
        while out.tell() < SIZE:
            for line in lines:
                for cut in (len(line) // 3, len(line) // 2, len(line) * 3 // 4, len(line)):
                    out.write(line[:cut] + stutter * (_LINE // len(stutter)) + line[cut:] + b"\n")
        return out.getvalue()

    return make


def main(formats: list[str]) -> None:
    """Print the costs of all readers or of those named, as they come."""
    readers = [reader for reader in READERS if not formats or reader.format in formats]
    for cost in costs(readers):
        print(
            f"{cost.format:<20}{cost.case:<28}{cost.seconds:6.2f} s {cost.peak_mb:6.0f} MB"
            f"  {cost.outcome[:90]}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
