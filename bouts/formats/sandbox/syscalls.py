"""System calls of Linux: which of them are accesses, and how they end."""

from __future__ import annotations

from collections.abc import Set

# Errors by which a call was refused; all others are failures of its own, such as ENOENT.
REFUSALS = frozenset(
    {
        *("EACCES", "EPERM", "EROFS"),
        *("ECONNREFUSED", "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH", "ETIMEDOUT"),
    }
)
# As Linux numbers them on every machine that logs of these kinds come from.
_ERRORS = {
    **{1: "EPERM", 2: "ENOENT", 4: "EINTR", 5: "EIO", 6: "ENXIO", 9: "EBADF", 11: "EAGAIN"},
    **{12: "ENOMEM", 13: "EACCES", 14: "EFAULT", 16: "EBUSY", 17: "EEXIST", 18: "EXDEV"},
    **{19: "ENODEV", 20: "ENOTDIR", 21: "EISDIR", 22: "EINVAL", 23: "ENFILE", 24: "EMFILE"},
    **{26: "ETXTBSY", 28: "ENOSPC", 30: "EROFS", 36: "ENAMETOOLONG", 38: "ENOSYS"},
    **{39: "ENOTEMPTY", 40: "ELOOP", 88: "ENOTSOCK", 97: "EAFNOSUPPORT", 99: "EADDRNOTAVAIL"},
    **{100: "ENETDOWN", 101: "ENETUNREACH", 103: "ECONNABORTED", 104: "ECONNRESET"},
    **{106: "EISCONN", 110: "ETIMEDOUT", 111: "ECONNREFUSED", 113: "EHOSTUNREACH"},
    **{114: "EALREADY", 115: "EINPROGRESS"},
}

OPENS = frozenset({"open", "openat", "openat2"})
# Calls by what they do to the paths among their arguments, in that order.
PATH_ACTIONS: dict[str, tuple[str | None, ...]] = {
    "creat": ("write",),
    "truncate": ("write",),
    "unlink": ("delete",),
    "unlinkat": ("delete",),
    "rmdir": ("delete",),
    "rename": ("delete", "rename"),
    "renameat": ("delete", "rename"),
    "renameat2": ("delete", "rename"),
    "link": (None, "rename"),
    "linkat": (None, "rename"),
    "symlink": (None, "rename"),
    "symlinkat": (None, "rename"),
    "execve": ("exec",),
    "execveat": ("exec",),
}
ADDRESS_ACTIONS = {"connect": "connect", "sendto": "send", "sendmsg": "send", "sendmmsg": "send"}

_FLAG_BITS = {
    "O_CREAT": 0o100,
    "O_EXCL": 0o200,
    "O_TRUNC": 0o1000,
    "O_APPEND": 0o2000,
    "O_DIRECTORY": 0o200000,
    "O_PATH": 0o10000000,
}
_ACCESS_MODES = ("O_RDONLY", "O_WRONLY", "O_RDWR", "O_RDWR")
# These three have other bits on ARM, and the logs in question say which machine it was.
_ARM_BITS = {"O_DIRECTORY": 0o40000}

_NUMBERS: dict[str, dict[int, str]] = {
    "c000003e": {  # x86_64
        **{2: "open", 42: "connect", 44: "sendto", 46: "sendmsg", 59: "execve", 76: "truncate"},
        **{82: "rename", 84: "rmdir", 85: "creat", 86: "link", 87: "unlink", 88: "symlink"},
        **{257: "openat", 263: "unlinkat", 264: "renameat", 265: "linkat", 266: "symlinkat"},
        **{304: "open_by_handle_at", 307: "sendmmsg", 316: "renameat2", 322: "execveat"},
        **{437: "openat2", 41: "socket", 101: "ptrace", 165: "mount", 425: "io_uring_setup"},
    },
    "c00000b7": {  # aarch64
        **{35: "unlinkat", 36: "symlinkat", 37: "linkat", 38: "renameat", 45: "truncate"},
        **{56: "openat", 203: "connect", 206: "sendto", 211: "sendmsg", 221: "execve"},
        **{265: "open_by_handle_at", 269: "sendmmsg", 276: "renameat2", 281: "execveat"},
        **{437: "openat2", 198: "socket", 117: "ptrace", 40: "mount", 425: "io_uring_setup"},
    },
    "40000003": {  # i386
        **{5: "open", 8: "creat", 9: "link", 10: "unlink", 11: "execve", 38: "rename"},
        **{40: "rmdir", 83: "symlink", 92: "truncate", 102: "socketcall", 295: "openat"},
        **{301: "unlinkat", 302: "renameat", 303: "linkat", 304: "symlinkat", 345: "sendmmsg"},
        **{342: "open_by_handle_at", 353: "renameat2", 358: "execveat", 362: "connect"},
        **{369: "sendto", 370: "sendmsg", 437: "openat2", 359: "socket", 26: "ptrace"},
    },
}


def syscall_name(arch: str, number: str) -> str | None:
    """Return the name of a call that matters here, by the machine and number in an audit record."""
    return (
        _NUMBERS.get(arch, {}).get(int(number)) if number.isdecimal() and len(number) < 6 else None
    )


def error_name(number: int) -> str:
    return _ERRORS.get(number, f"error {number}")


def is_allowed(error: str | None) -> bool | None:
    """Return how a call ended whose result is known: None where it came to nothing."""
    if error is None:
        return True
    return False if error in REFUSALS else None


def open_flags(bits: int, *, is_arm: bool = False) -> Set[str]:
    """Return the names of the flags of an open that matter here."""
    known = _FLAG_BITS | (_ARM_BITS if is_arm else {})
    return {_ACCESS_MODES[bits & 3], *(name for name, bit in known.items() if bits & bit)}


def open_actions(flags: Set[str]) -> tuple[str, ...]:
    """Return what an open with these flags is for: reading, writing, both, or neither.

    Whoever opens for both has read: else one letter of the mode would hide it. Not so where the
    file is made new or emptied, since nothing is in it then. O_PATH only names a place.
    """
    if "O_PATH" in flags:
        return ()
    if "O_RDWR" in flags:
        return ("write",) if flags & {"O_TRUNC", "O_EXCL"} else ("read", "write")
    is_write = flags & {"O_WRONLY", "O_CREAT", "O_TRUNC", "O_APPEND"}
    return ("write",) if is_write else ("read",)
