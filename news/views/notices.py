"""A person's notices: one list, newest first."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from bouts.htmx import render_page
from news import actions
from news.models import Notice

PER_PAGE = 50


@require_safe
def notice_list(request: HttpRequest) -> HttpResponse:
    found = Notice.objects.visible_to(request.user).select_related("match", "case", "endpoint")
    only_unread = request.GET.get("show") == "unread"
    if only_unread:
        found = found.unread()
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "only_unread": only_unread}
    return render_page(request, "news/notice_list.html", context, partial="notices")


@require_POST
def notice_read(request: HttpRequest, notice_id: int) -> HttpResponse:
    mine = Notice.objects.visible_to(request.user)
    if not mine.filter(pk=notice_id).exists():
        raise Http404
    actions.mark_read(request.user, notice_id)
    return redirect("news:notice_list")


@require_POST
def notice_read_all(request: HttpRequest) -> HttpResponse:
    actions.mark_read(request.user)
    messages.success(request, "All marked read.")
    return redirect("news:notice_list")
