"""strace: every way in which it writes a line, and what becomes of it."""

from __future__ import annotations

import pytest

from bouts.formats import strace
from bouts.formats.sandbox import accesses as making
from bouts.formats.strace import StraceReader
from bouts.formats.types import Access, Clock, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read

LOGS = {
    "strace-ttt-y.log": Clock.ZONED,
    "strace-tt.log": Clock.NAIVE,
    "strace-r.log": Clock.RELATIVE,
    "strace-bare.log": Clock.NONE,
    "strace-Y-T-yy.log": Clock.ZONED,
}


def accesses(*lines: str) -> list[Access]:
    return read(StraceReader(), "".join(f"{line}\n" for line in lines))[0]


def only(*lines: str) -> Access:
    (access,) = accesses(*lines)
    return access


def told(found: list[Access]) -> list[tuple[str, str, bool | None]]:
    return [(access.action, access.target, access.allowed) for access in found]


# What strace itself wrote


@pytest.mark.parametrize("name", LOGS)
def test_each_way_of_writing_tells_the_same_acts(name: str) -> None:
    found, report = read(StraceReader(), FIXTURES / name)
    acts = told(found)
    shows_folders = "y" in name.partition("-")[2].replace("ttt", "")
    # Without -y nothing shows where the shell stood when it began.
    folder, secret = ("/room/acts/", "/room/secret/") if shows_folders else ("", "../secret/")
    for act in (
        ("write", f"{folder}made.txt", True),
        ("read", f"{secret}hidden.txt", True),
        ("read", f"{folder}missing.txt", None),
        ("delete", f"{folder}made.txt", True),
        ("rename", f"{folder}renamed␊here.txt", True),
        ("connect", "127.0.0.1:9", False),
    ):
        assert act in acts, act
    started = [access for access in found if access.action == "exec" and access.allowed]
    assert [access.detail.split()[0] for access in started] == ["bash", "cat", "cat", "mv", "cat"]
    assert report.clock is LOGS[name]
    assert not report.notes


@pytest.mark.parametrize("name", LOGS)
def test_times_go_forward_from_the_first_line(name: str) -> None:
    found, report = read(StraceReader(), FIXTURES / name)
    times = [access.t for access in found]
    if LOGS[name] is Clock.NONE:
        assert set(times) == {None}
        return
    assert times[0] == 0.0
    assert all(0 <= t < 60 for t in times if t is not None)
    assert times == sorted(times)
    assert (report.origin is not None) is (LOGS[name] is Clock.ZONED)


def test_lines_are_numbered_as_in_the_log() -> None:
    lines = (FIXTURES / "strace-ttt-y.log").read_text().split("\n")
    for access in read(StraceReader(), FIXTURES / "strace-ttt-y.log")[0]:
        name = access.target.rpartition("/")[2].replace("␊", "\\n").partition(":")[0]
        assert name in lines[access.line - 1]


# Prefixes


@pytest.mark.parametrize(
    ("prefix", "process"),
    [
        ("", None),
        ("[pid  1234] ", "1234"),
        ("[pid 1234<sh>] ", "1234"),
        ("1234 ", "1234"),
        ("1234<python3> ", "1234"),
        ("1234  12:00:00 ", "1234"),
        ("12:00:00.123456 ", None),
        ("1234 1697048351.000001 ", "1234"),
        ("1697048351.000001 ", None),
        ("     0.000123 ", None),
        ("     0 ", None),
        ("1697048351 ", None),
        ("12:00:00.123456789 ", None),
        ("1234      0.000123 ", "1234"),
        ("1234 1697048351.000001 (+     0.000016) ", "1234"),
        ("1234 12:26:40 [ 257] [00007f6dd1116011] ", "1234"),
        ("[00007f6dd1116011] ", None),
    ],
)
def test_every_prefix_is_understood(prefix: str, process: str | None) -> None:
    access = only(f'{prefix}openat(AT_FDCWD, "/a", O_RDONLY) = 3')
    assert (access.target, access.process) == ("/a", process)


def test_a_duration_and_a_comment_behind_the_result_are_passed_over() -> None:
    line = 'openat(AT_FDCWD, "/a", O_RDONLY) = -1 EACCES (Permission denied) <0.000012>'
    assert (only(line).allowed, only(line).detail) == (False, "EACCES")


# Calls


@pytest.mark.parametrize(
    ("line", "action", "target", "allowed"),
    [
        ('open("/a", O_RDONLY) = 3', "read", "/a", True),
        ('open("/a", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3', "write", "/a", True),
        ('openat2(AT_FDCWD, "/a", {flags=O_RDONLY, resolve=0}, 24) = 3', "read", "/a", True),
        ('creat("/a", 0644) = 3', "write", "/a", True),
        ('truncate("/a", 0) = 0', "write", "/a", True),
        ('unlink("/a") = 0', "delete", "/a", True),
        ('unlinkat(AT_FDCWD, "/a", AT_REMOVEDIR) = 0', "delete", "/a", True),
        ('rmdir("/a") = -1 EPERM (Operation not permitted)', "delete", "/a", False),
        ('link("/b", "/a") = 0', "rename", "/a", True),
        ('symlinkat("/b", AT_FDCWD, "/a") = 0', "rename", "/a", True),
        (
            'execve("/a", ["a"], 0x7ff /* 3 vars */) = -1 ENOENT (No such file or directory)',
            "exec",
            "/a",
            None,
        ),
        ('openat(AT_FDCWD, "/a", O_RDONLY) = ?', "read", "/a", None),
        (
            'openat(AT_FDCWD, "/a", O_WRONLY) = -1 EROFS (Read-only file system)',
            "write",
            "/a",
            False,
        ),
        (
            'connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("93.184.216.34")}, 16) = 0',
            "connect",
            "93.184.216.34:443",
            True,
        ),
        (
            'connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.1")}, 16) = -1 ENETUNREACH (Network is unreachable)',
            "connect",
            "10.0.0.1:80",
            False,
        ),
        (
            'connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.1")}, 16) = -1 EINPROGRESS (Operation now in progress)',
            "connect",
            "10.0.0.1:80",
            None,
        ),
        (
            'connect(3, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "2001:db8::1", &sin6_addr), sin6_scope_id=0}, 28) = 0',
            "connect",
            "[2001:db8::1]:80",
            True,
        ),
        (
            'connect(3, {sa_family=AF_UNIX, sun_path="/run/docker.sock"}, 110) = 0',
            "local",
            "/run/docker.sock",
            True,
        ),
        (
            'connect(3, {sa_family=AF_UNIX, sun_path=@"/tmp/.X11"}, 110) = 0',
            "local",
            "@/tmp/.X11",
            True,
        ),
        (
            'sendto(4, "hi", 2, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("8.8.8.8")}, 16) = 2',
            "send",
            "8.8.8.8:53",
            True,
        ),
        (
            'sendmsg(4, {msg_name={sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("8.8.8.8")}, msg_namelen=16, msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1}, 0) = 1',
            "send",
            "8.8.8.8:53",
            True,
        ),
    ],
)
def test_every_call_of_interest_is_an_access(
    line: str, action: str, target: str, allowed: bool | None
) -> None:
    assert told(accesses(line)) == [(action, target, allowed)]


@pytest.mark.parametrize(
    "line",
    [
        'read(3, "openat(", 7) = 7',
        'newfstatat(AT_FDCWD, "/a", {st_mode=S_IFREG}, 0) = 0',
        'access("/a", R_OK) = 0',
        "connect(3, {sa_family=AF_UNSPEC}, 16) = 0",
        "connect(3, {sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12) = 0",
        'sendto(3, "x", 1, 0, NULL, 0) = 1',
        'bind(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("0.0.0.0")}, 16) = 0',
        "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---",
        "+++ exited with 0 +++",
        "strace: Process 12 attached",
        " > /lib/libc.so.6(open+0x10) [0x100]",
    ],
)
def test_other_lines_are_no_access(line: str) -> None:
    assert accesses(line) == []


@pytest.mark.parametrize(
    ("flags", "actions"),
    [
        ("O_RDWR|O_CLOEXEC", ["read", "write"]),
        ("O_RDWR|O_CREAT|O_APPEND, 0666", ["read", "write"]),
        ("O_RDWR|O_CREAT|O_TRUNC, 0666", ["write"]),
        ("O_RDWR|O_CREAT|O_EXCL, 0666", ["write"]),
        ("O_RDONLY|O_CREAT, 0666", ["write"]),
        ("O_RDONLY|O_PATH", []),
    ],
)
def test_opening_for_both_is_reading_too_unless_nothing_can_be_in_the_file(
    flags: str, actions: list[str]
) -> None:
    found = accesses(f'openat(AT_FDCWD, "/a", {flags}) = 3')
    assert [access.action for access in found] == actions


def test_a_path_that_is_named_like_a_flag_does_not_turn_a_read_into_a_write() -> None:
    for line in (
        'openat(AT_FDCWD, "/a/O_WRONLY/../x", O_RDONLY) = 3',
        'openat(AT_FDCWD</a/O_PATH>, "x", O_RDONLY) = 3',
        'open("/a/O_PATH/../x", O_RDONLY) = 3',
    ):
        assert only(line).action == "read"


def test_an_open_by_handle_is_told_where_the_log_shows_its_path() -> None:
    handle = "{handle_bytes=8, handle_type=1, f_handle=0x01}"
    assert accesses(f"open_by_handle_at(3, {handle}, O_RDONLY) = 4") == []
    access = only(f"open_by_handle_at(3</>, {handle}, O_RDONLY) = 4</secret>")
    assert (access.action, access.target) == ("read", "/secret")


def test_every_host_that_one_call_names_is_told() -> None:
    message = (
        "{{msg_hdr={{msg_name={{sa_family=AF_INET, sin_port=htons(53), "
        'sin_addr=inet_addr("{}")}}, msg_namelen=16}}, msg_len=1}}'
    )
    both = ", ".join(message.format(host) for host in ("1.1.1.1", "8.8.8.8"))
    found = accesses(f"sendmmsg(4, [{both}], 2, 0) = 2")
    assert [access.target for access in found] == ["1.1.1.1:53", "8.8.8.8:53"]


@pytest.mark.parametrize(
    ("target", "host"),
    [
        ("1.2.3.4:80", "1.2.3.4"),
        ("1.2.3.4", "1.2.3.4"),
        ("[2001:db8::1]:80", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("a.example:443", "a.example"),
    ],
)
def test_the_host_of_an_access_is_told_without_its_port(target: str, host: str) -> None:
    assert Access("connect", target, True, 1).host == host


def test_what_a_program_writes_is_not_taken_for_an_address() -> None:
    text = r"sin_port=htons(53), sin_addr=inet_addr(\"8.8.8.8\")"
    assert accesses(f'sendto(3, "{text}", 50, 0, NULL, 0) = 50') == []


@pytest.mark.parametrize(
    ("line", "noted"),
    [
        ("io_uring_setup(8, {flags=0}) = 3", "set up io_uring"),
        ('chroot("/jail") = 0', "changed its root"),
    ],
)
def test_what_the_log_cannot_show_is_said(line: str, noted: str) -> None:
    _, report = read(StraceReader(), f"{line}\n")
    assert noted in notes(report)


def test_a_rename_takes_one_name_away_and_makes_another() -> None:
    found = accesses('renameat2(AT_FDCWD, "/a", AT_FDCWD, "/b", RENAME_NOREPLACE) = 0')
    assert told(found) == [("delete", "/a", True), ("rename", "/b", True)]


def test_a_program_is_told_with_its_command_line() -> None:
    line = 'execve("/bin/sh", ["sh", "-c", "rm \\"x\\" "...], 0x7ff /* 3 vars */) = 0'
    assert only(line).detail == 'sh -c rm "x" …'


@pytest.mark.parametrize(
    ("written", "path"),
    [
        (r"/a\nb\t\"c\"\\", '/a␊b␉"c"\\'),
        (r"/\303\244", "/ä"),
        (r"/\xc3\xa4", "/ä"),
        (r"/\377", "/\N{REPLACEMENT CHARACTER}"),
        (r"/a\0b", "/a␀b"),
        ('/x) = 3, "y', '/x) = 3, "y'),
    ],
)
def test_strings_are_read_as_they_were_before_strace_wrote_them(written: str, path: str) -> None:
    quoted = written.replace('"y', '\\"y') if "= 3" in written else written
    assert only(f'openat(AT_FDCWD, "{quoted}", O_RDONLY) = 3').target == path


def test_a_path_that_was_cut_says_so() -> None:
    assert only('openat(AT_FDCWD, "/very/lo"..., O_RDONLY) = 3').target == "/very/lo…"


# Halves


def test_an_unfinished_call_is_joined_with_its_other_half() -> None:
    found = accesses(
        '1 1697048351.5 openat(AT_FDCWD, "/a", O_RDONLY <unfinished ...>',
        '2 1697048352.0 openat(AT_FDCWD, "/b", O_RDONLY) = 3',
        "1 1697048353.0 <... openat resumed>) = -1 EACCES (Permission denied)",
    )
    assert told(found) == [("read", "/b", True), ("read", "/a", False)]
    assert (found[1].line, found[1].t, found[1].process) == (1, 0.0, "1")


def test_an_older_way_of_resuming_is_understood() -> None:
    found = accesses(
        "1 connect(3,  <unfinished ...>",
        '1 <... connect resumed> {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("1.2.3.4")}, 16) = 0',
    )
    assert told(found) == [("connect", "1.2.3.4:80", True)]


def test_a_call_that_never_ended_was_an_attempt() -> None:
    access = only(
        '1 openat(AT_FDCWD, "/a", O_RDONLY <unfinished ...>', "1 +++ killed by SIGKILL +++"
    )
    assert (access.target, access.allowed, access.detail) == ("/a", None, "unfinished")


def test_a_call_that_its_process_did_not_survive_is_told_when_it_ends() -> None:
    found = accesses(
        '1 openat(AT_FDCWD, "/a", O_RDONLY <unfinished ...>',
        "1 +++ killed by SIGKILL +++",
        '1 openat(AT_FDCWD, "/b", O_RDONLY) = 3',
    )
    assert told(found) == [("read", "/a", None), ("read", "/b", True)]


def test_a_resumed_call_without_a_beginning_is_noted() -> None:
    found, report = read(StraceReader(), "1 <... openat resumed>) = 3\n")
    assert found == []
    assert "beginning is missing [line 1]" in notes(report)


def test_a_log_that_ends_in_the_middle_of_a_line_tells_what_it_has() -> None:
    (access,), report = read(StraceReader(), 'getpid() = 1\nopenat(AT_FDCWD, "/a", O_RDO')
    assert (access.target, access.allowed) == ("/a", None)
    assert "a call that is cut off [line 2]" in notes(report)


# Where a process stands


def test_a_relative_path_starts_where_its_process_stands() -> None:
    found = accesses(
        'openat(AT_FDCWD, "x", O_RDONLY) = 3',
        'chdir("/w") = 0',
        'openat(AT_FDCWD, "../secret/y", O_RDONLY) = 3',
        'chdir("sub") = 0',
        'unlink("z") = 0',
        'chdir("/nowhere") = -1 ENOENT (No such file or directory)',
        'unlink("zz") = 0',
    )
    assert [access.target for access in found] == ["x", "/secret/y", "/w/sub/z", "/w/sub/zz"]


def test_a_path_may_start_from_an_open_folder() -> None:
    found = accesses(
        'openat(AT_FDCWD, "/w", O_RDONLY|O_DIRECTORY) = 3',
        'openat(3, "x", O_RDONLY) = 4',
        'openat(3</real/w>, "y", O_RDONLY) = 4',
        "fchdir(3) = 0",
        'unlink("z") = 0',
        'openat(AT_FDCWD, "/file", O_RDONLY) = 3',
        'openat(3, "unknown", O_RDONLY) = 5',
    )
    assert [access.target for access in found] == [
        *("/w", "/w/x", "/real/w/y", "/w/z", "/file", "unknown"),
    ]


def test_a_descriptor_is_followed_through_copies_and_until_it_is_closed() -> None:
    found = accesses(
        'open("/w", O_RDONLY|O_DIRECTORY) = 3',
        "fcntl(3, F_DUPFD_CLOEXEC, 10) = 10",
        "dup2(3, 4) = 4",
        "close(3) = 0",
        'unlinkat(10, "a", 0) = 0',
        'unlinkat(4, "b", 0) = 0',
        'unlinkat(3, "c", 0) = 0',
        "dup2(1, 4) = 4",
        'unlinkat(4, "d", 0) = 0',
    )
    assert [access.target for access in found] == ["/w", "/w/a", "/w/b", "c", "d"]


def test_a_folder_that_is_gone_is_still_where_it_was() -> None:
    found = accesses('openat(3</w>(deleted), "x", O_RDONLY) = 4</w/x>(deleted)')
    assert told(found) == [("read", "/w/x", True)]


def test_a_child_stands_where_its_parent_stood_and_goes_its_own_way() -> None:
    found = accesses(
        '1 chdir("/w") = 0',
        "1 clone(child_stack=NULL, flags=SIGCHLD) = 2",
        '2 unlink("a") = 0',
        '2 chdir("/v") = 0',
        '2 unlink("b") = 0',
        '1 unlink("c") = 0',
    )
    assert [access.target for access in found] == ["/w/a", "/v/b", "/w/c"]


def test_threads_stand_together() -> None:
    found = accesses(
        "1 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD) = 2",
        '2 chdir("/v") = 0',
        '1 unlink("c") = 0',
    )
    assert found[0].target == "/v/c"


def test_a_child_that_is_heard_of_before_its_birth_is_placed_then() -> None:
    found = accesses(
        '1 chdir("/w") = 0',
        "1 vfork( <unfinished ...>",
        '2 unlink("a") = 0',
        "1 <... vfork resumed>) = 2",
        '2 unlink("b") = 0',
    )
    assert [access.target for access in found] == ["/w/a", "/w/b"]


def test_a_child_of_one_of_two_parents_is_not_placed_by_guessing() -> None:
    found = accesses(
        '1 chdir("/w") = 0',
        '2 chdir("/v") = 0',
        "1 vfork( <unfinished ...>",
        "2 vfork( <unfinished ...>",
        '3 unlink("a") = 0',
        "2 <... vfork resumed>) = 3",
        '3 unlink("b") = 0',
    )
    assert [access.target for access in found] == ["a", "/v/b"]


def test_where_a_link_leads_is_told_where_the_log_shows_it() -> None:
    assert only('openat(AT_FDCWD</w>, "link", O_RDONLY) = 3</secret/file>').target == "/secret/file"
    assert (
        only('openat(AT_FDCWD</w>, "/dev/null", O_RDONLY) = 3</dev/null<char 1:3>>').target
        == "/dev/null"
    )


# Repeats


def test_a_repeat_by_the_same_process_is_counted_and_not_yielded() -> None:
    line = '1 openat(AT_FDCWD, "/w/a", O_RDONLY) = 3'
    found, report = read(StraceReader(), f"{line}\n" * 3)
    assert len(found) == 1
    assert report.counts["repeated"] == 2


def test_another_outcome_or_another_process_is_no_repeat() -> None:
    found = accesses(
        '1 openat(AT_FDCWD, "/w/a", O_RDONLY) = 3',
        '1 openat(AT_FDCWD, "/w/a", O_RDONLY) = -1 EACCES (Permission denied)',
        '1 openat(AT_FDCWD, "/w/a", O_WRONLY) = 3',
        '2 openat(AT_FDCWD, "/w/a", O_RDONLY) = 3',
    )
    assert len(found) == 4


def test_a_library_is_told_once_whoever_asks_and_a_refused_one_each_time() -> None:
    found = accesses(
        '1 openat(AT_FDCWD, "/usr/lib/x.so", O_RDONLY) = 3',
        '2 openat(AT_FDCWD, "/usr/lib/x.so", O_RDONLY) = 3',
        '1 openat(AT_FDCWD, "/usr/lib/y.so", O_RDONLY) = -1 EACCES (Permission denied)',
        '2 openat(AT_FDCWD, "/usr/lib/y.so", O_RDONLY) = -1 EACCES (Permission denied)',
    )
    assert [access.process for access in found] == ["1", "1", "2"]


def test_every_connection_and_every_program_is_told() -> None:
    connect = (
        'connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("1.2.3.4")}, 16) = 0'
    )
    start = 'execve("/bin/ls", ["ls"], 0x7ff /* 3 vars */) = 0'
    assert len(accesses(connect, connect, start, start)) == 4


# Time


def test_a_time_of_day_goes_on_past_midnight() -> None:
    found = accesses(
        '23:59:59.5 unlink("/a") = 0', '00:00:00.25 unlink("/b") = 0', '23:59:59.9 unlink("/c") = 0'
    )
    # The last line is a little out of order, not a day later.
    assert [access.t for access in found] == [0.0, 0.75, 0.4]


def test_relative_stamps_add_up_over_all_lines() -> None:
    found = accesses(
        '0.000000 unlink("/a") = 0', "0.250000 getpid() = 1", '0.500000 unlink("/b") = 0'
    )
    assert [access.t for access in found] == [0.0, 0.75]


def test_a_stamp_of_another_sort_tells_no_time() -> None:
    found, report = read(
        StraceReader(), '1697048351.5 unlink("/a") = 0\n12:00:00 unlink("/b") = 0\n'
    )
    assert [access.t for access in found] == [0.0, None]
    assert "another sort" in notes(report)


def test_an_epoch_is_the_origin() -> None:
    _, report = read(StraceReader(), '1697048351.5 unlink("/a") = 0\n')
    assert report.origin == "2023-10-11T18:19:11.500000+00:00"


# Refusals


@pytest.mark.parametrize("document", ["", "hello\n", "type=SYSCALL msg=audit(1.2:3)\n"])
def test_a_file_without_a_line_of_strace_is_unreadable_and_never_no_violation(
    document: str,
) -> None:
    with pytest.raises(Unreadable, match="no line of it was written by strace"):
        read(StraceReader(), document)


def test_lines_of_others_between_are_noted() -> None:
    found, report = read(StraceReader(), 'a program speaks\nunlink("/a") = 0\n')
    assert len(found) == 1
    assert "did not write is passed over [line 1]" in notes(report)


def test_bytes_that_are_no_text_are_marked_and_noted() -> None:
    (access,), report = read(StraceReader(), b'unlink("/a\0\xff") = 0\n')
    assert access.target == "/a␀\N{REPLACEMENT CHARACTER}"
    assert "NUL" in notes(report)


def test_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "MAX_ACCESSES", 2)
    with pytest.raises(Unreadable, match="MAX_ACCESSES = 2"):
        accesses(*(f'unlink("/{n}") = 0' for n in range(3)))
    monkeypatch.setattr(strace, "MAX_PROCESSES", 2)
    with pytest.raises(Unreadable, match="MAX_PROCESSES = 2"):
        accesses(*(f'{n} unlink("/{n}") = 0' for n in range(1, 4)))
    with pytest.raises(Unreadable, match="MAX_LINE_BYTES"):
        accesses('unlink("/' + "x" * 10_000_000 + '") = 0')
