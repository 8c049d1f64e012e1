"""The API's pages: its OpenAPI schema, read aloud in our own design and without script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_GET
from drf_spectacular.generators import SchemaGenerator

from bouts.api.pagination import Pages
from bouts.htmx import render_page

JsonDict = Mapping[str, Any]

# What all have alike is told once, at the top of the page.
PAGING = {"page", "page_size"}
TOLD_ONCE = {"Error", "BadRequest"}


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    where: str  # query or header
    kind: str
    text: SafeString


@dataclass(frozen=True, slots=True)
class Answer:
    status: str
    shape: str
    text: str


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    text: list[SafeString]  # a paragraph each
    parameters: list[Parameter]
    is_paged: bool
    body: str  # its content type, empty where it takes none
    body_shape: str
    answers: list[Answer]


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: str
    shape: str  # that the kind is of
    is_certain: bool  # there for every reader


@require_GET
def docs(request: HttpRequest) -> HttpResponse:
    """Every operation of the API with its parameters and answers."""
    return render_page(request, "bouts/api_docs.html", dict(_read_aloud()))


@cache  # it changes only with the code
def _read_aloud() -> JsonDict:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    groups: dict[str, list[Operation]] = {}
    for operation in _operations(schema):
        groups.setdefault(operation.path.strip("/").split("/")[1], []).append(operation)
    shapes = [
        (name, paragraphs(shape.get("description", "")), list(_fields(shape)))
        for name, shape in schema["components"]["schemas"].items()
        if "properties" in shape and not name.startswith("Paginated")
    ]
    return {
        "groups": groups,
        "shapes": shapes,
        "page_size": Pages.page_size,
        "most": Pages.max_page_size,
    }


def _operations(schema: JsonDict) -> Iterator[Operation]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            parameters = operation.get("parameters", [])
            content = operation.get("requestBody", {}).get("content", {})
            yield Operation(
                method=method.upper(),
                path=path,
                text=paragraphs(operation.get("description", "")),
                # What stands in the path speaks for itself.
                parameters=[
                    _parameter(one)
                    for one in parameters
                    if one["name"] not in PAGING and one["in"] != "path"
                ],
                is_paged=any(one["name"] == "page" for one in parameters),
                body=", ".join(content),
                body_shape=next((_kind(one["schema"])[1] for one in content.values()), ""),
                answers=sorted(_answers(operation["responses"]), key=lambda one: one.status),
            )


def _parameter(parameter: JsonDict) -> Parameter:
    schema = parameter["schema"]
    kind = ", ".join(map(str, schema["enum"])) if "enum" in schema else schema["type"]
    return Parameter(
        parameter["name"], parameter["in"], kind, _marked(parameter.get("description", ""))
    )


def _answers(responses: JsonDict) -> Iterator[Answer]:
    for status, answer in responses.items():
        schemas = [content.get("schema", {}) for content in answer.get("content", {}).values()]
        shape = _kind(schemas[0])[1] if schemas else ""
        if shape not in TOLD_ONCE:
            yield Answer(status, shape, answer.get("description", ""))


def _fields(shape: JsonDict) -> Iterator[Field]:
    certain = shape.get("required", ())
    for name, field in shape["properties"].items():
        kind, inner = _kind(field)
        yield Field(name, kind, inner, name in certain)


def _kind(schema: JsonDict) -> tuple[str, str]:
    """Say what a value is, and which shape it has or is a list of; a page is the list in it."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        if name.startswith("Paginated"):
            return "a page of", name.removeprefix("Paginated").removesuffix("List")
        return "", name
    for joint in ("allOf", "oneOf"):
        if joint in schema:
            kinds = [_kind(one) for one in schema[joint]]
            shape = next((inner for _, inner in kinds if inner), "")
            return _or_null(next((kind for kind, _ in kinds if kind), ""), schema), shape
    if schema.get("type") == "array":
        kind, shape = _kind(schema["items"])
        return _or_null(
            f"list of {kind}".removesuffix(" of "), schema
        ) if not shape else "list of", shape
    if "enum" in schema:
        return _or_null(" | ".join(map(str, schema["enum"])), schema), ""
    if isinstance(inner := schema.get("additionalProperties"), Mapping):
        kind, shape = _kind(inner)
        return _or_null(f"object of {kind}".rstrip(), schema), shape
    kind = schema.get("format") or schema.get("type", "anything")
    return _or_null({"decimal": "decimal string", "double": "number"}.get(kind, kind), schema), ""


def _or_null(kind: str, schema: JsonDict) -> str:
    return f"{kind} or null".strip() if schema.get("nullable") else kind


def paragraphs(text: str) -> list[SafeString]:
    return [_marked(paragraph) for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]


def _marked(text: str) -> SafeString:
    """Return a docstring as HTML: what stands in backticks is code."""
    # Our own words, and escaped all the same.
    return mark_safe(re.sub(r"`+([^`]+)`+", r"<code>\1</code>", escape(text)))
