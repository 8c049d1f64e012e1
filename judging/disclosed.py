"""The copy of a breakdown that an audience may see. The one way out for pages, API and exports.

Every field is copied by name: what is added to the breakdown later stays inside until it is
listed here. What is left out is told under ``withheld``, as paths into the JSON; a text in
which only a quotation is the trouble reads "withheld" where it stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bouts.disclosure import WITHHELD, Audience, Gate
from bouts.evidence import BadPlace, TestPlace, parse_place
from bouts.formats.types import Kind
from bouts.rules import Suite
from judging.judges.detectors.assertions import BUILD, VISIBLE
from judging.judges.objective import UNCOUNTED
from judging.nameless import letters_of, nameless

JsonDict = dict[str, Any]

STATUS = ("match", "revision", "policy", "challenge_version", "status")
SCORE = ("total", "reason", "base", "adjustment", "band")
JUDGE_SCORE = ("raw", "counted", "weight", "effective_weight", "points", "anchored", "reason")
LEDGER_ROW = (
    "row", "points", "why", "finding", "raw", "counted", "weight", "anchored", "provisional",
)  # fmt: skip
METRIC = ("value", "score", "reason", "reason_text", "good", "how", "episode_count")
SPEED = ("name", "baseline_s", "median_s", "bonus", "reason", "artifact")
CRITICAL_FINDING = ("rule", "path", "line", "message", "artifact")
# Marks that say no more than a leaderboard row does.
PUBLIC_MARKS = frozenset({"reduced", "incomplete", "reduced_evidence", "flagged", "warned", "held"})
APPLIED = "applied"
OPEN = "open"
OPEN_ABOUTS = frozenset({VISIBLE, BUILD})


def disclosed(breakdown: Mapping[str, Any], gate: Gate) -> JsonDict:
    """Return what the gate's audience may see of a scorecard's breakdown."""
    match gate.audience:
        case Audience.STAFF:
            return _for_staff(breakdown, gate)
        case Audience.TEAM:
            return _Team(breakdown, gate).copy()
        case Audience.OTHERS:
            return _for_others(breakdown)
        case Audience.BLIND:
            return {
                "challenge_version": breakdown["challenge_version"],
                "withheld": ["everything, until your own score is committed"],
            }
    return {"withheld": ["everything"]}


def _texts(gate: Gate, value: Any) -> Any:
    """Copy JSON with every text in it as the gate shows it. Keys are words of our own."""
    match value:
        case str():
            return gate.text(value)
        case Mapping():
            return {key: _texts(gate, item) for key, item in value.items()}
        case list() | tuple():
            return [_texts(gate, item) for item in value]
    return value


def _some(source: Mapping[str, Any], fields: Iterable[str]) -> JsonDict:
    return {field: source[field] for field in fields if field in source}


# Staff


def _for_staff(breakdown: Mapping[str, Any], gate: Gate) -> JsonDict:
    """Everything, its keys and tokens masked; every file may be saved (``raw``)."""
    shown = _texts(gate, breakdown)
    for row in shown["artifacts"]:
        row["raw"] = True
    return {**shown, "withheld": []}


# Other teams


def _for_others(breakdown: Mapping[str, Any]) -> JsonDict:
    """Totals, judge scores, and the kinds and points of applied findings.

    The ledger still adds up: what is left out of it are rows of 0 points.
    """
    findings = breakdown["integrity"]["findings"]
    applied = {finding["key"] for finding in findings if finding["status"] == APPLIED}
    judges = breakdown["judges"]
    return {
        **_some(breakdown, (*STATUS, *SCORE)),
        "marks": [mark for mark in breakdown["marks"] if mark in PUBLIC_MARKS],
        "ledger": [
            _some(row, ("row", "points"))
            for row in breakdown["ledger"]
            if row.get("finding") in {None, *applied}
        ],
        "judges": {name: _some(judge, JUDGE_SCORE) for name, judge in judges.items()},
        "integrity": {
            "adjustment": breakdown["integrity"]["adjustment"],
            "findings": [
                _some(finding, ("trigger", "points", "severity", "status"))
                for finding in findings
                if finding["key"] in applied
            ],
        },
        "withheld": [
            "range",
            "ledger[].why",
            "ledger[proposed and dismissed findings]",
            *(f"judges.{name}[all but scores]" for name in judges),
            "integrity[all but applied findings]",
            "cases",
            "artifacts",
        ],
    }


# The team's own


class _Team:
    """The breakdown as the team that fought the match sees it, within the disclosure."""

    def __init__(self, breakdown: Mapping[str, Any], gate: Gate) -> None:
        self._source = breakdown
        self._gate = gate
        self._withheld: dict[str, None] = {}  # a set that keeps its order
        self._files = {row["path"]: row for row in breakdown["artifacts"]}
        evidence = breakdown["judges"]["objective"]["evidence"]
        self._objective = evidence if isinstance(evidence, Mapping) else {}
        tests = self._objective.get("tests", [])
        self._visible = [test for test in tests if gate.shows_suite(test["suite"])]
        self._unseen = [test for test in tests if not gate.shows_suite(test["suite"])]
        self._visible_ids = frozenset(test["id"] for test in self._visible)
        # A revision knows the cases of its time; one may have been opened since.
        self._strategy_is_open = gate.is_contested or any(
            case["status"] == OPEN and not case["finding_key"] for case in breakdown["cases"]
        )

    def copy(self) -> JsonDict:
        source, judges = self._source, self._source["judges"]
        shown: JsonDict = {
            **_some(source, (*STATUS, *SCORE)),
            "range": source["range"] and _some(source["range"], ("low", "high")),
            "marks": list(source["marks"]),
            "ledger": self._texts("ledger", [_some(row, LEDGER_ROW) for row in source["ledger"]]),
            "judges": {
                "objective": self._objective_card(judges["objective"]),
                "process": self._telemetry_card("process", judges["process"]),
                "strategy": self._strategy_card(judges["strategy"]),
                "recovery": self._telemetry_card("recovery", judges["recovery"]),
            },
            "integrity": self._integrity(source["integrity"]),
            "cases": [
                _some(case, ("reason", "blocking", "status", "finding_key"))
                for case in source["cases"]
            ],
            "waits": self._texts(
                "waits", [_some(one, ("judge", "why")) for one in source.get("waits", ())]
            ),
            "artifacts": self._artifacts(source["artifacts"]),
        }
        return {**shown, "withheld": list(self._withheld)}

    # Texts and anchors

    def _leave_out(self, where: str) -> None:
        self._withheld[where] = None

    def _texts(self, where: str, value: Any) -> Any:
        """Copy a part of the breakdown with its texts as the gate shows them."""
        match value:
            case str():
                shown = self._gate.text(value)
                if shown == WITHHELD != value:
                    self._leave_out(where)
                return shown
            case Mapping():
                return {key: self._texts(f"{where}.{key}", item) for key, item in value.items()}
            case list() | tuple():
                return [self._texts(f"{where}[{at}]", item) for at, item in enumerate(value)]
        return value

    def _anchors(self, where: str, anchors: Sequence[Mapping[str, Any]]) -> list[JsonDict]:
        return [self._anchor(f"{where}[{at}]", anchor) for at, anchor in enumerate(anchors)]

    def _anchor(self, where: str, anchor: Mapping[str, Any]) -> JsonDict:
        """Copy an anchor; one whose very place is withheld keeps neither file nor place."""
        if not self._shows_place(anchor["artifact"], anchor["place"]):
            self._leave_out(where)
            blank: JsonDict = {"artifact": None, "place": None}
            return blank | ({"excerpt": WITHHELD} if "excerpt" in anchor else {})
        shown = _some(anchor, ("artifact", "place"))
        if "excerpt" in anchor:
            shown["excerpt"] = self._excerpt(f"{where}.excerpt", anchor)
        return shown

    def _excerpt(self, where: str, anchor: Mapping[str, Any]) -> str:
        """Show an excerpt where its file may be shown, and of a sandbox log each line by itself.

        Of a file that quotes a hidden test somewhere, an excerpt may be the part that stands
        beside the quotation. Its link leads to the whole value, which is looked at again.
        """
        row = self._files[anchor["artifact"]]
        is_shown = self._gate.shows_file(row["kind"], quotes_hidden=row["quotes_hidden"])
        if is_shown or row["kind"] == Kind.SANDBOX:
            return self._texts(where, anchor["excerpt"])
        self._leave_out(where)
        return WITHHELD

    def _shows_place(self, path: str, place: str) -> bool:
        if not self._shows_values(path):
            return False
        try:
            where = parse_place(place)
        except BadPlace:
            return False
        if isinstance(where, TestPlace):
            # The name of a visible test is no secret, even where it holds a hidden one's.
            is_known = where.id in self._visible_ids or not self._gate.quotes_hidden(where.id)
            return self._gate.shows_suite(where.suite) and is_known
        return self._gate.shows_hidden_tests or not self._gate.quotes_hidden(place)

    def _shows_values(self, path: str) -> bool:
        row = self._files.get(path)
        if row is None or self._quotes(path):
            return False
        return self._gate.shows_values(
            row["kind"], row["suite"], quotes_hidden=row["quotes_hidden"]
        )

    def _quotes(self, text: str) -> bool:
        return not self._gate.shows_hidden_tests and self._gate.quotes_hidden(text)

    # Judges

    def _judge(self, name: str, judge: Mapping[str, Any], fields: Iterable[str] = ()) -> JsonDict:
        """Copy what every judge has, and further fields of figures and texts."""
        shared = (*JUDGE_SCORE, "reason_text", "why", "source", "rationale", "marks")
        return self._texts(f"judges.{name}", _some(judge, (*shared, *fields)))

    def _objective_card(self, judge: Mapping[str, Any]) -> JsonDict:
        fields = (
            "gate", "static_rate", "hidden_rate", "base", "bonus", "deductions", "reproducible",
            "counts",
        )  # fmt: skip
        card = self._judge("objective", judge, fields)
        if not self._objective:
            return {**card, "evidence": []}
        where = "judges.objective"
        card["crashes"] = self._crashes(f"{where}.crashes", judge["crashes"])
        card["critical_findings"] = self._scan(judge["critical_findings"])
        speed = judge["performance"]
        card["performance"] = speed and self._texts(f"{where}.performance", _some(speed, SPEED))
        scans = [_some(scan, ("artifact", "readable", "reason")) for scan in judge["scans"]]
        card["scans"] = self._texts(f"{where}.scans", scans)
        card["evidence"] = self._objective_evidence()
        # Names without their suite: a hidden test that no list names would be among them. And
        # scores by run tell which runs a hidden test failed in.
        for field in ("unlisted", "skipped", "run_scores"):
            if self._gate.shows_hidden_tests:
                card[field] = judge[field]
            elif judge[field]:
                self._leave_out(f"{where}.{field}")
        if self._unseen and self._gate.shows_categories:
            card["hidden_categories"] = _by_category(self._unseen)
        return card

    def _objective_evidence(self) -> JsonDict:
        source, where = self._objective, "judges.objective.evidence"
        build = source["build"]
        evidence: JsonDict = {
            "tests": [self._visible_test(test) for test in self._visible],
            "build": build and {"ok": build["ok"], "log": self._path(build["log"])},
            "logs": [
                {**_some(log, ("suite", "run")), "artifact": self._path(log["artifact"])}
                for log in source["logs"]
                if self._gate.shows_suite(log["suite"])
            ],
            "crashes": self._crashes(f"{where}.crashes", source["crashes"]),
            "scan": self._scan(source["scan"]),
        }
        if self._gate.shows_hidden_tests:
            evidence["digest"] = source["digest"]
            return evidence
        if self._unseen:
            self._leave_out(f"{where}.tests[hidden]")
            self._leave_out(f"{where}.logs[hidden]")
        # A digest over hidden tests would prove a guess at them right.
        self._leave_out(f"{where}.digest")
        return evidence

    def _visible_test(self, test: Mapping[str, Any]) -> JsonDict:
        fields = (
            "id",
            "suite",
            "severity",
            "category",
            "requirement",
            "outcomes",
            "tampered",
            "flaky",
        )
        return {
            **_some(test, fields),
            "requirement": self._gate.text(test["requirement"]),
        }

    def _path(self, path: str | None) -> str | None:
        return path if path and self._shows_values(path) else None

    def _crashes(self, where: str, crashes: Sequence[Mapping[str, Any]]) -> list[JsonDict]:
        """Copy crashes; of one in a hidden run only that it happened, for it costs points."""
        shown = []
        for at, crash in enumerate(crashes):
            anchor = self._anchor(f"{where}[{at}]", crash)
            is_shown = anchor["artifact"] is not None
            signature = self._gate.text(crash["signature"]) if is_shown else WITHHELD
            shown.append({"signature": signature, **anchor})
        return shown

    def _scan(self, findings: Sequence[Mapping[str, Any]]) -> list[JsonDict]:
        """Copy the scanner's findings; of one that quotes a hidden test only that it costs."""
        shown = []
        for at, finding in enumerate(findings):
            if any(self._quotes(text) for text in finding.values() if isinstance(text, str)):
                self._leave_out(f"judges.objective.critical_findings[{at}]")
                shown.append({**dict.fromkeys(CRITICAL_FINDING), "message": WITHHELD})
            else:
                shown.append(_texts(self._gate, _some(finding, CRITICAL_FINDING)))
        return shown

    def _telemetry_card(self, name: str, judge: Mapping[str, Any]) -> JsonDict:
        where = f"judges.{name}"
        card = self._judge(name, judge, ("metrics_half", "model_half", "counts"))
        card["rationale"] = self._two_rationales(where, judge)
        card["evidence"] = self._anchors(f"{where}.evidence", judge["evidence"])
        if "metrics" not in judge:
            return card
        card["criteria"] = self._criteria(f"{where}.criteria", judge["criteria"])
        card["telemetry"] = self._path(judge["telemetry"])
        card["metrics"] = {
            metric: {
                **self._texts(f"{where}.metrics.{metric}", _some(found, METRIC)),
                "episodes": [
                    {
                        **self._texts(f"{where}.metrics.{metric}", _some(one, ("text", "seconds"))),
                        "evidence": self._anchors(f"{where}.metrics.{metric}", one["evidence"]),
                    }
                    for one in found["episodes"]
                ],
            }
            for metric, found in judge["metrics"].items()
        }
        card["model"] = self._model(f"{where}.model", judge["model"])
        return card

    def _model(self, where: str, model: Mapping[str, Any] | None) -> JsonDict | None:
        """Copy what a model said, or why it said nothing; the stored call stays with staff."""
        if model is None:
            return None
        return {
            **self._texts(where, _some(model, ("state", "reason", "model", "rationale"))),
            "evidence": self._anchors(f"{where}.evidence", model["evidence"]),
            "remarks": self._remarks(f"{where}.remarks", model.get("remarks", ())),
        }

    def _criteria(self, where: str, criteria: Mapping[str, Mapping[str, Any]]) -> JsonDict:
        """Copy the criteria of a rubric, each with what the model wrote on it."""
        fields = ("level", "score", "reason", "rationale")
        return {
            name: {
                **self._texts(f"{where}.{name}", _some(found, fields)),
                "evidence": self._anchors(f"{where}.{name}.evidence", found.get("evidence", ())),
            }
            for name, found in criteria.items()
        }

    def _remarks(self, where: str, remarks: Sequence[Mapping[str, Any]]) -> list[JsonDict]:
        fields = ("kind", "where", "quote", "record")
        return [
            self._texts(f"{where}[{at}]", _some(remark, fields))
            for at, remark in enumerate(remarks)
        ]

    def _two_rationales(self, where: str, judge: Mapping[str, Any]) -> str:
        """Show the metric half's own sentences even where the model's quote a hidden test."""
        said = (judge.get("model") or {}).get("rationale", "")
        own = judge["rationale"].removesuffix(said) if said else judge["rationale"]
        parts = [part.strip() for part in (own, said) if part.strip()]
        return "\n\n".join(self._texts(f"{where}.rationale", part) for part in parts)

    # The panel

    def _strategy_card(self, judge: Mapping[str, Any]) -> JsonDict:
        fields = (
            "branch",
            "votes",
            "configured",
            "panel_score",
            "mean",
            "within",
            "flagged",
            "rule",
        )
        card = self._judge("strategy", judge, fields)
        card["evidence"] = self._anchors("judges.strategy.evidence", judge["evidence"])
        if "seats" not in judge:
            return card
        ruling = judge["ruling"]
        card["ruling"] = ruling and self._texts(
            "judges.strategy.ruling", _some(ruling, ("score", "reason"))
        )
        # Named by vendor, or A, B and C by score while their case is open.
        names = {seat["seat"]: seat["seat"] for seat in judge["seats"]}
        if self._strategy_is_open:
            names = letters_of(judge["seats"])
        by_name = sorted(judge["seats"], key=lambda seat: names[seat["seat"]])
        card["seats"] = [
            self._seat(at, seat, names[seat["seat"]]) for at, seat in enumerate(by_name)
        ]
        card["discarded"] = judge["discarded"] and names[judge["discarded"]]
        if judge.get("uploaded"):
            self._leave_out("judges.strategy.uploaded")
        return card

    def _seat(self, at: int, seat: Mapping[str, Any], name: str) -> JsonDict:
        where = f"judges.strategy.seats[{at}]"
        if self._strategy_is_open:
            self._leave_out(f"{where}.model")
            seat = nameless(seat)
        said = _some(seat, ("rationale", "reason", "model"))
        return {
            "seat": name,
            **_some(seat, ("state", "score", "levels", "source")),
            **self._texts(where, said),
            "evidence": self._anchors(f"{where}.evidence", seat["evidence"]),
            "criteria": self._criteria(f"{where}.criteria", seat.get("criteria", {})),
            "remarks": self._remarks(f"{where}.remarks", seat.get("remarks", ())),
        }

    # Integrity

    def _integrity(self, source: Mapping[str, Any]) -> JsonDict:
        figures = (
            "bonus_raw", "penalty_raw", "bonus_counted", "penalty_counted", "bonus_cap",
            "penalty_cap", "voided", "adjustment", "held", "flags", "not_found",
        )  # fmt: skip
        return {
            **_some(source, figures),
            "findings": [self._finding(at, one) for at, one in enumerate(source["findings"])],
            "claims": [self._claim(at, one) for at, one in enumerate(source["claims"])],
            "model": self._model("integrity.model", source.get("model")),
            "searched": [
                self._search(at, one) for at, one in enumerate(source.get("searched", []))
            ],
        }

    def _search(self, at: int, search: Mapping[str, Any]) -> JsonDict:
        """Copy where was looked for what; of an error only that there was one."""
        where = f"integrity.searched[{at}]"
        fields = ("detector", "triggers", "searched", "missing", "done")
        return {
            **self._texts(where, _some(search, fields)),
            "error": "It failed." if search["error"] else "",
            "noted": [
                {
                    "note": self._gate.text(noted["note"]),
                    "evidence": self._anchors(f"{where}.noted.evidence", noted["evidence"]),
                }
                for noted in search["noted"]
            ],
        }

    def _finding(self, at: int, finding: Mapping[str, Any]) -> JsonDict:
        where = f"integrity.findings[{at}]"
        fields = (
            "key", "trigger", "points", "price", "severity", "status", "standing",
            "counts_instead", "confidence", "source", "note", "reason", "decided", "decided_at",
        )  # fmt: skip
        return {
            **self._texts(where, _some(finding, fields)),
            "evidence": self._anchors(f"{where}.evidence", finding["evidence"]),
        }

    def _claim(self, at: int, claim: Mapping[str, Any]) -> JsonDict:
        """Copy a claim, and what the record says of it as far as visible tests say it.

        A claim that speaks of a hidden test and one that speaks of nothing at all look the
        same: else an agent could claim its way through guessed names and read off which exist.
        """
        where = f"integrity.claims[{at}]"
        shown = self._texts(where, _some(claim, ("statement", "confidence", "about")))
        # What was said of all visible tests, or of the build, tells of nothing hidden.
        is_open = claim.get("stated", False) and claim["about"] in OPEN_ABOUTS
        if self._unseen and not is_open:
            record, verdict = self._visible_record(claim["about"])
            shown |= {
                "record": self._gate.text(record),
                "verdict": WITHHELD,
                "visible_verdict": verdict,
            }
            self._leave_out(f"{where}.verdict")
        else:
            shown |= self._texts(where, _some(claim, ("record", "verdict")))
        shown["evidence"] = self._anchors(f"{where}.evidence", claim["evidence"])
        return shown

    def _visible_record(self, about: str) -> tuple[str, str]:
        """Return what visible tests say of a test or requirement, and the verdict on it."""
        outcomes = [
            outcome == "passed" and not test["tampered"]
            for test in self._visible
            if about and about in {test["id"], test["requirement"]}
            for outcome in test["outcomes"]
            if outcome not in UNCOUNTED
        ]
        if not outcomes:
            return "No visible test covers it.", "not_checked"
        passed, runs = sum(outcomes), len(outcomes)
        record = f"{about}: visible tests passed in {passed} of {runs} graded runs."
        return record, "holds" if passed == runs else "mixed" if passed else "refuted"

    # Files

    def _artifacts(self, rows: Sequence[Mapping[str, Any]]) -> list[JsonDict]:
        shown = []
        for row in rows:
            if not self._lists(row):
                is_verdict = row["kind"] == Kind.VERDICTS
                self._leave_out(f"artifacts[{'verdicts' if is_verdict else 'hidden tests'}]")
                continue
            shown.append(self._artifact(row))
        return shown

    def _lists(self, row: Mapping[str, Any]) -> bool:
        """Whether a file may be known to exist: how many hidden runs there were is not told."""
        if row["kind"] == Kind.VERDICTS or self._quotes(row["path"]):
            return False
        if row["kind"] == Kind.TESTS:
            return self._gate.shows_suite(row["suite"])
        if row["kind"] == Kind.LOG and row["quotes_hidden"] and not self._gate.shows_hidden_tests:
            return row["path"] in self._logs_of_the_open
        return True

    @property
    def _logs_of_the_open(self) -> set[str]:
        """The logs of the build and of visible runs. Any other may be a hidden run's."""
        build = self._objective.get("build") or {}
        static = (
            log["artifact"]
            for log in self._objective.get("logs", [])
            if log["suite"] == Suite.STATIC
        )
        return {build.get("log"), *static} - {None}

    def _artifact(self, row: Mapping[str, Any]) -> JsonDict:
        shown = _some(row, ("path", "kind", "suite", "run", "format", "state"))
        if not self._shows_values(row["path"]):
            self._leave_out(f"artifacts[{row['path']}]")
            return {**shown, "digest": None, "raw": False}
        where = f"artifacts[{row['path']}]"
        fields = ("format_version", "reason", "place", "clock", "counts")
        notes = [_some(note, ("text", "place")) for note in row["notes"]]
        return {
            **shown,
            **self._texts(where, _some(row, fields)),
            "notes": self._texts(f"{where}.notes", notes),
            "digest": row["digest"],
            "raw": self._gate.shows_file(row["kind"], quotes_hidden=row["quotes_hidden"]),
        }


def _by_category(tests: Iterable[Mapping[str, Any]]) -> list[JsonDict]:
    """Count hidden tests by category and severity: passed in every run, failed in every run."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for test in tests:
        known = [outcome == "passed" for outcome in test["outcomes"] if outcome not in UNCOUNTED]
        count = counts.setdefault((test["category"], test["severity"]), Counter())
        count["total"] += 1
        count["passed"] += bool(known) and all(known)
        count["failed"] += not any(known)
    return [
        {"category": category, "severity": severity, **count}
        for (category, severity), count in sorted(counts.items())
    ]
