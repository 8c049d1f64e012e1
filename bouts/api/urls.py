"""The API: every app's resources under one root."""

from __future__ import annotations

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView

from bouts.api import docs, errors, schema, uploads  # noqa: F401 (the schema's extensions)

app_name = "api"
urlpatterns = [
    path("", docs.docs, name="docs"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("uploads/", uploads.UploadList.as_view(), name="upload_list"),
    path("uploads/<uuid:upload_id>/", uploads.UploadDetail.as_view(), name="upload"),
    # By name, since imports point downwards.
    path("", include("judging.api_urls")),
    path("", include("adjudication.api_urls")),
    re_path(r"^[\s\S]*/$", errors.NotThere.as_view()),
]
