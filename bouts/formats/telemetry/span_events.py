"""A trace of spans made into events: the tree walked by start times.

- The outermost agent is the ``start``, at the time of the first span of work, with what the user
  asked for. Where no span is an agent's, the first call of a model is preceded by it.
- Of model spans within each other, as a framework and a client's library both write them, the
  innermost is the call; so too the tokens, since a parent may carry the sum of its children.
- A tool within the same tool is its twin. What a model called and no tool span shows is a call
  of its own, answered by what the model is told later.
- Parallel spans stand in the order in which they started; the time of an event is its start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO

import orjson

from bouts.formats.remarks import Remarks
from bouts.formats.telemetry.clock import Timekeeper
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.telemetry.span_words import Digest, Work, digest_of
from bouts.formats.telemetry.spans import Span, Spans
from bouts.formats.telemetry.spool import Spool
from bouts.formats.telemetry.waiting import Step, WaitingRoom
from bouts.formats.types import Event, Report, Unreadable

MAX_SPANS = 500_000
MAX_DEPTH = 24  # of the tree, how far up is looked


@dataclass(slots=True)
class _Node:
    """A span in the tree; what it tells lies in the spool."""

    id: str
    parent: str
    work: Work
    start: datetime | None
    stamp: Any
    pointer: str
    number: int  # in the spool
    tool: str = ""
    call_id: str = ""
    has_tokens: bool = False
    has_model_below: bool = False
    has_tokens_below: bool = False


def read_trace(source: BinaryIO, report: Report) -> Iterator[Event]:
    """Yield the events of a file of spans. Raises `Unreadable` where no span is of an agent."""
    with Spool() as spool:
        yield from _Trace(report, spool).events(source)


class _Trace:
    def __init__(self, report: Report, spool: Spool) -> None:
        self._report = report
        self._spool = spool
        self._remarks = Remarks()
        self._clock = Timekeeper()
        self._counts: Counter[str] = Counter(spans=0)
        self._nodes: list[_Node] = []
        self._by_id: dict[str, _Node] = {}
        self._names: Counter[str] = Counter()
        self._shown_calls: set[str] = set()  # ids of calls that have a tool span
        self._shown_tools: set[str] = set()  # tools of spans without such an id
        self._recorder = Recorder()
        self._room = WaitingRoom(self._recorder)
        self._has_started = False

    def events(self, source: BinaryIO) -> Iterator[Event]:
        for span in Spans(source, self._report, self._remarks).all():
            self._take(span)
        work = [node for node in self._nodes if node.work is not Work.OTHER]
        if not work:
            raise Unreadable("no span in it is of an agent, a model or a tool that it called")
        self._look_below()
        work.sort(key=self._position)
        for node in work:
            self._clock.survey(node.start or node.stamp or "")
        self._clock.settle(self._report)
        for node in work:
            yield from self._node(node)
        yield from self._room.rest()
        if self._room.unanswered:
            self._remarks.add(f"calls without a result: {self._room.unanswered:,}")
        self._write_names()
        self._recorder.finish(self._report)
        self._report.counts.update(self._counts)
        self._remarks.write(self._report)

    def _write_names(self) -> None:
        if names := sorted(self._names):
            self._report.facts["attribute_names"] = names
        if len(names) > 1:
            self._report.note(f"attributes of several vocabularies: {', '.join(names)}")

    # The tree

    def _take(self, span: Span) -> None:
        self._counts["spans"] += 1
        if self._counts["spans"] > MAX_SPANS:
            raise Unreadable(f"more spans than MAX_SPANS = {MAX_SPANS:,}", span.pointer)
        if span.id and span.id in self._by_id:
            self._counts["repeated"] += 1
            return
        digest = digest_of(span)
        number = -1
        if digest.work is not Work.OTHER:
            number = self._spool.add(orjson.dumps(digest, option=orjson.OPT_NON_STR_KEYS))
            if digest.names:
                self._names[digest.names] += 1
        node = _Node(
            span.id,
            span.parent,
            digest.work,
            span.start,
            span.stamp,
            span.pointer,
            number,
            tool=digest.tool,
            call_id=digest.call_id,
            has_tokens=digest.tokens_in is not None or digest.tokens_out is not None,
        )
        self._nodes.append(node)
        if span.id:
            self._by_id[span.id] = node
        if digest.work is Work.TOOL:
            if digest.call_id:
                self._shown_calls.add(digest.call_id)
            else:
                self._shown_tools.add(digest.tool)

    def _above(self, node: _Node) -> Iterator[_Node]:
        """Yield the spans around one, the nearest first; one that is around itself ends it."""
        here = node
        for _ in range(MAX_DEPTH):
            above = self._by_id.get(here.parent)
            if above is None or above is node:
                return
            yield above
            here = above

    def _look_below(self) -> None:
        for node in self._nodes:
            if node.work is not Work.MODEL:
                continue
            for above in self._above(node):
                if above.has_model_below and (above.has_tokens_below or not node.has_tokens):
                    break
                above.has_model_below = True
                above.has_tokens_below |= node.has_tokens

    def _position(self, node: _Node) -> tuple[float, int, int]:
        """Order by start, then what is around before what is within, then as in the file."""
        start = node.start
        if start is None:
            above = next((a.start for a in self._above(node) if a.start), None)
            start = above
        if start is None:
            return 0.0, 0, node.number
        moment = start if start.tzinfo else start.replace(tzinfo=UTC)
        depth = sum(1 for _ in self._above(node))
        return moment.timestamp(), depth, node.number

    def _is_twin(self, node: _Node) -> bool:
        """Whether a tool span tells again of the tool around it."""
        for above in self._above(node):
            if above.work in {Work.MODEL, Work.AGENT}:
                return False
            if above.work is Work.TOOL:
                same_call = bool(node.call_id) and node.call_id == above.call_id
                return same_call or node.tool == above.tool
        return False

    # Events

    def _node(self, node: _Node) -> Iterator[Event]:
        digest = Digest(**orjson.loads(self._spool.get(node.number)))
        stamp = node.start or node.stamp
        t = self._clock.seconds(stamp, self._remarks, node.pointer)
        tokens = (digest.tokens_in, digest.tokens_out)
        if node.has_tokens_below:
            tokens = (None, None)
            self._counts["sums_left_out"] += node.has_tokens
        match node.work:
            case Work.AGENT:
                yield from self._agent(node, digest, t, tokens)
            case Work.MODEL | Work.PLAN if not node.has_model_below:
                yield from self._model(node, digest, t, tokens)
            case Work.TOOL if self._is_twin(node):
                self._counts["twins"] += 1
            case Work.TOOL:
                call = Call(
                    digest.tool or "unknown",
                    digest.arguments,
                    node.pointer,
                    id=digest.call_id or None,
                    output="" if digest.call_id else digest.output,
                    extras=[] if digest.failed is None else [{"is_error": digest.failed}],
                )
                yield from self._room.add(Step(Moment(t, "", *tokens), node.pointer, [call]))
                self._room.answer(call.id, digest.output)
                yield from self._room.ready()

    def _agent(
        self, node: _Node, digest: Digest, t: float | None, tokens: tuple[int | None, int | None]
    ) -> Iterator[Event]:
        self._counts["agents"] += 1
        if not self._has_started:
            self._has_started = True
            moment = Moment(t, digest.request, *tokens)
            yield from self._room.add(Step(moment, node.pointer, by_user=True))
        elif tokens != (None, None):
            yield from self._room.add(Step(Moment(t, digest.text, *tokens), node.pointer))

    def _model(
        self, node: _Node, digest: Digest, t: float | None, tokens: tuple[int | None, int | None]
    ) -> Iterator[Event]:
        if not self._has_started and digest.request:
            self._has_started = True
            yield from self._room.add(Step(Moment(t, digest.request), node.pointer, by_user=True))
        for call_id, output in digest.results:
            self._room.answer(call_id, output)
        yield from self._room.ready()
        calls = [
            Call(call["name"] or "unknown", call["arguments"], node.pointer, call["id"] or None)
            for call in digest.calls
            if call["id"] not in self._shown_calls and call["name"] not in self._shown_tools
        ]
        moment = Moment(t, digest.text, *tokens)
        if node.work is Work.PLAN and not calls:
            calls = [Call("plan", {"plan": digest.text}, node.pointer)]
            moment = moment._replace(text="")
        if calls or digest.text or tokens != (None, None) or digest.calls:
            yield from self._room.add(Step(moment, node.pointer, calls))
