"""The pages of this app."""

from __future__ import annotations

from django.urls import path

from news.views import endpoints, notices

app_name = "news"
urlpatterns = [
    path("notices/", notices.notice_list, name="notice_list"),
    path("notices/read/", notices.notice_read_all, name="notice_read_all"),
    path("notices/<int:notice_id>/read/", notices.notice_read, name="notice_read"),
    path("webhooks/", endpoints.endpoint_list, name="endpoint_list"),
    path("webhooks/<int:endpoint_id>/", endpoints.endpoint_detail, name="endpoint_detail"),
    path("webhooks/<int:endpoint_id>/rotate/", endpoints.endpoint_rotate, name="endpoint_rotate"),
    path("webhooks/<int:endpoint_id>/off/", endpoints.endpoint_off, name="endpoint_off"),
    path("webhooks/<int:endpoint_id>/on/", endpoints.endpoint_on, name="endpoint_on"),
    path("webhooks/<int:endpoint_id>/test/", endpoints.endpoint_test, name="endpoint_test"),
    path(
        "webhooks/deliveries/<int:delivery_id>/again/",
        endpoints.delivery_again,
        name="delivery_again",
    ),
]
