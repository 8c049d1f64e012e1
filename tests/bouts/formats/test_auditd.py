"""auditd: records in the shape that its documentation and the kernel's source give them."""

from __future__ import annotations

import pytest

from bouts.formats import auditd
from bouts.formats.auditd import AuditdReader
from bouts.formats.types import Access, Clock, Unreadable
from tests.bouts.formats.accesses import accesses, told
from tests.bouts.formats.reading import FIXTURES, notes, read


def call(number: int, rest: str, serial: int = 1) -> str:
    return (
        f"type=SYSCALL msg=audit(1790000000.100:{serial}): arch=c000003e syscall={number} "
        f'{rest} pid=7 comm="x" exe="/bin/x"'
    )


def path(name: str, type: str = "NORMAL", item: int = 0, serial: int = 1) -> str:
    return f"type=PATH msg=audit(1790000000.100:{serial}): item={item} name={name} nametype={type}"


def test_a_log_is_told_by_its_events_and_each_points_at_the_record_that_names_it() -> None:
    found, report = read(AuditdReader(), FIXTURES / "auditd.log")
    assert [(a.action, a.target, a.allowed, a.line) for a in found] == [
        ("exec", "/bin/sh", True, 5),
        ("read", "/secret/hidden file.txt", False, 9),
        ("write", "/work/out/new.txt", True, 14),
        ("delete", "/work/a", True, 19),
        ("rename", "/work/b", True, 20),
        ("connect", "93.184.216.34:443", None, 22),
        ("connect", "[2001:db8::1]:80", True, 24),
        ("local", "/run/docker.sock", True, 26),
        ("syscall", "ptrace", False, 27),
        ("read", "/secret/hidden.txt", False, 28),
        ("read", "shadow", False, 29),
        ("exec", "ls", False, 30),
    ]
    assert found[0].detail == "/bin/sh -c cat ../secret/hidden.txt"
    assert (found[0].process, found[0].t) == ("3001 sh", 0.0)
    assert (found[1].detail, found[5].detail) == ("EACCES", "EINPROGRESS")
    assert (report.clock, report.origin) == (Clock.ZONED, "2026-09-21T14:13:20.100000+00:00")
    assert (report.counts["lines"], report.counts["events"]) == (30, 11)
    assert not report.notes


def test_records_of_two_events_may_lie_between_each_other_and_end_when_they_say_so() -> None:
    found = accesses(
        AuditdReader(),
        call(2, "success=yes exit=3 a1=0", serial=1),
        call(2, "success=no exit=-2 a1=0", serial=2),
        path('"/b"', serial=2),
        path('"/a"', serial=1),
        "type=EOE msg=audit(1790000000.100:2): ",
    )
    assert told(found) == [("read", "/b", None), ("read", "/a", True)]


@pytest.mark.parametrize(
    ("line", "action"),
    [
        (call(2, "success=yes exit=3 a1=0"), ["read"]),
        (call(2, "success=yes exit=3 a1=2"), ["read", "write"]),
        (call(257, "success=yes exit=3 a0=ffffff9c a2=241"), ["write"]),
        (call(257, "success=yes exit=3 a0=ffffff9c a2=200000"), []),
        (call(437, "success=yes exit=3 a0=ffffff9c a2=7ffc"), ["access"]),
        (call(87, "success=yes exit=0"), ["delete"]),
        (call(59, "success=yes exit=0"), ["exec"]),
        (call(0, "success=yes exit=9"), []),
        (call(99999, "success=yes exit=9"), []),
    ],
)
def test_a_call_is_known_by_its_number_and_flags(line: str, action: list[str]) -> None:
    assert [access.action for access in accesses(AuditdReader(), line, path('"/a"'))] == action


def test_the_flags_of_openat2_stand_in_a_record_of_their_own() -> None:
    record = "type=OPENAT2 msg=audit(1790000000.100:1): oflag=0100001 mode=0600 resolve=0x0"
    line = call(437, "success=yes exit=3 a0=ffffff9c a2=7ffc")
    assert told(accesses(AuditdReader(), line, record, path('"/a"'))) == [("write", "/a", True)]


@pytest.mark.parametrize(
    ("ending", "allowed"),
    [
        ("success=yes exit=3", True),
        ("success=no exit=-13", False),
        ("success=no exit=-2", None),
        ("success=no exit=?", None),
        ("exit=0", None),
    ],
)
def test_how_a_call_ended_is_never_guessed(ending: str, allowed: bool | None) -> None:
    found = accesses(AuditdReader(), call(2, f"{ending} a1=0"), path('"/a"'))
    assert told(found) == [("read", "/a", allowed)]


def test_a_path_from_an_open_folder_stays_relative() -> None:
    cwd = 'type=CWD msg=audit(1790000000.100:1): cwd="/work"'
    for folder, target in (("ffffff9c", "/work/x"), ("3", "x")):
        line = call(257, f"success=yes exit=4 a0={folder} a2=0")
        assert accesses(AuditdReader(), line, cwd, path('"x"'))[0].target == target


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('"/a"', "/a"),
        ("2F6120622E747874", "/a b.txt"),
        ("2F610A62", "/a␊b"),
        ("2F61FF", "/a\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_a_value_without_quotes_is_text_in_hexadecimal(written: str, text: str) -> None:
    (access,) = accesses(AuditdReader(), call(2, "success=yes exit=3 a1=0"), path(written))
    assert access.target == text


def test_records_of_nodes_and_of_the_kernel_are_understood() -> None:
    found = accesses(
        AuditdReader(),
        "node=a " + call(2, "success=yes exit=3 a1=0"),
        "node=b " + call(2, "success=no exit=-13 a1=0"),
        "node=a " + path('"/a"'),
        "node=b " + path('"/b"'),
        "Sep 21 13:33:20 host kernel: audit: type=1300 audit(1790000009.100:3): arch=c000003e "
        'syscall=59 success=yes exit=0 pid=9 comm="y" exe="/bin/y"',
    )
    assert told(found) == [
        ("read", "/a", True),
        ("read", "/b", False),
        ("exec", "/bin/y", True),
    ]


@pytest.mark.parametrize(
    ("code", "allowed"),
    [("0x0", False), ("0x50001", False), ("0x7ffc0000", True), ("0x7ff00000", None), ("x", None)],
)
def test_what_a_filter_answered_decides_about_a_system_call(
    code: str, allowed: bool | None
) -> None:
    line = f"type=SECCOMP msg=audit(1.5:1): pid=1 arch=c000003e syscall=42 code={code}"
    assert told(accesses(AuditdReader(), line)) == [("syscall", "connect", allowed)]


def test_a_permissive_selinux_refuses_nothing() -> None:
    line = (
        "type=AVC msg=audit(1.5:1): avc:  denied  { write } for  pid=1 "
        'name="a" tclass=file permissive=1'
    )
    assert told(accesses(AuditdReader(), line)) == [("write", "a", True)]


def test_what_a_call_tells_an_avc_record_does_not_tell_again() -> None:
    avc = 'type=AVC msg=audit(1790000000.100:1): apparmor="DENIED" name="/a" requested_mask="r"'
    found = accesses(AuditdReader(), avc, call(2, "success=no exit=-13 a1=0"), path('"/a"'))
    assert told(found) == [("read", "/a", False)]


def test_interpreted_records_are_refused_with_the_reason() -> None:
    line = "type=SYSCALL msg=audit(11/30/2026 14:00:00.123:485) : arch=x86_64 syscall=execve\n"
    assert AuditdReader().recognises(line.encode())
    with pytest.raises(Unreadable, match="the raw log is needed"):
        read(AuditdReader(), line)


def test_a_file_without_records_is_unreadable_and_other_lines_are_noted() -> None:
    with pytest.raises(Unreadable, match="no line of it is an audit record"):
        read(AuditdReader(), "hello\n")
    _, report = read(AuditdReader(), f"hello\n{call(2, 'success=yes')}\n")
    assert "no audit record is passed over" not in notes(report)
    assert "a line that is no audit record [line 1]" in notes(report)


def test_an_event_is_told_when_its_window_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditd, "WINDOW", 1)
    found: list[Access] = accesses(
        AuditdReader(),
        call(2, "success=yes exit=3 a1=0", serial=1),
        call(2, "success=yes exit=3 a1=0", serial=2),
        path('"/b"', serial=2),
        path('"/late"', serial=1),
    )
    assert told(found) == [("read", "/b", True)]
