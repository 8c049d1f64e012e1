"""The addresses of this app's part of the API."""

from __future__ import annotations

from django.urls import path

from judging import api, api_rejudgings, urls  # noqa: F401 (it registers how a match is written in an address)

urlpatterns = [
    path("matches/", api.MatchList.as_view(), name="match_list"),
    path("matches/<match:slug>/", api.MatchDetail.as_view(), name="match"),
    path("matches/<match:slug>/breakdown/", api.BreakdownDetail.as_view(), name="breakdown"),
    path("matches/<match:slug>/revisions/", api.RevisionList.as_view(), name="revisions"),
    path("challenges/", api.ChallengeList.as_view(), name="challenge_list"),
    path("challenges/<slug:slug>/", api.ChallengeDetail.as_view(), name="challenge"),
    path("rejudgings/", api_rejudgings.RejudgingList.as_view(), name="rejudging_list"),
    path(
        "rejudgings/<int:rejudging_id>/", api_rejudgings.RejudgingDetail.as_view(), name="rejudging"
    ),
    path(
        "rejudgings/<int:rejudging_id>/matches/",
        api_rejudgings.RejudgedMatchList.as_view(),
        name="rejudged_matches",
    ),
    path(
        "rejudgings/<int:rejudging_id>/preview-anew/",
        api_rejudgings.RejudgingAnew.as_view(),
        name="rejudging_anew",
    ),
    path(
        "rejudgings/<int:rejudging_id>/apply/",
        api_rejudgings.RejudgingApply.as_view(),
        name="rejudging_apply",
    ),
    path(
        "rejudgings/<int:rejudging_id>/drop/",
        api_rejudgings.RejudgingDrop.as_view(),
        name="rejudging_drop",
    ),
    path("leaderboard/", api.BoardList.as_view(), name="board"),
    path("leaderboard/<slug:slug>/", api.ChallengeBoardList.as_view(), name="challenge_board"),
]
