"""The judges' cards: what each wrote, and what it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from bouts.rules import Judge, Severity
from judging.charts.metrics import MetricBar, metric_bar
from judging.charts.seats import SeatScale, Vote, seat_scale
from judging.rubrics import Criterion, Level, rubric
from judging.scoring.exact import rounded
from judging.scoring.policy import MetricRule, Policy
from judging.showing import how, words
from judging.showing.addresses import Addresses, Link
from judging.showing.inert import inert
from judging.showing.words import decimal

MOST_LINKS = 8  # evidence links in a row; the rest stand behind a summary
LETTERS = "ABCDEFGHIJ"
_EVENT = re.compile(r"#(\d{1,10})\b")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a rationale, and the evidence it names where it names some."""

    text: str
    link: Link | None = None


Paragraph = tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Links:
    """Evidence links: the first few, and those behind a summary."""

    shown: tuple[Link, ...]
    more: tuple[Link, ...]

    @classmethod
    def of(cls, links: Iterable[Link]) -> Links:
        # What is withheld says so once, however often it is cited.
        unique = tuple(dict.fromkeys(replace(link, excerpt="") for link in links))
        return cls(unique[:MOST_LINKS], unique[MOST_LINKS:])

    def __bool__(self) -> bool:
        return bool(self.shown)


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures at the side of a judge's card."""

    name: str
    title: str
    raw: str | None
    counted: str | None
    weight: float
    own_weight: float
    points: str
    reason: str | None
    is_anchored: bool
    is_open: bool


def figures_of(name: str, judge: Mapping[str, Any], *, is_open: bool) -> Figures:
    return Figures(
        name=name,
        title=words.JUDGES[name],
        raw=judge["raw"],
        counted=judge["counted"],
        weight=judge["effective_weight"],
        own_weight=judge["weight"],
        points=judge["points"],
        reason=judge["reason"],
        is_anchored=judge["anchored"],
        is_open=is_open,
    )


def paragraphs_of(text: str, events: Mapping[int, Link] | None = None) -> list[Paragraph]:
    """Return a rationale as paragraphs, its mentions of events (``#37``) as links."""
    blocks = [block.strip() for block in inert(text).split("\n\n")]
    return [tuple(_segments(block, events or {})) for block in blocks if block]


def _segments(text: str, events: Mapping[int, Link]) -> Iterator[Segment]:
    start = 0
    for found in _EVENT.finditer(text):
        link = events.get(int(found[1]))
        if link is None:
            continue
        if found.start() > start:
            yield Segment(text[start : found.start()])
        yield Segment(found[0], link)
        start = found.end()
    if start < len(text):
        yield Segment(text[start:])


def _events(anchors: Iterable[Mapping[str, Any]], addresses: Addresses) -> dict[int, Link]:
    """Return the links to events among some anchors, by sequence."""
    links = {}
    for anchor in anchors:
        place = anchor["place"] or ""
        if place.startswith("event:"):
            links[int(place.removeprefix("event:"))] = addresses.link(anchor)
    return links


# Objective


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One rate of the rule: passed and total by severity, the weighted sums, the rate."""

    label: str
    is_withheld: bool
    counts: tuple[tuple[int, int], ...]
    weighted: str
    rate: str | None
    how_rate: how.Lines


@dataclass(frozen=True, slots=True)
class CategoryRow:
    category: str
    severity: str
    passed: int
    failed: int
    total: int


@dataclass(frozen=True, slots=True)
class NamedLink:
    label: str
    link: Link | None
    text: str


@dataclass(frozen=True, slots=True)
class ObjectiveCard:
    paragraphs: Sequence[Paragraph]
    severities: tuple[str, ...]
    weights: str
    suites: tuple[SuiteRow, ...]
    formula: tuple[str, ...]
    score: str | None
    notes: tuple[str, ...]
    links: tuple[NamedLink, ...]
    categories: tuple[CategoryRow, ...]
    digest: str


def objective_card(card: Mapping[str, Any], policy: Policy, addresses: Addresses) -> ObjectiveCard:
    judge = card["judges"]["objective"]
    evidence = judge["evidence"] or {}
    weights = policy.objective.severity_weights
    return ObjectiveCard(
        paragraphs=paragraphs_of(judge["rationale"]),
        severities=tuple(severity.value for severity in Severity),
        weights=", ".join(f"{severity.value} counts {weights[severity]}" for severity in Severity),
        suites=tuple(_suites(judge, card["withheld"], policy)),
        formula=tuple(_formula(judge, policy)),
        score=judge["raw"],
        notes=tuple(_objective_notes(judge, evidence, policy)),
        links=tuple(_objective_links(judge, evidence, addresses)),
        categories=tuple(CategoryRow(**row) for row in judge.get("hidden_categories", [])),
        digest=evidence.get("digest", ""),
    )


def _suites(
    judge: Mapping[str, Any], withheld: Sequence[str], policy: Policy
) -> Iterator[SuiteRow]:
    weights = policy.objective.severity_weights
    is_withheld = "judges.objective.evidence.tests[hidden]" in withheld
    labels = {"static": "Visible", "hidden": "Hidden and invariants"}
    for suite, label in labels.items():
        tallies = judge.get("counts", {}).get(suite)
        if not tallies:
            continue
        rate = judge[f"{suite}_rate"]
        counts = [tallies.get(severity.value, {}) for severity in Severity]
        whole = sum(
            weights[severity] * tally.get("total", 0)
            for severity, tally in zip(Severity, counts, strict=True)
        )
        earned = None if rate is None else Fraction(rate) * whole / 100
        yield SuiteRow(
            label=label,
            is_withheld=is_withheld and suite == "hidden",
            counts=tuple((tally.get("passed", 0), tally.get("total", 0)) for tally in counts),
            weighted="" if earned is None else f"{_short(rounded(earned, 1))} of {whole}",
            rate=rate,
            how_rate=how.rate(tallies, rate, policy),
        )


def _formula(judge: Mapping[str, Any], policy: Policy) -> Iterator[str]:
    """Write the rule of SCORING.md, 2 with this match's figures."""
    rules, base = policy.objective, judge.get("base")
    if base is None or judge["raw"] is None:
        return
    static, hidden = judge["static_rate"], judge["hidden_rate"]
    # The sum in between is told only where something is taken from it or added.
    between = f" = {base}" if base != judge["raw"] else ""
    if static is not None and hidden is not None:
        shares = rules.static_share + rules.hidden_share
        yield f"({static} + {rules.hidden_share} × {hidden}) ÷ {shares}{between}"
    else:
        yield f"one suite only{between}"
    if crashes := len(judge.get("crashes", [])):
        each = "" if crashes == 1 else f" {crashes} ×"
        yield f"−{each} {rules.crash_penalty} for {words.count(crashes, 'crash', 'crashes')}"
    bonus = decimal(judge["bonus"])
    if bonus:
        yield f"+ {bonus} for speed"
    if critical := len(judge.get("critical_findings", [])):
        each = "" if critical == 1 else f" {critical} ×"
        found = words.count(critical, "critical finding")
        yield f"−{each} {rules.critical_finding_penalty} for {found}"


def _objective_notes(
    judge: Mapping[str, Any], evidence: Mapping[str, Any], policy: Policy
) -> Iterator[str]:
    if judge.get("gate") == "build_failed":
        yield "The build failed, so the score is 0 whatever else is there."
    if evidence and evidence["build"] is None:
        yield "No build was reported; the gate stays open."
    if judge.get("base") is not None:
        within = policy.objective.reproducible_within
        if judge["reproducible"] is None:
            yield "Whether it is reproducible is not known: there are not two runs to compare."
        elif judge["reproducible"]:
            yield f"Reproducible: the runs lie within {within} points of each other."
        else:
            yield f"Not reproducible: the runs differ by more than {within} points."
    if "unreadable_run" in judge.get("marks", ()):
        yield "A run whose results cannot be read is left out."
    speed = judge.get("performance")
    if speed:
        if speed["median_s"] is None:
            yield f"No performance bonus: {speed['reason']}."
        elif not decimal(judge["bonus"]):
            yield (
                f"No performance bonus: {speed['median_s']} s against a baseline of "
                f"{speed['baseline_s']} s."
            )
    tests = evidence.get("tests", [])
    if errored := sum("errored" in test["outcomes"] for test in tests):
        yield f"{words.count(errored, 'test')} errored: counted, and not as passed."
    flaky = sum(test["flaky"] for test in tests)
    if flaky:
        yield f"{words.count(flaky, 'test')} passed only on a later attempt; the first one counts."
    if judge.get("unlisted"):
        yield (
            f"{words.count(len(judge['unlisted']), 'result')} of tests that the challenge does "
            "not list: they do not count."
        )
    if judge.get("skipped"):
        yield f"{words.count(len(judge['skipped']), 'test')} skipped in every run: not counted."


def _objective_links(
    judge: Mapping[str, Any], evidence: Mapping[str, Any], addresses: Addresses
) -> Iterator[NamedLink]:
    if not evidence:
        return
    build = evidence["build"]
    if build:
        yield NamedLink(
            "Build", _file(build["log"], addresses), "passed" if build["ok"] else "failed"
        )
    for crash in judge.get("crashes", []):
        yield NamedLink("Crash", addresses.link(crash), inert(crash["signature"]))
    for scan in judge.get("scans", []):
        found = len(judge["critical_findings"])
        text = f"{found} critical" if scan["readable"] else "not read"
        yield NamedLink("Scan", _file(scan["artifact"], addresses), text)
    for log in evidence["logs"]:
        yield NamedLink(f"Run {log['run'] or 1}", _file(log["artifact"], addresses), "")


def _file(path: str | None, addresses: Addresses) -> Link | None:
    """Return a link to a file as a whole; None where it is not named or withheld."""
    digest = addresses.digests.get(path) if path else None
    if path is None or digest is None:
        return None
    return Link(inert(path.rpartition("/")[2]), addresses.artifact(digest), path)


def _short(number: Decimal) -> str:
    return f"{number:f}".removesuffix(".0")


# Process and Recovery


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    text: str
    links: Links


@dataclass(frozen=True, slots=True)
class MetricRow:
    title: str
    how: str
    value: str | None
    reason: str | None
    score: str | None
    how_score: how.Lines
    good: str
    bar: MetricBar
    episodes: tuple[EpisodeRow, ...]
    episode_count: int


@dataclass(frozen=True, slots=True)
class CriterionRow:
    """A criterion, what a model made of it, and what its levels mean."""

    title: str
    question: str
    level: int | None
    score: str | None
    reason: str
    paragraphs: Sequence[Paragraph]
    links: Links
    levels: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class RemarkRow:
    """What a scan of a rationale found."""

    text: str
    quote: str
    record: str


REMARKS = {
    "score": "It speaks of a score, a rank or another verdict",
    "expected_answer": "It quotes an expected answer",
    "hidden_test": "It tells of a hidden test",
    "name": "It names a team, an agent or a model",
    "contradicted": "The record says otherwise",
}


@dataclass(frozen=True, slots=True)
class HalvesCard:
    """The card of a judge with a metric half and a model half."""

    paragraphs: Sequence[Paragraph]
    links: Links
    metrics: tuple[MetricRow, ...]
    metrics_half: str | None
    how_metrics: how.Lines
    criteria: tuple[CriterionRow, ...]
    model_half: str | None
    how_model: how.Lines
    model: str
    model_state: str
    model_reason: str
    call: int | None  # for staff: the stored call
    remarks: tuple[RemarkRow, ...]
    uploaded: str  # for staff: what was uploaded beside an answer of our own
    formula: str
    highest_level: int

    @property
    def has_levels(self) -> bool:
        return any(criterion.level is not None for criterion in self.criteria)


def halves_card(
    name: str, card: Mapping[str, Any], policy: Policy, addresses: Addresses
) -> HalvesCard:
    judge = card["judges"][name]
    rules = policy.halves
    metrics = judge.get("metrics", {})
    cited = [
        anchor
        for metric in metrics.values()
        for episode in metric["episodes"]
        for anchor in episode["evidence"]
    ]
    events = _events([*judge["evidence"], *cited], addresses)
    model = judge.get("model") or {}
    return HalvesCard(
        paragraphs=paragraphs_of(judge["rationale"], events),
        links=Links.of(addresses.link(anchor) for anchor in model.get("evidence", [])),
        metrics=tuple(
            _metric(rule, metrics[rule.name], addresses)
            for rule in rules.metrics_of(Judge(name))
            if rule.name in metrics
        ),
        metrics_half=judge.get("metrics_half"),
        how_metrics=how.mean([one["score"] for one in metrics.values()], judge.get("metrics_half")),
        criteria=tuple(
            _criterion(meant, judge["criteria"][meant.name], addresses)
            for meant in rubric(name, policy.version).criteria
            if meant.name in judge.get("criteria", {})
        ),
        model_half=judge.get("model_half"),
        how_model=how.levels(
            [one.get("score") for one in judge.get("criteria", {}).values()],
            judge.get("model_half"),
            rules,
        ),
        model=inert(model.get("model", "")),
        model_state=model.get("state", ""),
        model_reason=inert(model.get("reason", "")),
        call=model.get("call"),
        remarks=_remarks(model),
        uploaded=_uploaded_half(judge.get("uploaded")),
        formula=_halves_formula(judge),
        highest_level=rules.highest_level,
    )


def _metric(rule: MetricRule, found: Mapping[str, Any], addresses: Addresses) -> MetricRow:
    title, value = words.METRICS[rule.name], found["value"]
    unit = " s" if rule.name.endswith("_s") else ""
    shown = None if value is None else _value(value, unit)
    good = f"{rule.good}{unit}" if rule.good else ""
    told = shown or "n/a"
    return MetricRow(
        title=title,
        how=_how(found),
        value=shown,
        reason=found["reason"],
        score=found["score"],
        how_score=how.metric(rule.curve, found),
        good=good,
        bar=metric_bar(rule.curve, value, f"{title}: {told}{f', good {good}' if good else ''}"),
        episodes=tuple(
            EpisodeRow(
                words.sentence(episode["text"]),
                Links.of(addresses.link(anchor) for anchor in episode["evidence"]),
            )
            for episode in found["episodes"]
        ),
        episode_count=found["episode_count"],
    )


def _how(found: Mapping[str, Any]) -> str:
    """Say how a metric came about; of a 0 without a value, that it was there to be done."""
    how = words.sentence(found["how"].removeprefix("n/a: "))
    is_undone = found["value"] is None and found["score"] is not None
    return f"{how}; undone counts as 0" if is_undone else how


def _value(value: float, unit: str) -> str:
    """Return seconds as they are and ratios to four places."""
    if unit:
        return f"{value:,.2f}".rstrip("0").rstrip(".") + unit
    return f"{value:,.4f}"


def _criterion(meant: Criterion, found: Mapping[str, Any], addresses: Addresses) -> CriterionRow:
    return CriterionRow(
        title=meant.title,
        question=meant.question,
        level=found.get("level"),
        score=found.get("score"),
        reason=found.get("reason") or "",
        paragraphs=paragraphs_of(found.get("rationale", "")),
        links=Links.of(addresses.link(anchor) for anchor in found.get("evidence", [])),
        levels=meant.levels,
    )


def _remarks(said: Mapping[str, Any]) -> tuple[RemarkRow, ...]:
    return tuple(
        RemarkRow(REMARKS.get(remark["kind"], ""), inert(remark["quote"]), inert(remark["record"]))
        for remark in said.get("remarks", [])
    )


def _uploaded_half(uploaded: Mapping[str, Any] | None) -> str:
    if not uploaded:
        return ""
    said = uploaded["state"] if uploaded["score"] is None else uploaded["score"]
    return f"{said} of {inert(uploaded['model'])}" if uploaded["model"] else said


def _halves_formula(judge: Mapping[str, Any]) -> str:
    metrics, model = judge.get("metrics_half"), judge.get("model_half")
    if judge["raw"] is None:
        return ""
    if judge["reason"] == "unverified":
        return "No test was ever run: 0, whatever a model says"
    if metrics and model:
        return f"½ × {metrics} + ½ × {model} = {judge['raw']}"
    return f"Metrics alone: {judge['raw']}" if metrics else f"Model half alone: {judge['raw']}"


# Strategy


@dataclass(frozen=True, slots=True)
class SeatCard:
    letter: str
    name: str  # vendor and model, empty while the case is open
    state: str
    score: str | None
    reason: str
    paragraphs: Sequence[Paragraph]
    criteria: tuple[CriterionRow, ...]
    how_score: how.Lines
    links: Links
    remarks: tuple[RemarkRow, ...]
    call: int | None  # for staff: the stored call
    is_discarded: bool


@dataclass(frozen=True, slots=True)
class StrategyCard:
    branch: str
    branch_title: str
    rule: str
    votes: int
    configured: int
    within: int
    is_open: bool
    is_anonymous: bool
    seats: tuple[SeatCard, ...]
    scale: SeatScale | None
    formula: tuple[str, ...]
    panel_score: str | None
    ruling: str | None  # the public reason
    ruled_score: str | None
    highest_level: int
    rubric: tuple[Criterion, ...]
    is_uploaded: bool
    uploaded: tuple[str, ...]  # for staff: votes that were uploaded beside our own seats


def strategy_card(card: Mapping[str, Any], policy: Policy, addresses: Addresses) -> StrategyCard:
    judge = card["judges"]["strategy"]
    in_order = sorted(judge.get("seats", []), key=_by_score)
    seats = tuple(
        _seat(LETTERS[at], seat, judge.get("discarded"), policy, addresses)
        for at, seat in enumerate(in_order)
    )
    votes = [
        Vote(seat.letter, Decimal(seat.score), seat.is_discarded)
        for seat in seats
        if seat.score is not None
    ]
    within, ruling = judge.get("within", policy.panel.within), judge.get("ruling")
    return StrategyCard(
        branch=judge.get("branch", "waiting"),
        branch_title=words.BRANCHES.get(judge.get("branch", "waiting"), ""),
        rule=judge.get("rule", ""),
        votes=judge.get("votes", 0),
        configured=judge.get("configured", 0),
        within=within,
        is_open=bool(judge.get("flagged")),
        is_anonymous=bool(in_order) and "model" not in in_order[0],
        seats=seats,
        scale=seat_scale(votes, within) if votes else None,
        formula=tuple(_panel_formula(judge, votes, policy)),
        panel_score=judge.get("panel_score"),
        ruling=inert(ruling["reason"]) if ruling else None,
        ruled_score=ruling["score"] if ruling else None,
        highest_level=policy.halves.highest_level,
        rubric=rubric(Judge.STRATEGY, policy.version).criteria,
        is_uploaded=judge.get("source") == "uploaded",
        uploaded=tuple(
            f"{inert(one['seat'])} {one['score'] or one['state']}"
            for one in judge.get("uploaded", [])
        ),
    )


def _by_score(seat: Mapping[str, Any]) -> tuple[bool, Decimal, str]:
    score = decimal(seat["score"])
    return score is None, score or Decimal(0), seat["seat"]


def _seat(
    letter: str,
    seat: Mapping[str, Any],
    discarded: str | None,
    policy: Policy,
    addresses: Addresses,
) -> SeatCard:
    levels, said = seat["levels"] or {}, seat.get("criteria", {})
    model = seat.get("model")
    return SeatCard(
        letter=letter,
        name="" if model is None else inert(", ".join(filter(None, (seat["seat"], model)))),
        state=seat["state"],
        score=seat["score"],
        reason=inert(seat["reason"]),
        paragraphs=paragraphs_of(seat["rationale"]),
        criteria=tuple(
            _criterion(meant, {"level": levels[meant.name], **said.get(meant.name, {})}, addresses)
            for meant in rubric(Judge.STRATEGY, policy.version).criteria
            if meant.name in levels
        ),
        how_score=how.levels(
            [_points_of(level, policy) for level in levels.values()], seat["score"], policy.halves
        ),
        links=Links.of(addresses.link(anchor) for anchor in seat["evidence"]),
        remarks=_remarks(seat),
        call=seat.get("call"),
        is_discarded=seat["seat"] == discarded,
    )


def _points_of(level: int, policy: Policy) -> str:
    rules = policy.halves
    return str(rules.points_a_level * (level - rules.lowest_level))


def _panel_formula(
    judge: Mapping[str, Any], votes: Sequence[Vote], policy: Policy
) -> Iterator[str]:
    counted = [vote.score for vote in votes if not vote.is_discarded]
    if judge.get("panel_score") is None:
        return
    match judge["branch"]:
        case "consensus" | "chained":
            yield "the middle of three"
        case "single":
            yield "the one vote"
        case _:
            total = " + ".join(str(score) for score in counted)
            is_penalised = judge["branch"] in {"disagree", "pair_split"}
            yield f"({total}) ÷ {len(counted)}" + (f" = {judge['mean']}" if is_penalised else "")
            if is_penalised:
                yield f"− {policy.panel.disagreement_penalty}"
