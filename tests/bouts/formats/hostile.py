"""Inputs of 10 MB made to cost a reader dear, and what they do cost: `python -m` this, or import it.

Each is made of a sample of the format, so that the reader takes it for its own: a million tiny
records, as many different names, keys without end, nesting, one endless text, commands that quote
one another, calls by the hundred in one record, and for logs long lines of whatever makes a pattern
look twice. A reader is run on each in a forked process, whose
peak memory and processor time the kernel tells. Nothing is kept of the values, as in ingest.
"""

from __future__ import annotations

import io
import json
import os
import re
import resource
import shlex
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bouts.formats.guard import ReaderFault
from bouts.formats.sniff import HEAD_BYTES, READERS
from bouts.formats.types import Reader, Report, Unreadable
from bouts.formats.zipped import ZipFile
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
# Where trajectories have command lines, and what these can cost: many short commands, quotes in
# quotes, here-documents, substitutions, wrappers, and the words that edits and tests look for.
_COMMAND = re.compile(r"command|cmd|keystrokes|script|action")
_quoted = "ls"
for _ in range(6):
    _quoted = f"bash -c {shlex.quote(_quoted)}"
_COMMANDS = (
    *(
        "a;" * 40,
        "a && b | c || d; " * 6,
        _quoted,
        "cat > a <<'E'\nx\nE\n" * 6,
        "$(" * 40 + ")" * 40,
    ),
    *(
        "sudo env A=1 timeout 9 " * 6 + "pytest -q",
        "'" + '"' * 60,
        "\\" * 60,
        "(" * 60,
        "<<a " * 20,
    ),
    *(
        "git checkout .; git commit -m x; " * 4,
        "cp a b; mv b c; rm c; tee d; " * 4,
        "sed -i s/a/b/ c " * 6,
    ),
)


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
    if sample.startswith(b"PK"):
        yield from _of_zip(sample)
        return
    documents = _documents(sample)
    if len(documents) == 1 and isinstance(documents[0], dict):
        yield from _of_document(documents[0])
    elif len(documents) == 1 and isinstance(documents[0], list):
        rows = documents[0]
        yield "rows", lambda: f"[{','.join(_copies(rows))}]".encode()
        yield "names", lambda: f"[{','.join(_renamed_copies(rows))}]".encode()
        yield "tiny", lambda: f"[{','.join([json.dumps(rows[0]), *_repeated('{}')])}]".encode()
        if _has_commands(rows):
            yield "commands", lambda: f"[{','.join(_commanded_copies(rows))}]".encode()
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
        if _has_commands(rows):
            yield "commands", lambda: _filled(document, longest, "[", _commanded_copies(rows), "]")
        yield (
            "blanks",
            lambda: _filled(document, longest, "[" + "\n" * SIZE, map(json.dumps, rows), "]"),
        )
        inner = [path for path in lists if path[: len(longest)] == longest and path != longest]
        if inner:
            most = max(inner, key=lambda path: len(json.dumps(_at(document, path))))
            calls = _at(document, most)
            yield "inner rows", lambda: _filled(document, most, "[", _renamed_copies(calls), "]")
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
    yield (
        "blanks",
        lambda: _joined([json.dumps(documents[0]), "\n" * SIZE, json.dumps(documents[-1])]),
    )
    if _has_commands(documents):
        yield "commands", lambda: _joined(_commanded_copies(documents))
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


def _has_commands(rows: list[Any]) -> bool:
    return any(_is_command(path, value) for row in rows for path, value in _walked(row))


def _is_command(path: tuple[Any, ...], value: Any) -> bool:
    names = [step for step in path if isinstance(step, str)]
    return isinstance(value, str) and bool(names) and bool(_COMMAND.search(names[-1]))


def _commanded_copies(rows: list[Any]) -> Iterator[str]:
    """Yield the rows again and again, each command in them another one."""
    size, number = 0, 0
    while size < SIZE:
        for row in rows:
            copy = _renamed(row, number)
            for path, value in list(_walked(copy)):
                if _is_command(path, value):
                    number += 1
                    command = f"{_COMMANDS[number % len(_COMMANDS)]} # {number}"
                    _at(copy, path[:-1])[path[-1]] = command
            written = json.dumps(copy)
            size += len(written) + 1
            yield written


def _repeated(text: str) -> list[str]:
    return [text] * (SIZE // (len(text) + 1))


def _joined(lines: Iterable[str]) -> bytes:
    return "\n".join(lines).encode() + b"\n"


# ZIP


def _of_zip(sample: bytes) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Members by the thousand, of nothing and of names, and what unpacks to many times its size."""
    archive = ZipFile(io.BytesIO(sample))
    files = {name: archive.opened(name).read() for name in archive.names}
    row = next(name for name in files if name.startswith("samples/"))
    document = json.loads(files[row])

    def zipped(members: Iterable[tuple[str, bytes]], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", packing) as written:
            for name, data in [*((n, d) for n, d in files.items() if n != row), *members]:
                written.writestr(name, data)
        return out.getvalue()

    def named(count: int, data: bytes) -> Iterator[tuple[str, bytes]]:
        return ((f"samples/{number}_epoch_1.json", data) for number in range(count))

    most = min(4_900, SIZE // len(files[row]))  # the bound is 5,000 members; unpacked it counts
    yield "rows", lambda: zipped(named(most, files[row]))
    yield "tiny", lambda: zipped(named(most, b"{}"))
    yield "empty", lambda: zipped(named(most, b""))
    yield "many", lambda: zipped(named(60_000, b""), zipfile.ZIP_STORED)
    yield "foreign", lambda: zipped((f"{'x' * 900}{number}", b"") for number in range(most))
    for case, make in _of_document(document):
        yield f"one sample, {case}", lambda make=make: zipped([(row, make())], zipfile.ZIP_STORED)
    # As small as members may be packed: unpacked it is a hundred times as much.
    yield "bomb", lambda: zipped(named(40, files[row] + b" " * (100 * len(files[row]))))


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
    many = b"".join(b' a%d="1"' % n for n in range(100))
    yield "many attributes", lambda: filled([tag + many + b"/>"] * (SIZE // (len(tag + many) + 2)))
    yield "blanks", lambda: filled([b"\n" * SIZE, row])
    yield (
        "inner rows",
        lambda: filled([row[: row.index(b">") + 1].replace(b"/>", b">"), b"<a/>" * (SIZE // 4)]),
    )
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
    if block.startswith(b"diff --git"):
        yield from _of_diff()
    longest = max(lines, key=len)
    # The line as it is, broken off, and gone mad in its middle.
    for stutter in _STUTTERS:
        yield f"stutter {stutter!r}", _stuttered(block, (lines[0], longest), stutter)


def _of_diff() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Files of one line each, and hunks without end in one file."""
    head = b"diff --git a/f%d b/f%d\n--- a/f%d\n+++ b/f%d\n"
    hunk = b"@@ -%d +%d @@\n-a\n+b\n"

    def files() -> bytes:
        each = (head % ((n,) * 4) + hunk % (1, 1) for n in range(SIZE // 70))
        return b"".join(each)

    def hunks() -> bytes:
        return head % ((0,) * 4) + b"".join(hunk % (n, n) for n in range(1, SIZE // 26))

    yield "files", files
    yield "hunks", hunks
    yield (
        "one hunk",
        lambda: head % ((0,) * 4) + b"@@ -0,0 +1,%d @@\n" % (SIZE // 2) + b"+\n" * (SIZE // 2),
    )
    yield (
        "no hunks",
        lambda: b"".join(b"diff --git a/f%d b/f%d\n" % (n, n) for n in range(SIZE // 32)),
    )


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
