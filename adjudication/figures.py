"""What leads watch: load, time, overdue cases, agreement, and how the seats fare.

Everything is summed in the database, in a fixed number of queries, however many cases there
are. Only what is in force counts: a ruling that was replaced is in no figure. Of a match that
this person must still come to blind nothing is in them that tells of a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from adjudication.blindness import dark_matches
from adjudication.models import Case, CaseQuerySet, Ruling
from bouts.models import Challenge, User
from judging.models import Scorecard
from judging.scoring.agreement import Sums, agreement_of
from judging.scoring.exact import score_text
from judging.scoring.policy import CURRENT
from judging.showing.agreement import AgreementRow

WEEKS = 104  # that the picture of time shows

# An exact rational is stored as text, ``5719/75``.
NUMBER = "(split_part({0}, '/', 1)::numeric / coalesce(nullif(split_part({0}, '/', 2), ''), '1')::numeric)"
NEAR = "round(abs({0} - {1}), 9) <= %s"  # thirds and sevenths are cut in a numeric


@dataclass(frozen=True, slots=True)
class Asked:
    """What the figures are of: cases of a challenge, opened from one day to another (UTC)."""

    challenge: Challenge | None = None
    since: date | None = None
    until: date | None = None

    def of(self, rows: QuerySet, *, challenge: str, moment: str) -> QuerySet:
        if self.challenge is not None:
            rows = rows.filter(**{challenge: self.challenge})
        if self.since is not None:
            rows = rows.filter(**{f"{moment}__date__gte": self.since})
        if self.until is not None:
            rows = rows.filter(**{f"{moment}__date__lte": self.until})
        return rows


class Scope:
    """The rows that one person's figures are made of."""

    def __init__(self, user: User, asked: Asked, at: datetime) -> None:
        self.user, self.asked, self.at = user, asked, at
        seen = Case.objects.visible_to(user)
        self.cases: CaseQuerySet = asked.of(seen, challenge="challenge", moment="opened_at")
        self.told = self._lit(self.cases)

    def _lit(self, rows: Any, match: str = "match") -> Any:
        """Leave out the matches that this person must come to blind."""
        if not self.user.is_reviewer:
            return rows
        return rows.exclude(**{f"{match}__in": dark_matches(self.user)})

    @property
    def rulings(self) -> QuerySet:
        """The rulings in force on cases that are settled, the latest first."""
        rulings = Ruling.objects.in_force().filter(case__in=self.told, case__state__in=Case.SETTLED)
        return rulings.order_by("-created_at", "-pk")

    @property
    def cards(self) -> QuerySet:
        """The live scorecards: for seats the question is every panel, not those in a case."""
        cards = Scorecard.objects.live()
        cards = self._lit(self.asked.of(cards, challenge="match__challenge", moment="created_at"))
        foreign = Case.objects.exclude(pk__in=Case.objects.visible_to(self.user)).values("match")
        return cards.exclude(match__in=foreign) if self.user.is_reviewer else cards

    def query(self, sql: str, rows: QuerySet, params: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Run a query over ``chosen``, which holds the rows; its own parameters come after."""
        inner, inner_params = rows.order_by().query.sql_with_params()
        with connection.cursor() as cursor:
            cursor.execute(f"WITH chosen AS ({inner}) {sql}", [*inner_params, *params])
            names = [column.name for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


# Time


@dataclass(frozen=True, slots=True)
class Times:
    """How long cases took from opening to the ruling; None where none was decided."""

    decided: int
    median: timedelta | None
    p90: timedelta | None
    within_target: int
    within_limit: int


@dataclass(frozen=True, slots=True)
class Week:
    starts: date
    decided: int
    median: timedelta
    p90: timedelta


@dataclass(frozen=True, slots=True)
class Overdue:
    unsettled: int
    past_target: int  # those past the limit left out
    past_limit: int
    oldest: datetime | None


DECIDED = "state = 'decided' AND closed_reason = ''"
TOOK = "extract(epoch FROM closed_at - opened_at)"


def times(scope: Scope) -> Times:
    sql = f"""
        SELECT count(*) AS decided,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY {TOOK}) AS median,
            percentile_cont(0.9) WITHIN GROUP (ORDER BY {TOOK}) AS p90,
            count(*) FILTER (WHERE closed_at - opened_at <= %s) AS within_target,
            count(*) FILTER (WHERE closed_at - opened_at <= %s) AS within_limit
        FROM chosen WHERE {DECIDED}"""
    (row,) = scope.query(sql, scope.cases, [settings.CASE_TARGET, settings.CASE_LIMIT])
    return Times(**{**row, "median": _length(row["median"]), "p90": _length(row["p90"])})


def weeks(scope: Scope) -> list[Week]:
    """Return the last weeks (UTC, from Monday) in which a case was decided, oldest first."""
    sql = f"""
        SELECT date_trunc('week', closed_at AT TIME ZONE 'UTC')::date AS starts,
            count(*) AS decided,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY {TOOK}) AS median,
            percentile_cont(0.9) WITHIN GROUP (ORDER BY {TOOK}) AS p90
        FROM chosen WHERE {DECIDED} GROUP BY 1 ORDER BY 1 DESC LIMIT {WEEKS}"""
    found = scope.query(sql, scope.cases)
    return [
        Week(row["starts"], row["decided"], _length(row["median"]), _length(row["p90"]))
        for row in reversed(found)
    ]


def overdue(scope: Scope) -> Overdue:
    sql = """
        SELECT count(*) AS unsettled, min(opened_at) AS oldest,
            count(*) FILTER (WHERE opened_at < %s AND opened_at >= %s) AS past_target,
            count(*) FILTER (WHERE opened_at < %s) AS past_limit
        FROM chosen WHERE closed_at IS NULL"""
    target, limit = scope.at - settings.CASE_TARGET, scope.at - settings.CASE_LIMIT
    (row,) = scope.query(sql, scope.cases, [target, limit, limit])
    return Overdue(**row)


def _length(seconds: Any) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=float(seconds))


# Reviewers


@dataclass(frozen=True, slots=True)
class ReviewerRow:
    """One reviewer's part: rulings in force, what they hold, and how claims ended without."""

    reviewer: str
    rulings: int
    held: int
    declined: int
    lapsed: int
    median: timedelta | None  # from claiming to ruling
    p90: timedelta | None


def reviewers(scope: Scope) -> list[ReviewerRow]:
    """Return every active reviewer, and whoever else had a part, most rulings first."""
    sql = """,
        ruled AS (
            SELECT reviewer_id, count(*) AS rulings FROM adjudication_ruling r
            JOIN chosen c ON c.id = r.case_id
            WHERE NOT EXISTS (SELECT FROM adjudication_ruling n WHERE n.supersedes_id = r.id)
            GROUP BY 1),
        claims AS (
            SELECT l.reviewer_id,
                count(*) FILTER (WHERE l.ended_at IS NULL AND l.expires_at > %s) AS held,
                count(*) FILTER (WHERE l.ended_how = 'declined') AS declined,
                count(*) FILTER (WHERE l.ended_how = 'lapsed'
                    OR (l.ended_at IS NULL AND l.expires_at <= %s)) AS lapsed,
                percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM l.ended_at - l.claimed_at))
                    FILTER (WHERE l.ended_how = 'ruled') AS median,
                percentile_cont(0.9) WITHIN GROUP (ORDER BY extract(epoch FROM l.ended_at - l.claimed_at))
                    FILTER (WHERE l.ended_how = 'ruled') AS p90
            FROM adjudication_claim l JOIN chosen c ON c.id = l.case_id GROUP BY 1)
        SELECT u.username AS reviewer, coalesce(r.rulings, 0) AS rulings, coalesce(l.held, 0) AS held,
            coalesce(l.declined, 0) AS declined, coalesce(l.lapsed, 0) AS lapsed, l.median, l.p90
        FROM bouts_user u LEFT JOIN ruled r ON r.reviewer_id = u.id
            LEFT JOIN claims l ON l.reviewer_id = u.id
        WHERE (u.is_active AND u.role IN ('reviewer', 'lead'))
            OR r.reviewer_id IS NOT NULL OR l.reviewer_id IS NOT NULL
        ORDER BY rulings DESC, u.username"""
    return [
        ReviewerRow(**{**row, "median": _length(row["median"]), "p90": _length(row["p90"])})
        for row in scope.query(sql, scope.cases, [scope.at, scope.at])
    ]


# Agreement


def agreements(scope: Scope) -> list[AgreementRow]:
    """Measure reviewers against the panel and against one another, on Strategy, in two queries."""
    return [*_with_panel(scope), _with_each_other(scope)]


def _with_panel(scope: Scope) -> Iterator[AgreementRow]:
    """Set each blind score beside the mean of all votes of the panel, before any is discarded."""
    sql = f""",
        panel AS (
            SELECT v.bundle_id, avg({NUMBER.format("v.score")}) AS score FROM judging_verdict v
            WHERE v.bundle_id IN (SELECT bundle_id FROM chosen) AND v.judge = 'strategy'
                AND v.seat = ANY(%s) AND v.is_live AND v.score IS NOT NULL
            GROUP BY 1),
        pairs AS (
            SELECT {NUMBER.format("b.score")} AS x, p.score AS y, c.blocking AS flagged,
                c.reason = 'random_audit' AS drawn
            FROM adjudication_blindscore b JOIN chosen c ON c.id = b.case_id
                JOIN panel p ON p.bundle_id = c.bundle_id
            WHERE b.score IS NOT NULL)
        SELECT drawn, count(*) AS units, count(*) FILTER (WHERE flagged) AS flagged,
            sum(x) AS x, sum(y) AS y, sum(x * x + y * y) AS squares,
            sum((x + y) ^ 2 / 2) AS means, sum(2 * (x - y) ^ 2) AS disagreement,
            count(*) FILTER (WHERE {NEAR.format("x", "y")}) AS near
        FROM pairs GROUP BY drawn"""
    params = [list(CURRENT.panel.seats), CURRENT.agreement.within]
    rows = scope.query(sql, scope.told, params)
    drawn = [row for row in rows if row["drawn"]]
    yield AgreementRow(
        "Reviewers and panel, drawn at random",
        "Blind scores on random audits: panels in consensus, drawn by lot, beside the mean of "
        "all votes.",
        sum(row["flagged"] for row in drawn),
        agreement_of(_pairs(drawn), CURRENT),
    )
    yield AgreementRow(
        "Reviewers and panel, all cases",
        "Every blind score on Strategy: flagged, advisory, asked for and drawn together. Most "
        "are cases because something was odd.",
        sum(row["flagged"] for row in rows),
        agreement_of(_pairs(rows), CURRENT),
    )


def _pairs(rows: Sequence[dict[str, Any]]) -> Sums:
    def summed(name: str) -> Fraction:
        return sum((Fraction(row[name]) for row in rows), Fraction(0))

    units = sum(row["units"] for row in rows)
    return Sums(
        units=units,
        pairable=2 * units,
        total=summed("x") + summed("y"),
        squares=summed("squares"),
        means=summed("means"),
        disagreement=summed("disagreement"),
        pairs=units,
        pairs_within=sum(row["near"] for row in rows),
        raters=(summed("x"), summed("y")),
    )


def _with_each_other(scope: Scope) -> AgreementRow:
    """Set the blind scores of one question beside one another, where there are two or more."""
    sql = f""",
        scores AS (
            SELECT (c.match_id, c.evidence_digest) AS unit, b.id, b.reviewer_id, c.blocking,
                {NUMBER.format("b.score")} AS x
            FROM adjudication_blindscore b JOIN chosen c ON c.id = b.case_id
            WHERE b.score IS NOT NULL),
        units AS (
            SELECT unit, count(*) AS m, sum(x) AS s, sum(x * x) AS q, bool_or(blocking) AS flagged
            FROM scores GROUP BY unit HAVING count(*) > 1),
        raters AS (
            SELECT reviewer_id, count(*) AS gave, sum(x) AS s
            FROM scores JOIN units USING (unit) GROUP BY 1)
        SELECT count(*) AS units, count(*) FILTER (WHERE flagged) AS flagged,
            coalesce(sum(m), 0) AS pairable, coalesce(sum(s), 0) AS total,
            coalesce(sum(q), 0) AS squares, coalesce(sum(s * s / m), 0) AS means,
            coalesce(sum(2 * (m * q - s * s) / (m - 1)), 0) AS disagreement,
            coalesce(sum(m * (m - 1) / 2), 0) AS pairs,
            (SELECT count(*) FROM scores a JOIN scores b ON a.unit = b.unit AND a.id < b.id
                WHERE {NEAR.format("a.x", "b.x")}) AS pairs_within,
            (SELECT bool_and(gave = (SELECT count(*) FROM units)) FROM raters) AS is_complete,
            (SELECT array_agg(s ORDER BY reviewer_id) FROM raters) AS raters
        FROM units"""
    (row,) = scope.query(sql, scope.told, [CURRENT.agreement.within])
    raters = tuple(map(Fraction, row["raters"])) if row["is_complete"] else None
    exact = {name: Fraction(row[name]) for name in ("total", "squares", "means", "disagreement")}
    counts = {name: int(row[name]) for name in ("units", "pairable", "pairs", "pairs_within")}
    return AgreementRow(
        "Reviewers with one another",
        "Questions that two or more scored blind: high stakes, and cases that were escalated.",
        row["flagged"],
        agreement_of(Sums(**counts, **exact, raters=raters), CURRENT),
    )


# Seats


@dataclass(frozen=True, slots=True)
class SeatRow:
    """How one seat fared. A panel is settled by the rule, some after that by a reviewer."""

    seat: str
    votes: int
    discarded: int  # by the rule of outliers
    ruled: int  # of its votes, those on whose panel a reviewer set a score
    upheld: int  # of these, within 15 points of it
    adopted: int  # rulings in force that took its score


def seats(scope: Scope) -> list[SeatRow]:
    """Count over every live panel, in two queries. The rule of outliers is SCORING.md, 5."""
    sql = f""",
        votes AS (
            SELECT v.bundle_id, v.seat, {NUMBER.format("v.score")} AS x
            FROM judging_verdict v JOIN chosen c ON c.bundle_id = v.bundle_id
            WHERE v.judge = 'strategy' AND v.seat = ANY(%s) AND v.is_live AND v.score IS NOT NULL),
        panels AS (
            SELECT bundle_id, count(*) AS n, min(x) AS a,
                percentile_disc(0.5) WITHIN GROUP (ORDER BY x) AS b, max(x) AS c
            FROM votes GROUP BY 1),
        ruled AS (
            SELECT v.bundle_id, {NUMBER.format("v.score")} AS x
            FROM judging_verdict v JOIN chosen c ON c.bundle_id = v.bundle_id
            WHERE v.judge = 'strategy' AND v.seat = 'ruling' AND v.is_live AND v.score IS NOT NULL)
        SELECT v.seat, count(*) AS votes,
            count(*) FILTER (WHERE p.n = 3 AND (
                (v.x = p.a AND round(p.b - p.a, 9) > %s AND round(p.c - p.b, 9) <= %s)
                OR (v.x = p.c AND round(p.c - p.b, 9) > %s AND round(p.b - p.a, 9) <= %s)
            )) AS discarded,
            count(r.x) AS ruled,
            count(*) FILTER (WHERE {NEAR.format("v.x", "r.x")}) AS upheld
        FROM votes v JOIN panels p USING (bundle_id) LEFT JOIN ruled r USING (bundle_id)
        GROUP BY v.seat"""
    within = CURRENT.panel.within
    params = [list(CURRENT.panel.seats), *[within] * 4, CURRENT.agreement.within]
    found = {row["seat"]: row for row in scope.query(sql, scope.cards, params)}
    adopted: dict[str, int] = {}
    for seat in (
        scope.rulings.filter(kind=Ruling.Kind.ADOPT).order_by().values_list("seat", flat=True)
    ):
        adopted[seat] = adopted.get(seat, 0) + 1
    blank = {"votes": 0, "discarded": 0, "ruled": 0, "upheld": 0}
    return [
        SeatRow(**{**blank, **found.get(seat, {}), "seat": seat}, adopted=adopted.get(seat, 0))
        for seat in CURRENT.panel.seats
    ]


# Decisions, one by one

COLUMNS = (
    "match", "challenge", "judge", "judge_version", "case", "reason", "stakes", "reviewer",
    "ruling", "kind", "score", "answer", "points", "total_before", "total_after", "opened_at",
    "ruled_at", "public_reason",
)  # fmt: skip
FIELDS = (
    "case__match__slug", "case__challenge__slug", "case__finding_key", "before__policy", "case",
    "case__reason", "case__stakes", "reviewer__username", "pk", "kind", "score", "answer",
    "points", "before__total", "after__total", "case__opened_at", "created_at", "public_reason",
)  # fmt: skip


def decisions(rulings: QuerySet) -> Iterator[tuple[Any, ...]]:
    """Yield rulings as rows of `COLUMNS`, without holding them all."""
    for row in rulings.values_list(*FIELDS).iterator(chunk_size=1_000):
        told = dict(zip(COLUMNS, row, strict=True))
        told["judge"] = "integrity" if told["judge"] else "strategy"
        told["case"] = f"C-{told['case']:04d}"
        told["score"] = score_text(told["score"])
        told["answer"] = told["answer"] or None
        for name in ("total_before", "total_after"):
            told[name] = None if told[name] is None else str(told[name])
        for name in ("opened_at", "ruled_at"):
            told[name] = told[name].isoformat(timespec="seconds")
        yield tuple(told.values())
