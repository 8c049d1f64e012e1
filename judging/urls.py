"""The pages of this app."""

from __future__ import annotations

from django.urls import path, register_converter
from django.views.generic import RedirectView

from judging.views import (
    access_list,
    agent_detail,
    artifact_list,
    calls,
    challenge_detail,
    challenge_list,
    compare,
    deliverable_list,
    diff_detail,
    evidence_detail,
    evidence_raw,
    judge_health,
    leaderboard,
    likeness_detail,
    log_list,
    match_detail,
    match_list,
    ops,
    rejudgings,
    scan_list,
    scorecard_detail,
    search,
    test_list,
    timeline_detail,
    uploads,
    work,
)


class MatchId:
    """An uploader's id of a match, with the characters that `match.json` allows."""

    regex = r"[A-Za-z0-9][A-Za-z0-9._:@+-]*"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class Digest:
    """A SHA-256 in hexadecimal."""

    regex = r"[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class FileKind:
    """What a page is to be had as; see `judging.exports`."""

    regex = "csv|json"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(MatchId, "match")
register_converter(Digest, "digest")
register_converter(FileKind, "file")

app_name = "judging"
urlpatterns = [
    path("challenges/", challenge_list.challenge_list, name="challenge_list"),
    path("challenges/<slug:slug>/", challenge_detail.challenge_detail, name="challenge_detail"),
    path("matches/", match_list.match_list, name="match_list"),
    path("matches.<file:kind>", match_list.match_list, name="match_file"),
    path("agents/<int:agent_id>/", agent_detail.agent_detail, name="agent_detail"),
    path("agents/<int:agent_id>.<file:kind>", agent_detail.agent_detail, name="agent_file"),
    path("search/", search.search, name="search"),
    path("compare/", compare.compare, name="compare"),
    path("compare.<file:kind>", compare.compare, name="compare_file"),
    path("leaderboard/", leaderboard.leaderboard, name="leaderboard"),
    path("leaderboard.<file:kind>", leaderboard.leaderboard, name="leaderboard_file"),
    path(
        "leaderboard/<slug:slug>.<file:kind>",
        leaderboard.leaderboard,
        name="challenge_leaderboard_file",
    ),
    path("leaderboard/<slug:slug>/", leaderboard.leaderboard, name="challenge_leaderboard"),
    path("matches/<match:slug>/", match_detail.match_detail, name="match_detail"),
    path("matches/<match:slug>/progress/", match_detail.match_progress, name="match_progress"),
    path(
        "matches/<match:slug>/revisions/<int:number>/",
        scorecard_detail.scorecard_detail,
        name="scorecard_detail",
    ),
    # evidence: a tab each, and the permanent address of a place in a file
    path(
        "matches/<match:slug>/evidence/",
        RedirectView.as_view(pattern_name="judging:test_list"),
        name="evidence",
    ),
    path("matches/<match:slug>/evidence/tests/", test_list.test_list, name="test_list"),
    path(
        "matches/<match:slug>/evidence/timeline/",
        timeline_detail.timeline_detail,
        name="timeline_detail",
    ),
    path("matches/<match:slug>/evidence/diff/", diff_detail.diff_detail, name="diff_detail"),
    path("matches/<match:slug>/evidence/logs/", log_list.log_list, name="log_list"),
    path(
        "matches/<match:slug>/evidence/deliverables/",
        deliverable_list.deliverable_list,
        name="deliverable_list",
    ),
    path("matches/<match:slug>/evidence/sandbox/", access_list.access_list, name="access_list"),
    path("matches/<match:slug>/evidence/scan/", scan_list.scan_list, name="scan_list"),
    path("matches/<match:slug>/likeness/", likeness_detail.likeness_detail, name="likeness_detail"),
    path("matches/<match:slug>/evidence/files/", artifact_list.artifact_list, name="artifact_list"),
    path(
        "matches/<match:slug>/evidence/<digest:digest>/",
        evidence_detail.evidence_detail,
        name="evidence_detail",
    ),
    path(
        "matches/<match:slug>/evidence/<digest:digest>/raw/",
        evidence_raw.evidence_raw,
        name="evidence_raw",
    ),
    # ops
    path("matches/<match:slug>/exclusion/", ops.match_exclusion, name="match_exclusion"),
    path("matches/<match:slug>/judge-again/", ops.match_judge_again, name="match_judge_again"),
    path("matches/<match:slug>/calls/", calls.call_list, name="call_list"),
    path("matches/<match:slug>/calls/<int:call_id>/", calls.call_detail, name="call_detail"),
    path("challenges/<slug:slug>/state/", ops.challenge_state, name="challenge_state"),
    path("upload/", uploads.upload_create, name="upload_create"),
    path("upload/<uuid:upload_id>/", uploads.upload_detail, name="upload_detail"),
    path("upload/<uuid:upload_id>/faults.json", uploads.upload_faults, name="upload_faults"),
    path("upload/<uuid:upload_id>/retry/", uploads.upload_retry, name="upload_retry"),
    path("work/", work.work_list, name="work_list"),
    path("rejudgings/", rejudgings.rejudging_list, name="rejudging_list"),
    path("rejudgings/new/", rejudgings.rejudging_create, name="rejudging_create"),
    path("rejudgings/<int:rejudging_id>/", rejudgings.rejudging_detail, name="rejudging_detail"),
    path(
        "rejudgings/<int:rejudging_id>.<file:kind>",
        rejudgings.rejudging_file,
        name="rejudging_file",
    ),
    path("rejudgings/<int:rejudging_id>/anew/", rejudgings.rejudging_anew, name="rejudging_anew"),
    path(
        "rejudgings/<int:rejudging_id>/apply/", rejudgings.rejudging_apply, name="rejudging_apply"
    ),
    path("rejudgings/<int:rejudging_id>/drop/", rejudgings.rejudging_drop, name="rejudging_drop"),
    path("judges/", judge_health.judge_health, name="judge_health"),
    path("work/steps/<int:step_id>/requeue/", work.step_requeue, name="step_requeue"),
]
