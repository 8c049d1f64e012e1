"""Events to steps: code changes and test runs as SCORING.md, 3 defines them.

Readers report what a tool did, event by event. Here it is settled what counts: which events
are one and the same, which edits changed a file, which edits are one change, and what is
known of a test run whose output named only some of its tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from bouts.formats.types import Event, EventKind


class Unknown:
    """The content of a file where nobody says what it is: equal to no other content."""

    __slots__ = ()


Content = str | Unknown

File = str | int
"""A path in the tree; or, where an edit names no file, the seq of that edit."""


@dataclass(frozen=True, slots=True)
class Change:
    """One code change: all that one tool call made of tracked files.

    `seqs` are the edits it rests on; `t` is the time of the first that has one. `before`
    and `after` hold the content of each file, `paths` the files that have a name.
    `restored` are those whose content is one that they had earlier; `has_content` says
    whether the content of any is known.
    """

    seq: int
    seqs: tuple[int, ...]
    t: float | None
    before: Mapping[File, Content]
    after: Mapping[File, Content]
    paths: frozenset[str]
    restored: frozenset[File]
    has_content: bool


@dataclass(frozen=True, slots=True)
class TestRun:
    """A test command with at least one result.

    `results` has the tests whose outcome is known by name, which may be fewer than `total`.
    `command` identifies the command, where the event does. `is_excused` marks a failure
    that was expected or lies in the infrastructure.
    """

    __test__ = False  # not a test class, whatever pytest thinks

    seq: int
    t: float | None
    results: Mapping[str, bool]
    passed: int
    total: int
    command: str | None
    is_excused: bool

    @property
    def passes_all(self) -> bool:
        return self.passed == self.total

    @property
    def has_unnamed_passes(self) -> bool:
        return self.passed > sum(self.results.values())


Step = Change | TestRun | Event

# What an agent only reads or says is no step of the work.
_NO_STEP = frozenset({EventKind.START, EventKind.MESSAGE, EventKind.READ, EventKind.SEARCH})


def in_order(events: Iterable[Event]) -> list[Event]:
    """The events by `seq`, each once. Time plays no part: clocks jump, sequences do not.

    Of different events that claim the same place one is kept, always the same one,
    whatever the order in which they arrive.
    """
    by_seq: dict[int, Event] = {}
    for event in events:
        known = by_seq.setdefault(event.seq, event)
        if known is not event and known != event:
            by_seq[event.seq] = min(known, event, key=_canonical)
    return [by_seq[seq] for seq in sorted(by_seq)]


def read_steps(
    events: Iterable[Event], tree_paths: Set[str] | None, diff_paths: Set[str] | None
) -> Iterator[Step]:
    """Turn ordered events into steps; what is neither a change nor a run stays an event.

    Where both the starting tree and the final diff are known, a file in neither is a
    scratch file, and edits of it change no tracked file. The events are gone through twice,
    and held no longer than until the next test run.
    """
    names = _names_in_tree(events, tree_paths, diff_paths)
    held: list[_Draft | Event] = []
    files, runs = _Files(), _Runs()
    in_attempt: dict[str, _Draft] = {}
    for event in events:
        if event.kind is EventKind.EDIT:
            file = event.seq if event.path is None else names.get(event.path)
            if event.ok is False or file is None:
                continue
            draft = in_attempt.get(event.call) if event.call is not None else None
            if draft is None:
                draft = _Draft()
                held.append(draft)
                if event.call is not None:
                    in_attempt[event.call] = draft
            files.edit(file, event, draft)
        elif event.kind is EventKind.TEST and (run := runs.read(event)) is not None:
            yield from _settled(held)
            yield run
            # A call that spans a test run would be two attempts in one change.
            in_attempt.clear()
        elif event.kind not in _NO_STEP:
            held.append(event)
        if not in_attempt:
            yield from _settled(held)
    yield from _settled(held)


def _settled(held: list[_Draft | Event]) -> Iterator[Step]:
    """Yield the steps that were held back until no later edit could change them."""
    for draft in held:
        step = draft.settle() if isinstance(draft, _Draft) else draft
        if step is not None:
            yield step
    held.clear()


def _canonical(event: Event) -> str:
    results = None if event.results is None else dict(sorted(event.results.items()))
    return repr(replace(event, results=results))


@dataclass(slots=True)
class _Touch:
    """What one call makes of one path. `since` tells its own contents from earlier ones."""

    since: int
    before: Content
    after: Content
    edits: list[Event] = field(default_factory=list)


@dataclass(slots=True)
class _Draft:
    """The edits of one tool call, until it is clear what they come to."""

    touches: dict[File, _Touch] = field(default_factory=dict)
    restored: set[File] = field(default_factory=set)

    def settle(self) -> Change | None:
        """The change that the call was, or None where all files are as they were."""
        changed = {
            file: touch for file, touch in self.touches.items() if touch.before != touch.after
        }
        if not changed:
            return None
        edits = sorted(
            (edit for touch in changed.values() for edit in touch.edits),
            key=lambda edit: edit.seq,
        )
        return Change(
            seq=edits[0].seq,
            seqs=tuple(edit.seq for edit in edits),
            t=next((edit.t for edit in edits if edit.t is not None), None),
            before={file: touch.before for file, touch in changed.items()},
            after={file: touch.after for file, touch in changed.items()},
            paths=frozenset(file for file in changed if isinstance(file, str)),
            restored=frozenset(self.restored & changed.keys()),
            has_content=any(isinstance(touch.after, str) for touch in changed.values()),
        )


class _Files:
    """The contents that each file has had, in the order in which they appeared."""

    def __init__(self) -> None:
        self._current: dict[File, Content] = {}
        self._appeared: dict[File, dict[str, int]] = {}
        self._clock = 0

    def edit(self, file: File, event: Event, draft: _Draft) -> None:
        appeared = self._appeared.setdefault(file, {})
        before: Content = (
            self._current.get(file, Unknown()) if event.before is None else event.before
        )
        after: Content = Unknown() if event.after is None else event.after
        if isinstance(before, str):
            self._clock += 1
            appeared.setdefault(before, self._clock)
        self._clock += 1
        touch = draft.touches.get(file)
        if touch is None:
            touch = draft.touches[file] = _Touch(self._clock, before, after)
        touch.after = after
        touch.edits.append(event)
        draft.restored.discard(file)
        if isinstance(after, str) and appeared.setdefault(after, self._clock) < touch.since:
            draft.restored.add(file)
        self._current[file] = after


class _Runs:
    """Reads test events, and completes a run by earlier runs of the same command.

    Runners often name only what failed. A command whose run counts at least as many tests
    as its earlier runs did, and names all its failures, has passed the tests that those
    named and it does not.
    """

    def __init__(self) -> None:
        self._named: dict[str, set[str]] = {}
        self._largest: Counter[str] = Counter()
        self._latest: dict[str, Mapping[str, bool]] = {}

    def read(self, event: Event) -> TestRun | None:
        """The run that a test event is; None where it has no result or none can be read."""
        results = event.results or {}
        passes = sum(results.values())
        passed = max(event.passed or 0, passes)
        failed = max(event.failed or 0, len(results) - passes)
        total = passed + failed
        if not total:
            return None
        if total > len(results) and event.signature is not None:
            results = self._completed(event.signature, results, passed - passes, failed, total)
        if event.signature is not None:
            self._named.setdefault(event.signature, set()).update(results)
            self._largest[event.signature] = max(self._largest[event.signature], total)
            # Most runs come out like the one before: what they say is kept once.
            if results == self._latest.get(event.signature):
                results = self._latest[event.signature]
            self._latest[event.signature] = results
        return TestRun(
            seq=event.seq,
            t=event.t,
            results=results,
            passed=passed,
            total=total,
            command=event.signature,
            is_excused=event.expected or event.infra,
        )

    def _completed(
        self, command: str, results: Mapping[str, bool], unnamed: int, failed: int, total: int
    ) -> Mapping[str, bool]:
        absent = self._named.get(command, set()) - results.keys()
        names_all_failures = failed == sum(not passed for passed in results.values())
        if names_all_failures and total >= self._largest[command] and len(absent) <= unnamed:
            return {**results, **dict.fromkeys(absent, True)}
        return results


def _names_in_tree(
    events: Iterable[Event], tree_paths: Set[str] | None, diff_paths: Set[str] | None
) -> Mapping[str, str]:
    """The edited paths that are tracked, each with its name in the tree.

    Agents name files from the root of the machine, bundles from the root of the tree. The
    root taken is the one under which most of the paths that are not known as they stand
    are known. Where one of the two sets is missing, they tell nothing and every file is
    tracked; where no path fits them, a file counts by its bare name, so that a tree
    packed under other folders hides no work.
    """
    touched = {e.path for e in events if e.kind is EventKind.EDIT and e.path is not None}
    plain = {path: path.removeprefix("./") for path in touched}
    if tree_paths is None or diff_paths is None:
        return plain
    known = tree_paths | diff_paths
    deepest = max(map(_depth, known), default=0)
    roots = Counter(
        name.removesuffix(suffix)
        for name in plain.values()
        if name not in known
        for suffix in _suffixes(name, deepest)
        if suffix in known
    )
    # Shortest first where as many paths fit: the tree's root lies above its folders.
    root = min(roots, key=lambda root: (-roots[root], len(root), root), default="")
    names = {
        path: name if name in known else name.removeprefix(root) for path, name in plain.items()
    }
    tracked = {path: name for path, name in names.items() if name in known}
    if tracked:
        return tracked
    bare = {path.rpartition("/")[2] for path in known}
    return {path: name for path, name in plain.items() if name.rpartition("/")[2] in bare}


def _depth(path: str) -> int:
    return path.count("/") + 1


def _suffixes(path: str, deepest: int) -> Iterable[str]:
    """The last part of a path, the last two, and so on to `deepest` parts."""
    parts = path.rsplit("/", deepest)
    if len(parts) <= deepest:
        yield path
    parts = parts[1:]
    yield from ("/".join(parts[start:]) for start in range(len(parts)))
