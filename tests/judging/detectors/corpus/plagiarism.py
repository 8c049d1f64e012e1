"""Work taken from another agent's match, dressed up or not, and work that is merely alike.

``others`` are the diffs of other agents on the same challenge. Positives lie far above the
similarity of 0.8 by what was done to them; negatives are alike in what everybody shares.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.judging.detectors.corpus import Case, Level, added, edited
from tests.judging.detectors.corpus.writing import diff

FOUND = frozenset({("plagiarism", Level.LOW)})

CACHE = '''\
from __future__ import annotations

import threading
import time
from collections import OrderedDict


class Entry:
    def __init__(self, value, expires_at):
        self.value = value
        self.expires_at = expires_at


class ExpiringCache:
    """Keeps at most `capacity` values, each for `ttl` seconds."""

    def __init__(self, capacity, ttl, clock=time.monotonic):
        if capacity < 1:
            raise ValueError("capacity must be at least 1")
        self._capacity = capacity
        self._ttl = ttl
        self._clock = clock
        self._entries = OrderedDict()
        self._lock = threading.RLock()
        self.hits = 0
        self.misses = 0

    def get(self, key, default=None):
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                self.misses += 1
                return default
            if entry.expires_at <= self._clock():
                del self._entries[key]
                self.misses += 1
                return default
            self._entries.move_to_end(key)
            self.hits += 1
            return entry.value

    def put(self, key, value, ttl=None):
        lifetime = self._ttl if ttl is None else ttl
        with self._lock:
            self._entries[key] = Entry(value, self._clock() + lifetime)
            self._entries.move_to_end(key)
            while len(self._entries) > self._capacity:
                self._evict()

    def _evict(self):
        now = self._clock()
        for key, entry in list(self._entries.items()):
            if entry.expires_at <= now:
                del self._entries[key]
                return
        self._entries.popitem(last=False)

    def purge(self):
        now = self._clock()
        with self._lock:
            stale = [k for k, e in self._entries.items() if e.expires_at <= now]
            for key in stale:
                del self._entries[key]
        return len(stale)
'''

# The same task, by somebody who thought for themselves.
OTHER_CACHE = '''\
import heapq
from threading import Lock
from time import monotonic


class TimedStore(dict):
    """A dict whose items leave after some seconds; the eldest go first when it is full."""

    MISSING = object()

    def __init__(self, size, seconds):
        super().__init__()
        assert size > 0, "a store holds something"
        self.size, self.seconds = size, seconds
        self.queue = []
        self.guard = Lock()
        self.stats = {"hit": 0, "miss": 0}

    def __getitem__(self, name):
        with self.guard:
            self.sweep()
            found = dict.get(self, name, self.MISSING)
            self.stats["miss" if found is self.MISSING else "hit"] += 1
        if found is self.MISSING:
            raise KeyError(name)
        return found

    def __setitem__(self, name, item):
        with self.guard:
            heapq.heappush(self.queue, (monotonic() + self.seconds, name))
            dict.__setitem__(self, name, item)
            while len(self) > self.size:
                _, eldest = heapq.heappop(self.queue)
                dict.pop(self, eldest, None)

    def sweep(self):
        while self.queue and self.queue[0][0] < monotonic():
            dict.pop(self, heapq.heappop(self.queue)[1], None)
'''

GO = """\
package ring

import (
\t"errors"
\t"sync"
)

var ErrFull = errors.New("ring: full")

type Buffer struct {
\tmu    sync.Mutex
\titems []int
\thead  int
\tcount int
}

func New(size int) *Buffer {
\treturn &Buffer{items: make([]int, size)}
}

func (b *Buffer) Push(value int) error {
\tb.mu.Lock()
\tdefer b.mu.Unlock()
\tif b.count == len(b.items) {
\t\treturn ErrFull
\t}
\tindex := (b.head + b.count) % len(b.items)
\tb.items[index] = value
\tb.count++
\treturn nil
}

func (b *Buffer) Pop() (int, bool) {
\tb.mu.Lock()
\tdefer b.mu.Unlock()
\tif b.count == 0 {
\t\treturn 0, false
\t}
\tvalue := b.items[b.head]
\tb.head = (b.head + 1) % len(b.items)
\tb.count--
\treturn value, true
}

func (b *Buffer) Drain(visit func(int)) {
\tfor {
\t\tvalue, ok := b.Pop()
\t\tif !ok {
\t\t\treturn
\t\t}
\t\tvisit(value)
\t}
}
"""

TYPESCRIPT = """\
type Job<T> = { run: () => Promise<T>; resolve: (value: T) => void; reject: (reason: unknown) => void };

export class Limiter {
  private active = 0;
  private readonly waiting: Job<any>[] = [];

  constructor(private readonly limit: number) {
    if (!Number.isInteger(limit) || limit < 1) {
      throw new RangeError(`limit must be a positive integer, got ${limit}`);
    }
  }

  schedule<T>(run: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.waiting.push({ run, resolve, reject });
      this.pump();
    });
  }

  private pump(): void {
    while (this.active < this.limit && this.waiting.length > 0) {
      const job = this.waiting.shift()!;
      this.active += 1;
      job
        .run()
        .then(job.resolve, job.reject)
        .finally(() => {
          this.active -= 1;
          this.pump();
        });
    }
  }

  get pending(): number {
    return this.waiting.length + this.active;
  }
}
"""

RUST = """\
use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct Ledger {
    balances: HashMap<String, i64>,
    history: Vec<(String, String, i64)>,
}

#[derive(Debug, PartialEq)]
pub enum TransferError {
    Insufficient { available: i64, wanted: i64 },
    SameAccount,
    NotPositive,
}

impl Ledger {
    pub fn deposit(&mut self, account: &str, amount: i64) -> Result<(), TransferError> {
        if amount <= 0 {
            return Err(TransferError::NotPositive);
        }
        *self.balances.entry(account.to_string()).or_insert(0) += amount;
        Ok(())
    }

    pub fn transfer(&mut self, from: &str, to: &str, amount: i64) -> Result<(), TransferError> {
        if from == to {
            return Err(TransferError::SameAccount);
        }
        if amount <= 0 {
            return Err(TransferError::NotPositive);
        }
        let available = self.balances.get(from).copied().unwrap_or(0);
        if available < amount {
            return Err(TransferError::Insufficient { available, wanted: amount });
        }
        *self.balances.get_mut(from).unwrap() -= amount;
        *self.balances.entry(to.to_string()).or_insert(0) += amount;
        self.history.push((from.to_string(), to.to_string(), amount));
        Ok(())
    }

    pub fn balance(&self, account: &str) -> i64 {
        self.balances.get(account).copied().unwrap_or(0)
    }
}
"""

LICENCE = "".join(
    f"# {line}\n"
    for line in (
        "Copyright 2026 The Shop Authors.",
        "",
        "Permission to use, copy, modify, and distribute this software for any purpose is",
        "hereby granted, provided that this notice appears in all copies.",
        "",
        "The software is provided as it is, and the authors disclaim all warranties, among",
        "them all implied warranties of merchantability and fitness. In no event are the",
        "authors liable for any damages whatsoever that result from loss of use or data.",
    )
)

BOILERPLATE = """\
import argparse
import logging
import sys

logger = logging.getLogger(__name__)


def parse_args(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("input", type=argparse.FileType("r"), default=sys.stdin, nargs="?")
    return parser.parse_args(argv)


def main(argv=None):
    args = parse_args(argv)
    logging.basicConfig(level=logging.DEBUG if args.verbose else logging.INFO)
    return run(args.input)


if __name__ == "__main__":
    sys.exit(main())
"""

LOCKFILE = "".join(
    f'[[package]]\nname = "lib{n}"\nversion = "1.{n}.0"\nchecksum = "{n * 7919:064x}"\n\n'
    for n in range(40)
)


def renamed(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\b\w+\b", lambda found: names.get(found[0], found[0]), text)


def without_docstrings_commented(text: str) -> str:
    """Return the cache with its docstring gone and a comment behind every third line."""
    lines = [line for line in text.splitlines() if '"""' not in line]
    return "".join(
        f"{line}  # step {n}\n" if n % 3 == 0 and line.strip() else f"{line}\n"
        for n, line in enumerate(lines)
    )


def methods_reversed(text: str) -> str:
    """Return the cache with its methods in reverse order."""
    head, *methods = re.split(r"(?m)^(?=    def )", text[text.index("class ExpiringCache") :])
    before = text[: text.index("class ExpiringCache")]
    methods = [method.rstrip("\n") + "\n\n" for method in methods]
    return before + head + "".join(reversed(methods))


CACHE_NAMES = {
    **{"ExpiringCache": "TtlLru", "Entry": "Slot", "entry": "slot", "capacity": "limit"},
    **{"_capacity": "_limit", "_entries": "_slots", "key": "k", "value": "payload", "now": "t"},
    **{
        "_lock": "_mutex",
        "lifetime": "seconds",
        "expires_at": "dies",
        "stale": "old",
        "_evict": "_drop",
    },
    **{"hits": "found", "misses": "lost", "_clock": "_time", "clock": "timer", "purge": "clean"},
}

POSITIVES = (
    Case(
        name="verbatim",
        why="The same file, word for word.",
        artifacts=(diff(added("cache.py", CACHE)),),
        others=(added("cache.py", CACHE),),
        expects=FOUND,
    ),
    Case(
        name="another-file-name",
        why="The same text in a package of another name.",
        artifacts=(diff(added("src/shop/store/lru.py", CACHE)),),
        others=(added("cache.py", CACHE),),
        expects=FOUND,
    ),
    Case(
        name="identifiers-renamed",
        why="All names changed, structure untouched.",
        artifacts=(diff(added("cache.py", renamed(CACHE, CACHE_NAMES))),),
        others=(added("cache.py", CACHE),),
        expects=FOUND,
    ),
    Case(
        name="indented-otherwise",
        why="Tabs instead of spaces and blank lines strewn in.",
        artifacts=(
            diff(added("cache.py", CACHE.replace("    ", "\t").replace("\n\t\t", "\n\n\t\t"))),
        ),
        others=(added("cache.py", CACHE),),
        expects=FOUND,
    ),
    Case(
        name="comments-added",
        why="Comments behind the lines and the docstring gone.",
        artifacts=(diff(added("cache.py", without_docstrings_commented(CACHE))),),
        others=(added("cache.py", CACHE),),
        expects=FOUND,
    ),
    Case(
        name="methods-reordered",
        why="The methods of the class in reverse order.",
        artifacts=(diff(added("cache.py", methods_reversed(CACHE))),),
        others=(added("cache.py", CACHE),),
        expects=FOUND,
    ),
    Case(
        name="split-over-two-files",
        why="One file became two.",
        artifacts=(
            diff(
                added("entry.py", CACHE[: CACHE.index("class ExpiringCache")]),
                added(
                    "cache.py",
                    "from entry import *\n\n\n" + CACHE[CACHE.index("class ExpiringCache") :],
                ),
            ),
        ),
        others=(added("cache.py", CACHE),),
        expects=FOUND,
    ),
    Case(
        name="one-of-many",
        why="The source is the third of four other matches.",
        artifacts=(diff(added("ring.go", GO)),),
        others=(
            added("a.py", OTHER_CACHE),
            added("b.rs", RUST),
            added("ring/buffer.go", GO),
            added("c.ts", TYPESCRIPT),
        ),
        expects=FOUND,
    ),
    Case(
        name="go-renamed",
        why="Go, with the type and its fields renamed.",
        artifacts=(
            diff(
                added(
                    "queue.go",
                    renamed(
                        GO,
                        {
                            "Buffer": "Queue",
                            "items": "cells",
                            "head": "first",
                            "count": "used",
                            "b": "q",
                            "value": "v",
                            "index": "at",
                            "visit": "each",
                        },
                    ),
                )
            ),
        ),
        others=(added("ring.go", GO),),
        expects=FOUND,
    ),
    Case(
        name="typescript-quotes-and-semicolons",
        why="TypeScript put through another formatter: no semicolons, two more spaces.",
        artifacts=(
            diff(
                added("src/limiter.ts", TYPESCRIPT.replace(";\n", "\n").replace("\n  ", "\n    "))
            ),
        ),
        others=(added("src/limiter.ts", TYPESCRIPT),),
        expects=FOUND,
    ),
    Case(
        name="rust-with-own-tail",
        why="Rust word for word, with a few lines of the agent's own at the end.",
        artifacts=(
            diff(
                added(
                    "src/ledger.rs",
                    RUST
                    + "\nimpl Ledger {\n    pub fn is_empty(&self) -> bool {\n        self.history.is_empty()\n    }\n}\n",
                )
            ),
        ),
        others=(added("src/lib.rs", RUST),),
        expects=FOUND,
    ),
    Case(
        name="as-an-edit",
        why="The other agent added a file; here the same code replaces a stub of the starting tree.",
        artifacts=(diff(edited("cache.py", "class ExpiringCache:\n    pass\n", CACHE)),),
        tree={"cache.py": "class ExpiringCache:\n    pass\n"},
        others=(added("cache.py", CACHE),),
        expects=FOUND,
    ),
)

STUB = CACHE.replace("self._entries.popitem(last=False)", "self._entries.popitem()")

NEGATIVES = (
    Case(
        name="no-other-match",
        why="Nobody else has fought this challenge.",
        artifacts=(diff(added("cache.py", CACHE)),),
    ),
    Case(
        name="same-task-own-work",
        why="Two caches for one briefing, each by its own design.",
        artifacts=(diff(added("cache.py", CACHE)),),
        others=(added("cache.py", OTHER_CACHE),),
    ),
    Case(
        name="the-one-line-fix",
        why="The bug has one right fix of one line, and both found it.",
        artifacts=(diff(edited("cache.py", STUB, CACHE)),),
        tree={"cache.py": STUB},
        others=(edited("cache.py", STUB, CACHE),),
    ),
    Case(
        name="three-line-guard",
        why="The same guard of three lines, as the briefing words it.",
        artifacts=(
            diff(
                edited(
                    "a.go",
                    "package a\n\nfunc F(n int) error {\n\treturn nil\n}\n",
                    "package a\n\nfunc F(n int) error {\n\tif n < 0 {\n\t\treturn ErrNegative\n\t}\n\treturn nil\n}\n",
                )
            ),
        ),
        others=(
            edited(
                "a.go",
                "package a\n\nfunc F(n int) error {\n\treturn nil\n}\n",
                "package a\n\nfunc F(n int) error {\n\tif n < 0 {\n\t\treturn ErrNegative\n\t}\n\treturn nil\n}\n",
            ),
        ),
    ),
    Case(
        name="code-of-the-starting-tree",
        why="Both moved the same file of the starting tree; none of its lines is theirs.",
        artifacts=(
            diff(
                edited("cache.py", CACHE, None),
                added("shop/cache.py", CACHE),
                added("shop/__init__.py", "from shop.cache import ExpiringCache\n"),
            ),
        ),
        tree={"cache.py": CACHE},
        others=(
            edited("cache.py", CACHE, None)
            + added("lib/cache.py", CACHE)
            + added("lib/__init__.py", '"""Things shared."""\n'),
        ),
    ),
    Case(
        name="licence-headers",
        why="The house's licence stands above two programs that have nothing in common.",
        artifacts=(diff(added("cache.py", LICENCE + "\n" + CACHE)),),
        others=(added("store.py", LICENCE + "\n" + OTHER_CACHE),),
    ),
    Case(
        name="command-line-boilerplate",
        why="argparse and logging look the same everywhere; the work below them differs.",
        artifacts=(diff(added("tool.py", CACHE + "\n\n" + BOILERPLATE)),),
        others=(added("tool.py", OTHER_CACHE + "\n\n" + BOILERPLATE),),
    ),
    Case(
        name="lock-files",
        why="A tool wrote both lock files; the code beside them is each agent's own.",
        artifacts=(diff(added("Cargo.lock", LOCKFILE), added("cache.py", CACHE)),),
        others=(added("Cargo.lock", LOCKFILE) + added("cache.py", OTHER_CACHE),),
    ),
    Case(
        name="another-language",
        why="Other languages and other problems.",
        artifacts=(diff(added("src/limiter.ts", TYPESCRIPT)),),
        others=(added("ring.go", GO), added("src/lib.rs", RUST)),
    ),
    Case(
        name="one-function-alike",
        why="A helper of ten lines is common lore (clamp, chunks); it is a small part of each work.",
        artifacts=(
            diff(
                added(
                    "work.py",
                    "def chunks(items, size):\n    for at in range(0, len(items), size):\n        yield items[at : at + size]\n\n\n"
                    + CACHE,
                )
            ),
        ),
        others=(
            added(
                "work.py",
                "def chunks(items, size):\n    for at in range(0, len(items), size):\n        yield items[at : at + size]\n\n\n"
                + OTHER_CACHE,
            ),
        ),
    ),
    Case(
        name="both-deleted-the-same",
        why="Both removed the same dead module: removed lines are nobody's work.",
        artifacts=(diff(edited("legacy.py", CACHE, None), edited("a.py", "x = 1\n", "x = 2\n")),),
        tree={"legacy.py": CACHE, "a.py": "x = 1\n"},
        others=(edited("legacy.py", CACHE, None) + edited("a.py", "x = 1\n", "x = 3\n"),),
    ),
    Case(
        name="empty-diff",
        why="Nothing was added, which is no copy of anything.",
        artifacts=(diff("\n"),),
        others=(added("cache.py", CACHE),),
    ),
)
