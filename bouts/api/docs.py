"""The API's pages: its OpenAPI schema, read aloud in our own design and without script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET
from drf_spectacular.generators import SchemaGenerator

from bouts.htmx import render_page


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    summary: str
    parameters: list[dict[str, Any]]
    body: str
    answers: list[tuple[str, str]]


@require_GET
def docs(request: HttpRequest) -> HttpResponse:
    """Every operation of the API with its parameters and answers."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    groups: dict[str, list[Operation]] = {}
    for operation in _operations(schema):
        groups.setdefault(operation.path.strip("/").split("/")[1], []).append(operation)
    context = {"groups": groups, "shapes": schema["components"]["schemas"], "info": schema["info"]}
    return render_page(request, "bouts/api_docs.html", context)


def _operations(schema: dict[str, Any]) -> Iterator[Operation]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield Operation(
                method=method.upper(),
                path=path,
                summary=operation.get("description", ""),
                parameters=operation.get("parameters", []),
                body=", ".join(operation.get("requestBody", {}).get("content", {})),
                answers=[
                    (status, _shape(answer)) for status, answer in operation["responses"].items()
                ],
            )


def _shape(answer: dict[str, Any]) -> str:
    """Return the name of the shape that an answer has, where it has one."""
    for content in answer.get("content", {}).values():
        schema = content.get("schema", {})
        return str(schema.get("$ref", "") or schema.get("items", {}).get("$ref", "")).rpartition(
            "/"
        )[2]
    return ""
