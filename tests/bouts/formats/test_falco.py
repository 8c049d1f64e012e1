"""Falco: alerts in the shape that its JSON output has, fields as each rule puts them out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.falco import FalcoReader
from bouts.formats.types import Clock, Unreadable
from tests.bouts.formats.accesses import accesses, told
from tests.bouts.formats.reading import FIXTURES, notes, read


def alert(**fields: Any) -> str:
    named = {key.replace("__", "."): value for key, value in fields.items()}
    record = {"output": "o", "priority": "Notice", "rule": "r", "time": "2026-09-21T13:33:20Z"}
    return json.dumps(record | {"output_fields": named})


def test_alerts_become_accesses_as_far_as_their_fields_tell() -> None:
    found, report = read(FalcoReader(), FIXTURES / "falco.jsonl")
    assert [(a.action, a.target, a.allowed, a.line) for a in found] == [
        ("read", "/secret/hidden.txt", True, 1),
        ("read", "/secret/other.txt", False, 2),
        ("connect", "93.184.216.34:443", None, 3),
        ("access", "/work/a", None, 4),
        ("alert", "Terminal shell in container", None, 5),
        ("exec", "/usr/bin/nc", True, 6),
    ]
    assert found[0].process == "41 cat"
    assert found[0].detail == "cat /secret/hidden.txt (rule Read sensitive file untrusted)"
    assert found[3].process is None
    assert "A shell was spawned" in found[4].detail
    assert (report.clock, report.counts["lines"]) == (Clock.ZONED, 6)
    assert found[1].t == pytest.approx(0.876543, abs=1e-6)  # nine digits behind the point
    assert "does not put out how the call ended [line 4]" in notes(report)


@pytest.mark.parametrize(
    ("fields", "allowed"),
    [
        ({"evt__res": "SUCCESS"}, True),
        ({"evt__res": "EPERM"}, False),
        ({"evt__rawres": -13}, False),
        ({"evt__rawres": "-2"}, None),
        ({"evt__failed": False}, True),
        ({"fd__num": 3}, True),
        ({"fd__num": -1}, None),
        ({"evt__failed": True}, None),
        ({}, None),
    ],
)
def test_how_a_call_ended_is_known_only_where_the_rule_says_so(
    fields: dict[str, Any], allowed: bool | None
) -> None:
    line = alert(evt__type="open", evt__is_open_read=True, fd__name="/a", **fields)
    assert told(accesses(FalcoReader(), line)) == [("read", "/a", allowed)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"evt__type": "connect", "fd__sip": "::1", "fd__sport": 80}, ("connect", "[::1]:80")),
        ({"evt__type": "connect", "fd__name": "/run/x.sock"}, ("local", "/run/x.sock")),
        ({"evt__type": "sendto", "fd__name": "1.1.1.1:9->8.8.8.8:53"}, ("send", "8.8.8.8:53")),
        ({"evt__type": "unlinkat", "fs__path__name": "/a"}, ("delete", "/a")),
        ({"evt__type": "execve", "proc__cmdline": "ls -l"}, ("exec", "ls")),
        ({"evt__type": "read", "fd__name": "/a"}, ("read", "/a")),
        ({"evt__type": "ptrace"}, ("alert", "r")),
        ({"evt__type": "open", "fd__name": "<NA>"}, ("alert", "r")),
        ({"evt__type": 5, "fd__name": ["/a"]}, ("alert", "r")),
    ],
)
def test_every_sort_of_event_is_told(fields: dict[str, Any], expected: tuple[str, str]) -> None:
    (access,) = accesses(FalcoReader(), alert(**fields))
    assert (access.action, access.target) == expected


def test_a_rename_tells_both_names_where_it_has_them() -> None:
    line = alert(evt__type="rename", fs__path__source="/a", fs__path__target="/b")
    assert [(a.action, a.target) for a in accesses(FalcoReader(), line)] == [
        ("delete", "/a"),
        ("rename", "/b"),
    ]


def test_nanoseconds_serve_where_the_alert_has_no_time() -> None:
    record = {"output": "o", "priority": "Notice", "rule": "r"}
    lines = [
        json.dumps(record | {"output_fields": {"evt.time.iso8601": 1790000000_000000000 + ns}})
        for ns in (0, 250_000_000)
    ]
    found, report = read(FalcoReader(), "\n".join(lines))
    # The same alert again is a repeat, which is counted.
    assert (len(found), report.counts["repeated"]) == (1, 1)
    assert report.origin == "2026-09-21T14:13:20+00:00"


def test_lines_of_others_are_noted_and_none_of_its_own_is_unreadable() -> None:
    _, report = read(FalcoReader(), f"Falco initialized\n{alert()}\n{{}}\n[]\n")
    assert "no JSON object is passed over (2 times) [line 1]" in notes(report)
    assert "an object that is no alert is passed over [line 3]" in notes(report)
    with pytest.raises(Unreadable, match="no alert of Falco"):
        read(FalcoReader(), '{"a": 1}\n')
