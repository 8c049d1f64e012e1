"""The JSON Schemas of what people upload: generated from the code that reads it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from bouts.bundles.manifest import schemas
from bouts.htmx import render_page

# Schema name to the file that it is the schema of.
FILES = {
    "bouts.match/1": "match.json",
    "bouts.challenge/1": "challenge.json",
    "bouts.verdicts/1": "a verdicts file",
    "bouts.claims/1": "a claims file",
}


@require_safe
def schema_list(request: HttpRequest) -> HttpResponse:
    rows = [(name, slug_of(name), FILES[name], schema) for name, schema in schemas().items()]
    return render_page(request, "bouts/schema_list.html", {"rows": rows})


@require_safe
def schema_detail(request: HttpRequest, name: str) -> JsonResponse:
    for known, schema in schemas().items():
        if slug_of(known) == name:
            return JsonResponse(schema, json_dumps_params={"indent": 2})
    raise Http404


def slug_of(name: str) -> str:
    """``bouts.match/1`` is ``match-1`` in an address."""
    return name.removeprefix("bouts.").replace("/", "-")
