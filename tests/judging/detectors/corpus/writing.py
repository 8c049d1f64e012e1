"""What writes the artifacts of cases: manifest entries, agents' logs in their formats, sandbox logs.

The steps of `tests.judging.detectors.corpus.step` are the one vocabulary; each function here
writes them, or an access, as one real tool would. Times are made up and a second apart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.judging.detectors.corpus import File, claims, trajectory

Step = Mapping[str, Any]

EPOCH = 1_773_324_000  # 2026-03-12T14:00:00Z


# Manifest entries


def diff(*texts: str) -> File:
    return ("final.diff", "diff", "".join(texts), {})


def telemetry(content: str) -> File:
    return ("telemetry.json", "telemetry", content, {})


def did(*steps: Step, cwd: str = "/work") -> File:
    """Return steps as the telemetry of the match, in the plainest format."""
    return telemetry(trajectory(*steps, cwd=cwd))


def sandbox(*lines: str, path: str = "sandbox.log") -> File:
    return (path, "sandbox", "".join(f"{line}\n" for line in lines), {})


def deliverable(text: str, path: str = "NOTES.md") -> File:
    return (path, "deliverable", text, {})


def plan(text: str) -> File:
    return ("PLAN.md", "plan", text, {})


def claimed(*entries: tuple[str, float | None, str]) -> File:
    return ("claims.json", "claims", claims(*entries), {})


# Logs of agents


def _parts(step: Step) -> tuple[str, str | None, str, int]:
    """Return message, command, output and exit code of a step."""
    if "tool_calls" not in step:
        return step["message"], None, "", 0
    (call,) = step["tool_calls"]
    (result,) = step["observation"]["results"]
    code = result["extra"]["exit_code"]
    return step["message"], call["arguments"]["command"], result["content"], code


def _stamp(second: int) -> str:
    return f"2026-03-12T14:{second // 60:02}:{second % 60:02}.000Z"


def _lines(records: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def claude_session(*steps: Step, task: str = "Mend it.", cwd: str = "/work") -> str:
    """Return a session file as Claude Code keeps it."""
    records: list[dict[str, Any]] = []

    def record(kind: str, second: int, content: Any, **more: Any) -> None:
        parent = records[-1]["uuid"] if records else None
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            usage = {"input_tokens": 100, "output_tokens": 20}
            message |= {"id": f"msg_{second}", "type": "message", "model": "m", "usage": usage}
        records.append(
            {
                **{"parentUuid": parent, "isSidechain": False, "type": kind, "message": message},
                **{"uuid": f"u{len(records)}", "timestamp": _stamp(second), "cwd": cwd},
                **{"sessionId": "case", "version": "2.1.197", **more},
            }
        )

    record("user", 0, task)
    for second, step in enumerate(steps, start=1):
        message, command, output, code = _parts(step)
        if message:
            record("assistant", second, [{"type": "text", "text": message}])
        if command is not None:
            given = {"command": command, "description": "Run it"}
            use = {"type": "tool_use", "id": f"tool_{second}", "name": "Bash", "input": given}
            record("assistant", second, [use])
            shown = f"Exit code {code}\n{output}" if code else output
            result = {"tool_use_id": f"tool_{second}", "type": "tool_result", "content": shown}
            told = {"stdout": output, "stderr": "", "interrupted": False}
            record("user", second, [{**result, "is_error": bool(code)}], toolUseResult=told)
    return _lines(records)


def codex_rollout(*steps: Step, task: str = "Mend it.", cwd: str = "/work") -> str:
    """Return a rollout as Codex keeps it."""
    meta = {"id": "case", "cwd": cwd, "cli_version": "0.171.0", "originator": "codex_exec"}
    records: list[dict[str, Any]] = [
        {"timestamp": _stamp(0), "type": "session_meta", "payload": meta}
    ]

    def item(second: int, kind: str, **payload: Any) -> None:
        records.append(
            {
                **{"timestamp": _stamp(second), "type": "response_item"},
                "payload": {"type": kind, **payload},
            }
        )

    item(1, "message", role="user", content=[{"type": "input_text", "text": task}])
    for second, step in enumerate(steps, start=2):
        message, command, output, code = _parts(step)
        if message:
            words = [{"type": "output_text", "text": message}]
            item(second, "message", role="assistant", content=words)
        if command is not None:
            given = json.dumps({"command": ["bash", "-lc", command], "workdir": cwd})
            item(second, "function_call", name="shell", arguments=given, call_id=f"c{second}")
            answer = {"output": output, "metadata": {"exit_code": code, "duration_seconds": 0.2}}
            item(second, "function_call_output", call_id=f"c{second}", output=json.dumps(answer))
    return _lines(records)


def gemini_session(*steps: Step, task: str = "Mend it.") -> str:
    """Return a session of Gemini CLI as one document."""
    messages: list[dict[str, Any]] = [
        {"id": "m0", "timestamp": _stamp(0), "type": "user", "content": [{"text": task}]}
    ]
    for second, step in enumerate(steps, start=1):
        message, command, output, code = _parts(step)
        said: dict[str, Any] = {"id": f"m{second}", "timestamp": _stamp(second), "type": "gemini"}
        said |= {"content": message, "thoughts": [], "tokens": {"input": 100, "output": 10}}
        if command is not None:
            shown = f"Output: {output or '(empty)'}" + (f"\nExit Code: {code}" if code else "")
            answer = {
                "id": f"t{second}",
                "name": "run_shell_command",
                "response": {"output": shown},
            }
            call = {"id": f"t{second}", "name": "run_shell_command", "args": {"command": command}}
            call |= {"result": [{"functionResponse": answer}], "status": "success"}
            said["toolCalls"] = [{**call, "timestamp": _stamp(second)}]
        messages.append(said)
    head = {"sessionId": "case", "projectHash": "f8", "startTime": _stamp(0)}
    return json.dumps({**head, "lastUpdated": _stamp(0), "messages": messages})


def mini_swe(*steps: Step, task: str = "Mend it.") -> str:
    """Return a trajectory of mini-swe-agent, version 2."""
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": task, "extra": {"timestamp": EPOCH}}
    ]
    for second, step in enumerate(steps, start=1):
        message, command, output, code = _parts(step)
        extra: dict[str, Any] = {"timestamp": EPOCH + second}
        if command is not None:
            extra["actions"] = [{"command": command, "tool_call_id": f"call_{second}"}]
        messages.append({"role": "assistant", "content": message, "extra": extra})
        if command is not None:
            told = {"raw_output": output, "returncode": code, "timestamp": EPOCH + second}
            answer = {"role": "tool", "tool_call_id": f"call_{second}", "content": output}
            messages.append({**answer, "extra": told})
    return json.dumps({"info": {}, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"})


def swe_agent(*steps: Step, cwd: str = "/work") -> str:
    """Return a trajectory of SWE-agent, which has no clock."""
    written = []
    for step in steps:
        message, command, output, _ = _parts(step)
        state = {"open_file": "n/a", "working_dir": cwd}
        said = {"thought": message, "response": message, "state": state, "execution_time": 0.2}
        written.append({"action": command or "", "observation": output, **said})
    return json.dumps({"environment": "main", "trajectory": written, "history": [], "info": {}})


def openhands(*steps: Step, task: str = "Mend it.", cwd: str = "/work") -> str:
    """Return the events of OpenHands V0 as one array."""
    events: list[dict[str, Any]] = []

    def event(second: int, source: str, **fields: Any) -> None:
        stamp = _stamp(second).removesuffix("Z")
        events.append({"id": len(events), "timestamp": stamp, "source": source, **fields})

    event(0, "user", action="message", args={"content": task}, message=task)
    for second, step in enumerate(steps, start=1):
        message, command, output, code = _parts(step)
        if command is None:
            event(second, "agent", action="message", args={"content": message}, message=message)
            continue
        event(second, "agent", action="run", args={"command": command, "thought": message})
        extras = {"command": command, "metadata": {"exit_code": code, "working_dir": cwd}}
        event(
            second, "agent", observation="run", cause=len(events) - 1, content=output, extras=extras
        )
    return json.dumps(events)


# Logs of sandboxes. `code` is what the system call gave back, an error negative by its number.

_ERRORS = {
    1: ("EPERM", "Operation not permitted"),
    2: ("ENOENT", "No such file or directory"),
    13: ("EACCES", "Permission denied"),
    111: ("ECONNREFUSED", "Connection refused"),
    101: ("ENETUNREACH", "Network is unreachable"),
    115: ("EINPROGRESS", "Operation now in progress"),
}


def _strace_end(code: int) -> str:
    if code >= 0:
        return str(code)
    name, words = _ERRORS[-code]
    return f"-1 {name} ({words})"


def strace(call: str, code: int = 3, pid: int = 4120, second: int = 0) -> str:
    """Return a line as ``strace -f -ttt`` writes it."""
    return f"{pid}  {EPOCH + second}.120341 {call} = {_strace_end(code)}"


def strace_open(path: str, code: int = 3, flags: str = "O_RDONLY", **more: int) -> str:
    return strace(f'openat(AT_FDCWD, "{path}", {flags}|O_CLOEXEC)', code, **more)


def strace_connect(host: str, port: int, code: int = -115, **more: int) -> str:
    if ":" in host:
        address = (
            f"{{sa_family=AF_INET6, sin6_port=htons({port}), sin6_flowinfo=htonl(0), "
            f'inet_pton(AF_INET6, "{host}", &sin6_addr), sin6_scope_id=0}}, 28'
        )
    else:
        address = f'{{sa_family=AF_INET, sin_port=htons({port}), sin_addr=inet_addr("{host}")}}, 16'
    return strace(f"connect(5, {address})", code, **more)


def auditd_open(
    path: str,
    *,
    exit: int = 3,
    flags: int = 0,
    comm: str = "cat",
    cwd: str = "/work",
    serial: int = 501,
) -> str:
    """Return the records of an openat as auditd writes them, in plain."""
    at = f"msg=audit({EPOCH}.100:{serial}):"
    success = "yes" if exit >= 0 else "no"
    name = f'"{path}"' if " " not in path else path.encode().hex().upper()
    return "\n".join(
        (
            f"type=SYSCALL {at} arch=c000003e syscall=257 success={success} exit={exit} a0=ffffff9c "
            f"a1=7ffc0 a2={flags:x} a3=0 items=1 ppid=3001 pid=3002 auid=1000 uid=1000 gid=1000 "
            f'tty=(none) ses=8 comm="{comm}" exe="/usr/bin/{comm}" key="bouts"',
            f'type=CWD {at} cwd="{cwd}"',
            f"type=PATH {at} item=0 name={name} inode=103 dev=fc:00 mode=0100644 ouid=0 ogid=0 "
            f"rdev=00:00 nametype={'NORMAL' if exit != -2 else 'UNKNOWN'}",
            f"type=EOE {at} ",
        )
    )


def auditd_connect(
    host: str, port: int, *, exit: int = 0, comm: str = "curl", serial: int = 601
) -> str:
    at = f"msg=audit({EPOCH}.300:{serial}):"
    address = bytes((2, 0)) + port.to_bytes(2, "big") + bytes(map(int, host.split("."))) + bytes(8)
    success = "yes" if exit >= 0 else "no"
    return "\n".join(
        (
            f"type=SYSCALL {at} arch=c000003e syscall=42 success={success} exit={exit} a0=5 a1=7ffe0 "
            f"a2=10 a3=0 items=0 ppid=3001 pid=3003 auid=1000 uid=1000 gid=1000 tty=(none) ses=8 "
            f'comm="{comm}" exe="/usr/bin/{comm}" key="bouts"',
            f"type=SOCKADDR {at} saddr={address.hex().upper()}",
            f"type=EOE {at} ",
        )
    )


def falco(rule: str, **fields: Any) -> str:
    """Return an alert of Falco; dots in the names of its fields are written as ``__``."""
    output = {name.replace("__", "."): value for name, value in fields.items()}
    return json.dumps(
        {
            **{"hostname": "runner-4", "output": f"14:00:09.000000000: Warning {rule}"},
            **{"output_fields": output, "priority": "Warning", "rule": rule},
            **{"source": "syscall", "tags": [], "time": "2026-03-12T14:00:09.000000000Z"},
        }
    )


def falco_open(
    path: str, res: str = "SUCCESS", flags: str = "O_RDONLY|O_CLOEXEC", proc: str = "cat"
) -> str:
    return falco(
        "Watched file opened",
        **{"evt__type": "openat", "evt__res": res, "evt__arg__flags": flags},
        **{
            "fd__name": path,
            "proc__name": proc,
            "proc__cmdline": f"{proc} {path}",
            "proc__pid": 41,
        },
    )


def falco_connect(end: str, res: str = "EINPROGRESS", proc: str = "curl") -> str:
    return falco(
        "Outbound connection",
        **{"evt__type": "connect", "evt__res": res, "fd__name": f"172.17.0.2:40112->{end}"},
        **{"proc__name": proc, "proc__cmdline": proc, "proc__pid": 43},
    )


def _tetragon(binary: str, arguments: str = "", pid: int = 51) -> dict[str, Any]:
    return {
        **{"exec_id": f"aDox{pid}", "pid": pid, "uid": 1000, "cwd": "/work"},
        **{"binary": binary, "arguments": arguments, "flags": "execve clone"},
        "start_time": "2026-03-12T14:00:09.100000001Z",
    }


def tetragon_exec(binary: str, arguments: str) -> str:
    event = {"process": _tetragon(binary, arguments), "parent": {"binary": "/bin/sh", "pid": 50}}
    stamp = "2026-03-12T14:00:09.100000002Z"
    return json.dumps({"process_exec": event, "node_name": "runner-4", "time": stamp})


def tetragon_kprobe(
    function: str, *args: Mapping[str, Any], returns: int | None = 0, binary: str = "/usr/bin/cat",
    action: str = "KPROBE_ACTION_POST",
) -> str:  # fmt: skip
    event: dict[str, Any] = {"process": _tetragon(binary), "function_name": function}
    event |= {"args": list(args), "action": action, "policy_name": "bouts"}
    if returns is not None:
        event["return"] = {"int_arg": returns}
    stamp = "2026-03-12T14:00:09.200000000Z"
    return json.dumps({"process_kprobe": event, "node_name": "runner-4", "time": stamp})


def tetragon_open(path: str, returns: int = 3, flags: int = 0, **more: Any) -> str:
    args = ({"int_arg": -100}, {"string_arg": path}, {"int_arg": flags})
    return tetragon_kprobe("__x64_sys_openat", *args, returns=returns, **more)


def tetragon_connect(host: str, port: int, **more: Any) -> str:
    sock = {"family": "AF_INET", "type": "SOCK_STREAM", "protocol": "IPPROTO_TCP"}
    sock |= {"saddr": "172.17.0.2", "daddr": host, "sport": 40112, "dport": port}
    more = {"returns": None, "binary": "/usr/bin/curl", **more}
    return tetragon_kprobe("tcp_connect", {"sock_arg": sock}, **more)


def gvisor(call: str, end: str, comm: str = "cat", pid: int = 1) -> str:
    """Return the two lines of a call in runsc's debug log: entered and left."""
    head = f"[{pid:4}:{pid:4}] {comm}"
    return (
        f"I0312 14:00:09.200000       1 strace.go:576] {head} E {call}\n"
        f"I0312 14:00:09.200100       1 strace.go:614] {head} X {call} = {end} (2.417µs)"
    )


def gvisor_open(path: str, end: str = "3 (0x3)", flags: str = "O_RDONLY", comm: str = "cat") -> str:
    return gvisor(f"openat(AT_FDCWD /work, 0x7ffd {path}, {flags}|0x0, 0o0)", end, comm)


def gvisor_connect(host: str, port: int, end: str = "0 (0x0)", comm: str = "curl") -> str:
    family = "AF_INET6" if ":" in host else "AF_INET"
    address = f"{{Family: {family}, Addr: {host}, Port: {port}}}"
    return gvisor(f"connect(0x5 socket:[5], 0x7ffe {address}, 0x10)", end, comm, 2)


def squid(result: str, request: str, second: int = 0, client: str = "172.17.0.2") -> str:
    """Return a line of squid's access log; ``request`` is the method and the URL."""
    return f"{EPOCH + second}.586    921 {client} {result} 507 {request} - HIER_DIRECT/203.0.113.9 text/html"


def iptables(
    prefix: str, target: str, port: int | None, *, proto: str = "TCP", flags: str = "SYN",
    out: str = "eth0", into: str = "", source: str = "172.17.0.2",
) -> str:  # fmt: skip
    """Return a packet as the LOG target writes it to syslog."""
    ports = "" if port is None else f"SPT=40112 DPT={port} "
    tail = f"WINDOW=64240 RES=0x00 {flags} URGP=0 " if proto == "TCP" else ""
    return (
        f"Mar 12 14:00:09 runner-4 kernel: [  100.000001] {prefix}IN={into} OUT={out} SRC={source} "
        f"DST={target} LEN=60 TOS=0x00 PREC=0x00 TTL=64 ID=1 DF PROTO={proto} {ports}{tail}"
    )
