"""Webhooks, for ops: who listens, what was sent there, and what came back."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Prefetch, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from bouts.htmx import render_page
from bouts.visitors import operators_only
from news import actions
from news.forms import EndpointForm
from news.models import Attempt, Delivery, Endpoint

PER_PAGE = 25


@never_cache
@operators_only
def endpoint_list(request: HttpRequest) -> HttpResponse:
    """Show the endpoints; a POST makes one, whose secret stands on the answer alone."""
    form = EndpointForm(request.POST or None)
    made, status = None, 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            made = actions.create_endpoint(by=request.user, **form.cleaned_data)
            form, status = EndpointForm(), 201
    under_way = Q(deliveries__state__in=[Delivery.State.WAITING, Delivery.State.SENDING])
    context = {
        "form": form,
        "made": made,
        "secret": _newest_secret(made) if made else "",
        "endpoints": Endpoint.objects.annotate(
            waiting=Count("deliveries", filter=under_way)
        ).order_by("name"),
    }
    return render_page(request, "news/endpoint_list.html", context, status=status)


@operators_only
def endpoint_detail(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Show an endpoint and its log; a POST changes it."""
    endpoint = get_object_or_404(Endpoint, pk=endpoint_id)
    form = EndpointForm(request.POST or None, instance=endpoint)
    if request.method == "POST" and form.is_valid():
        actions.change_endpoint(endpoint, form.cleaned_data, by=request.user)
        messages.success(request, "Saved.")
        return redirect(endpoint)
    if form.errors:
        endpoint = get_object_or_404(Endpoint, pk=endpoint_id)  # as it is, not as it was typed
    return _page(request, endpoint, form, status=422 if form.errors else 200)


def _page(
    request: HttpRequest, endpoint: Endpoint, form: EndpointForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    log = (
        endpoint.deliveries.select_related("event__scorecard__match")
        .defer("event__body", "event__scorecard__breakdown")
        .prefetch_related(Prefetch("attempts", Attempt.objects.order_by("-number")))
    )
    state = request.GET.get("state", "")
    if state in Delivery.State.values:
        log = log.filter(state=state)
    context = {
        "endpoint": endpoint,
        "off_after_h": settings.WEBHOOK_OFF_AFTER.total_seconds() / 3600,
        "form": form,
        "page": Paginator(log, PER_PAGE).get_page(request.GET.get("page")),
        "states": [("", "All"), *Delivery.State.choices],
        "state": state,
        "now": timezone.now(),
        **more,
    }
    return render_page(request, "news/endpoint_detail.html", context, partial="log", status=status)


@never_cache
@require_POST
@operators_only
def endpoint_rotate(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Give it a new secret, which stands on the answer alone."""
    endpoint = actions.rotate_secret(get_object_or_404(Endpoint, pk=endpoint_id), by=request.user)
    form = EndpointForm(instance=endpoint)
    return _page(request, endpoint, form, secret=_newest_secret(endpoint))


@require_POST
@operators_only
def endpoint_off(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    endpoint = actions.turn_off(get_object_or_404(Endpoint, pk=endpoint_id), by=request.user)
    messages.success(request, f"{endpoint} is off. What waits for it is kept.")
    return redirect(endpoint)


@require_POST
@operators_only
def endpoint_on(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    endpoint = actions.turn_on(get_object_or_404(Endpoint, pk=endpoint_id), by=request.user)
    messages.success(request, f"{endpoint} is on. What waited goes out now.")
    return redirect(endpoint)


@require_POST
@operators_only
def endpoint_test(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    endpoint = get_object_or_404(Endpoint, pk=endpoint_id)
    actions.send_test(endpoint)
    if endpoint.is_on:
        messages.success(request, "A test is on its way; the log below tells what comes of it.")
    else:
        messages.info(request, "A test waits; the endpoint is off.")
    return redirect(endpoint)


@require_POST
@operators_only
def delivery_again(request: HttpRequest, delivery_id: int) -> HttpResponse:
    delivery = get_object_or_404(Delivery.objects.select_related("endpoint"), pk=delivery_id)
    if actions.redeliver(delivery, by=request.user):
        messages.success(request, "It is sent again, under the same id.")
    else:
        messages.info(request, "It is being sent at this moment. Nothing was changed.")
    return redirect(delivery.endpoint)


def _newest_secret(endpoint: Endpoint) -> str:
    return endpoint.secrets_at(timezone.now())[0]
