"""Tetragon: events in the shape of its JSON export, on one line or over many."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.tetragon import TetragonReader
from bouts.formats.types import Clock, Unreadable
from tests.bouts.formats.accesses import accesses, told
from tests.bouts.formats.reading import FIXTURES, notes, read


def hook(function: str, *args: dict[str, Any], **event: Any) -> str:
    inner = {"process": {"pid": 1, "cwd": "/work"}, "function_name": function, "args": args}
    return json.dumps({"process_kprobe": inner | event, "time": "2026-09-21T13:33:20Z"})


FILE = {"file_arg": {"path": "/a"}}


def test_events_become_accesses_out_of_order_and_with_their_process() -> None:
    found, report = read(TetragonReader(), FIXTURES / "tetragon.jsonl")
    assert [(a.action, a.target, a.allowed, a.line) for a in found] == [
        ("exec", "/usr/bin/cat", True, 1),
        ("read", "/secret/hidden.txt", False, 2),
        ("read", "/work/a", True, 3),
        ("connect", "93.184.216.34:443", False, 4),
        ("read", "/work/b", True, 5),
        ("write", "/work/b", True, 5),
    ]
    assert found[0].detail == '../secret/hidden.txt "two words"'
    assert [a.process for a in found[:4]] == ["51 cat", "51 cat", "51 cat", "52 curl"]
    assert found[3].detail.startswith("stopped by the policy (SIGKILL)")
    assert [a.t for a in found[:4]] == [0.0, 0.1, 0.2, 0.15]
    assert (report.clock, report.counts["lines"]) == (Clock.ZONED, 6)
    assert not report.notes


def test_objects_over_many_lines_are_read_and_point_at_where_they_begin() -> None:
    lines = (FIXTURES / "tetragon.jsonl").read_text().splitlines()
    pretty = "\n".join(json.dumps(json.loads(line), indent=2) for line in lines)
    found, report = read(TetragonReader(), pretty)
    assert told(found) == told(read(TetragonReader(), FIXTURES / "tetragon.jsonl")[0])
    assert all(pretty.split("\n")[access.line - 1] == "{" for access in found)
    assert not report.notes
    joined, _ = read(TetragonReader(), pretty.replace("\n}\n{\n", "\n}{\n"))
    assert told(joined) == told(found)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (hook("__x64_sys_read", FILE), [("read", "/a", True)]),
        (hook("vfs_read", FILE), [("read", "/a", None)]),
        (hook("fd_install", {"int_arg": 3}, FILE), [("access", "/a", True)]),
        (hook("security_file_permission", FILE, {"int_arg": 2}), [("write", "/a", None)]),
        (hook("security_file_permission", FILE), [("access", "/a", None)]),
        (hook("security_path_truncate", {"path_arg": {"path": "/a"}}), [("write", "/a", None)]),
        (hook("sys_openat", {"string_arg": "a"}), [("access", "/work/a", None)]),
        (
            hook("sys_openat", {"int_arg": 3}, {"string_arg": "a"}, {"int_arg": 1}),
            [("write", "/work/a", None)],
        ),
        (
            hook("sys_unlink", {"string_arg": "/a"}, **{"return": {"int_arg": 0}}),
            [("delete", "/a", True)],
        ),
        (hook("do_mount", {"string_arg": "/a"}), [("do_mount", "/a", None)]),
        (hook("sys_setuid", {"int_arg": 0}), []),
        (
            hook(
                "security_socket_connect",
                {"sockaddr_arg": {"family": "AF_INET6", "addr": "::1", "port": 80}},
            ),
            [("connect", "[::1]:80", None)],
        ),
        (hook("tcp_close", {"sock_arg": {"daddr": "1.2.3.4", "dport": 80}}), []),
        (hook("sys_read", FILE, action="KPROBE_ACTION_OVERRIDE"), [("read", "/a", False)]),
    ],
)
def test_every_sort_of_hook_is_told(line: str, expected: list[Any]) -> None:
    assert told(accesses(TetragonReader(), line)) == expected


def test_a_path_without_its_first_slash_is_given_one_and_that_is_noted() -> None:
    found, report = read(TetragonReader(), hook("sys_read", {"file_arg": {"path": "usr/a"}}))
    assert found[0].target == "/usr/a"
    assert "is given one" in notes(report)


def test_parts_that_tetragon_missed_do_no_harm() -> None:
    found, report = read(
        TetragonReader(),
        '{"process_exec":{"process":{"flags":"unknown"}},"time":"2026-09-21T13:33:20Z"}\n'
        '{"process_kprobe":{"function_name":"sys_read","args":[null,{"file_arg":null}]},"time":"?"}\n'
        '{"process_exec":null,"node_name":"x"}\n',
    )
    assert found == []
    assert "is not named (2 times)" in notes(report)
    assert "a time that cannot be read" in notes(report)


def test_a_file_without_an_event_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="no event of Tetragon"):
        read(TetragonReader(), '{"a": 1}\n')


def test_an_object_that_is_cut_off_is_noted() -> None:
    _, report = read(TetragonReader(), hook("sys_read", FILE) + '\n{\n  "process_exec": {\n')
    assert "the last object is cut off and is passed over [line 2]" in notes(report)
