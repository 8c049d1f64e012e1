"""The pages of this app."""

from __future__ import annotations

from django.urls import path, register_converter

from judging.views import (
    challenge_detail,
    challenge_list,
    leaderboard,
    match_detail,
    match_list,
    scorecard_detail,
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


register_converter(MatchId, "match")
register_converter(Digest, "digest")

app_name = "judging"
urlpatterns = [
    path("challenges/", challenge_list.challenge_list, name="challenge_list"),
    path("challenges/<slug:slug>/", challenge_detail.challenge_detail, name="challenge_detail"),
    path("matches/", match_list.match_list, name="match_list"),
    path("leaderboard/", leaderboard.leaderboard, name="leaderboard"),
    path("leaderboard/<slug:slug>/", leaderboard.leaderboard, name="challenge_leaderboard"),
    path("matches/<match:slug>/", match_detail.match_detail, name="match_detail"),
    path("matches/<match:slug>/progress/", match_detail.match_progress, name="match_progress"),
    path(
        "matches/<match:slug>/revisions/<int:number>/",
        scorecard_detail.scorecard_detail,
        name="scorecard_detail",
    ),
    # ops
    path("upload/", uploads.upload_create, name="upload_create"),
    path("uploads/<uuid:upload_id>/", uploads.upload_detail, name="upload_detail"),
    path("uploads/<uuid:upload_id>/faults.json", uploads.upload_faults, name="upload_faults"),
    path("uploads/<uuid:upload_id>/retry/", uploads.upload_retry, name="upload_retry"),
    path("work/", work.work_list, name="work_list"),
    path("work/steps/<int:step_id>/requeue/", work.step_requeue, name="step_requeue"),
]
