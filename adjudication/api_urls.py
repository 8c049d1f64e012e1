"""The addresses of this app's part of the API."""

from __future__ import annotations

from django.urls import path

from adjudication import api

urlpatterns = [
    path("cases/", api.CaseList.as_view(), name="case_list"),
    path("cases/counts/", api.CaseCounts.as_view(), name="case_counts"),
    path("cases/next/", api.CaseNext.as_view(), name="case_next"),
    path("cases/<int:case_id>/", api.CaseDetail.as_view(), name="case"),
    path("cases/<int:case_id>/claim/", api.CaseClaim.as_view(), name="case_claim"),
    path("cases/<int:case_id>/renew/", api.CaseRenew.as_view(), name="case_renew"),
    path("cases/<int:case_id>/release/", api.CaseRelease.as_view(), name="case_release"),
    path("cases/<int:case_id>/decline/", api.CaseDecline.as_view(), name="case_decline"),
    path("cases/<int:case_id>/take-over/", api.CaseTakeOver.as_view(), name="case_take_over"),
    path("cases/<int:case_id>/draft/", api.CaseDraft.as_view(), name="case_draft"),
    path("cases/<int:case_id>/end-wait/", api.CaseEndWait.as_view(), name="case_end_wait"),
    path("cases/<int:case_id>/commit/", api.CaseCommit.as_view(), name="case_commit"),
    path("cases/<int:case_id>/ask-again/", api.CaseAskAgain.as_view(), name="case_ask_again"),
    path("cases/<int:case_id>/rule/", api.CaseRule.as_view(), name="case_rule"),
]
