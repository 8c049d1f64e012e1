"""The addresses of this app's part of the API."""

from __future__ import annotations

from django.urls import path

from judging import api, urls  # noqa: F401 (it registers how a match is written in an address)

urlpatterns = [
    path("matches/", api.MatchList.as_view(), name="match_list"),
    path("matches/<match:slug>/", api.MatchDetail.as_view(), name="match"),
    path("matches/<match:slug>/breakdown/", api.BreakdownDetail.as_view(), name="breakdown"),
    path("matches/<match:slug>/revisions/", api.RevisionList.as_view(), name="revisions"),
    path("challenges/", api.ChallengeList.as_view(), name="challenge_list"),
    path("challenges/<slug:slug>/", api.ChallengeDetail.as_view(), name="challenge"),
    path("leaderboard/", api.BoardList.as_view(), name="board"),
    path("leaderboard/<slug:slug>/", api.ChallengeBoardList.as_view(), name="challenge_board"),
]
