"""The tests of a match, failures first; hidden ones as the disclosure has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.evidence import TestPlace
from bouts.formats.types import Kind
from bouts.rules import Severity, Suite
from judging.judges.objective import UNCOUNTED, passes
from judging.showing.addresses import Addresses
from judging.showing.inert import on_one_line
from judging.showing.judges import objective_card
from judging.sight import Sight, with_evidence
from judging.views.evidence_tab import number, open_address, tab_page

PER_PAGE = 50
GRAVITY = {severity.value: at for at, severity in enumerate(Severity)}


@require_safe
@with_evidence
def test_list(request: HttpRequest, sight: Sight) -> HttpResponse:
    objective = sight.breakdown["judges"]["objective"]
    evidence = objective["evidence"] or {}
    every = sorted(evidence.get("tests", []), key=_failures_first)
    choices = {name: [test for test in every if holds(test)] for name, holds in CHOICES.items()}
    show = request.GET.get("show", "")
    tests = choices.get(show, every)
    here = open_address(sight, "test_list")
    page = Paginator(tests, PER_PAGE).get_page(number(request, "page"))
    most_runs = max((len(test["outcomes"]) for test in page), default=0)
    runs = _runs(sight.breakdown["artifacts"])
    hidden = objective.get("counts", {}).get("hidden", {})
    context = {
        "has_evidence": bool(evidence),
        "tests": [
            {**_row(test, runs, sight.addresses), "gap": most_runs - len(test["outcomes"])}
            for test in page
        ],
        "test_page": page,
        "failing": sum(not passes(test) for test in every),
        "count": len(every),
        "choices": [(name, name == show, len(found)) for name, found in choices.items() if found],
        "is_chosen": show in CHOICES,
        "runs": range(1, most_runs + 1),
        "whole": here,
        "here": f"{here}show={show}&" if show in CHOICES else here,
        "shows_suites": sight.gate.shows_hidden_tests,
        "hidden_total": 0
        if sight.gate.shows_hidden_tests
        else sum(tally["total"] for tally in hidden.values()),
        "objective": objective_card(sight.breakdown, sight.policy, sight.addresses),
    }
    return tab_page(request, sight, "test_list", context)


CHOICES: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "failing": lambda test: not passes(test),
    "flaky": lambda test: test["flaky"] or len({*test["outcomes"]} - UNCOUNTED) > 1,
    **{name: lambda test, name=name: test["severity"] == name for name in GRAVITY},
}


def _failures_first(test: Mapping[str, Any]) -> tuple[bool, int, str]:
    return passes(test), GRAVITY.get(test["severity"], len(GRAVITY)), test["id"]


def _runs(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the digests of the result files by suite, a file a run, in order of the runs."""
    files: dict[str, dict[int, str]] = {suite.value: {} for suite in Suite}
    for row in rows:
        if row["kind"] == Kind.TESTS and row["suite"] and row.get("digest"):
            files[row["suite"]].setdefault(row["run"] or 1, row["digest"])
    return {suite: [runs[run] for run in sorted(runs)] for suite, runs in files.items()}


def _row(
    test: Mapping[str, Any], runs: Mapping[str, list[str]], addresses: Addresses
) -> dict[str, Any]:
    """Return a test with the address at which its messages and logs stand."""
    outcomes = test["outcomes"]
    # Told first is what went wrong: the first run in which it failed, else the first it was in.
    order = sorted(range(len(outcomes)), key=lambda at: (outcomes[at] == "passed", at))
    digests = runs.get(test["suite"], [])
    at = next(
        (at for at in order if outcomes[at] not in UNCOUNTED | {"missing"} and at < len(digests)),
        None,
    )
    place = TestPlace(Suite(test["suite"]), test["id"])
    return {
        **test,
        "name": on_one_line(test["id"]),
        "passes": passes(test),
        "address": None if at is None else addresses.place(digests[at], place),
    }
