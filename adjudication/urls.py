"""The pages of this app."""

from __future__ import annotations

from django.urls import path

from adjudication.views import cases, conflicts, figures, queue, reviews

app_name = "adjudication"
urlpatterns = [
    path("queue/", queue.case_queue, name="case_queue"),
    path("queue/cases.csv", queue.case_export, name="case_export"),
    path("queue/next/", queue.case_next, name="case_next"),
    path("queue/keys/", queue.keys_switch, name="keys_switch"),
    path("queue/views/", queue.view_save, name="view_save"),
    path("queue/views/<int:view_id>/drop/", queue.view_drop, name="view_drop"),
    path("cases/<int:case_id>/", cases.case_detail, name="case_detail"),
    path("cases/<int:case_id>/claim/", cases.case_claim, name="case_claim"),
    path("cases/<int:case_id>/draft/", cases.case_draft, name="case_draft"),
    path("cases/<int:case_id>/release/", cases.case_release, name="case_release"),
    path("cases/<int:case_id>/decline/", cases.case_decline, name="case_decline"),
    path("cases/<int:case_id>/conflict/", conflicts.case_conflict, name="case_conflict"),
    path("cases/<int:case_id>/take-over/", cases.case_take_over, name="case_take_over"),
    path("cases/<int:case_id>/end-wait/", cases.case_end_wait, name="case_end_wait"),
    path("cases/<int:case_id>/commit/", cases.case_commit, name="case_commit"),
    path("cases/<int:case_id>/preview/", cases.case_preview, name="case_preview"),
    path("cases/<int:case_id>/rule/", cases.case_rule, name="case_rule"),
    path(
        "cases/<int:case_id>/rulings/<int:ruling_id>/correction/",
        cases.ruling_correction,
        name="ruling_correction",
    ),
    path(
        "cases/<int:case_id>/rulings/<int:ruling_id>/correct/",
        cases.ruling_correct,
        name="ruling_correct",
    ),
    path("figures/", figures.lead_figures, name="lead_figures"),
    path("figures/decisions.csv", figures.decision_file, name="decision_file"),
    path("matches/<match:slug>/review/", reviews.review_request, name="review_request"),
    path("conflicts/", conflicts.conflict_list, name="conflict_list"),
]
