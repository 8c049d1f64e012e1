"""One challenge: what it asks, how it is weighed, and how many tests there are of each kind."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from bouts.bundles.manifest import ChallengeFile
from bouts.disclosure import effective_disclosure
from bouts.htmx import render_page
from bouts.models import Challenge
from bouts.rules import Disclosure, Severity, Suite
from judging.breakdown import weights_of
from judging.challenge_figures import (
    FEWEST_MATCHES,
    FEWEST_TEAMS,
    FEWEST_TO_TELL,
    NEWEST,
    figures_of,
    published_figures,
    shown_tests,
)
from judging.scoring.policy import CURRENT, WEIGHED
from judging.showing import words
from judging.showing.markdown import rendered

TESTS_A_PAGE = 100
SUITES = {Suite.STATIC: "Visible", Suite.HIDDEN: "Hidden", Suite.INVARIANT: "Invariants"}


@require_safe
def challenge_detail(request: HttpRequest, slug: str) -> HttpResponse:
    challenge = get_object_or_404(Challenge, slug=slug)
    versions = list(challenge.versions.defer("document", "starting_tree"))
    live = challenge.versions.defer("starting_tree").get(is_live=True)
    spec = live.spec
    disclosure = effective_disclosure(challenge.state, spec.disclosure)
    context: dict[str, Any] = {
        "challenge": challenge,
        "version": live,
        "versions": versions,
        "spec": spec,
        "briefing": rendered(spec.briefing) if spec.briefing else "",
        "disclosure": disclosure,
        "opens_later": spec.disclosure == Disclosure.OPEN and disclosure is not Disclosure.OPEN,
        "weights": _weights(spec),
        "severities": list(Severity),
        "suites": _suites(spec),
        # Where hidden tests lie and what an agent is to see through is for ops alone.
        "shows_traps": request.user.is_operator,
    }
    severities = {test.id: test.severity or "" for test in spec.tests}
    # Ops may know whose figures they are; others see them where nobody can tell.
    find = figures_of if request.user.is_operator else published_figures
    figures = find(live, severities)
    tests = shown_tests(figures, hidden=request.user.is_operator) if figures else []
    context |= {
        "figures": figures,
        "page": Paginator(tests, TESTS_A_PAGE).get_page(request.GET.get("page")),
        "fewest_matches": FEWEST_MATCHES,
        "fewest_teams": FEWEST_TEAMS,
        "fewest_to_tell": FEWEST_TO_TELL,
        "newest": NEWEST,
    }
    if disclosure is not Disclosure.CLOSED or request.user.is_operator:
        context["categories"] = _categories(spec)
    return render_page(request, "judging/challenge_detail.html", context)


def _weights(spec: ChallengeFile) -> list[tuple[str, str]]:
    weights = weights_of(spec, CURRENT)
    applies = {judge.value for judge in spec.judges}
    return [
        (
            words.JUDGES[judge.value],
            f"{float(weights[judge]):g}" if judge.value in applies else "does not apply",
        )
        for judge in WEIGHED
    ]


def _suites(spec: ChallengeFile) -> list[tuple[str, list[int], int]]:
    """Count the tests by suite and severity: of hidden ones that is all that is told."""
    counts = Counter((test.suite, test.severity or Severity.MEDIUM) for test in spec.tests)
    rows = [
        (label, [counts[suite, severity] for severity in Severity])
        for suite, label in SUITES.items()
    ]
    return [(label, numbers, sum(numbers)) for label, numbers in rows if sum(numbers)]


def _categories(spec: ChallengeFile) -> list[tuple[str, int]]:
    hidden = [test.category or "none" for test in spec.tests if test.suite is not Suite.STATIC]
    return sorted(Counter(hidden).items())
