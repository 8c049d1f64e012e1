"""The API's page: its OpenAPI schema, read aloud in our own design and without script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from bouts.api.pagination import Pages
from bouts.htmx import render_page

JsonDict = Mapping[str, Any]

# What all have alike is told once, at the top of the page.
PAGING = {"page", "page_size"}
TOLD_ONCE = {"Error", "BadRequest"}

NAMES = {"decimal": "decimal string", "double": "number"}


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value is: words, and the shape that it has or is a list of."""

    words: str
    shape: str = ""


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
    kind: Kind
    is_certain: bool  # there for every reader


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Every operation of the API with its parameters and answers."""
    paging = {"page_size": Pages.page_size, "most": Pages.max_page_size}
    return render_page(request, "bouts/api_docs.html", {**_read_aloud(), **paging})


@cache  # it changes only with the code
def _read_aloud() -> JsonDict:
    reader = Reader(SchemaGenerator().get_schema(request=None, public=True))
    groups: dict[str, list[Operation]] = {}
    for operation in reader.operations():
        groups.setdefault(operation.path.strip("/").split("/")[1], []).append(operation)
    return {"groups": groups, "shapes": list(reader.shapes())}


class Reader:
    """Turns an OpenAPI schema into what a page shows of it."""

    def __init__(self, schema: JsonDict) -> None:
        self._paths = schema["paths"]
        self._shapes = schema["components"]["schemas"]

    def operations(self) -> Iterator[Operation]:
        for path, methods in self._paths.items():
            for method, operation in methods.items():
                parameters = operation.get("parameters", [])
                content = operation.get("requestBody", {}).get("content", {})
                yield Operation(
                    method=method.upper(),
                    path=path,
                    text=paragraphs(operation.get("description", "")),
                    # What stands in the path speaks for itself.
                    parameters=[
                        self._parameter(one)
                        for one in parameters
                        if one["name"] not in PAGING and one["in"] != "path"
                    ],
                    is_paged=any(one["name"] == "page" for one in parameters),
                    body=", ".join(content),
                    body_shape=next((self._kind(c["schema"]).shape for c in content.values()), ""),
                    answers=sorted(
                        self._answers(operation["responses"]), key=lambda answer: answer.status
                    ),
                )

    def shapes(self) -> Iterator[tuple[str, list[SafeString], list[Field]]]:
        """Yield the name, the words and the fields of each shape."""
        for name, shape in self._shapes.items():
            if self._is_shown(name):
                certain = shape.get("required", ())
                fields = [
                    Field(field, self._kind(kind), field in certain)
                    for field, kind in shape["properties"].items()
                ]
                yield name, paragraphs(shape.get("description", "")), fields

    def _is_shown(self, name: str) -> bool:
        return "properties" in self._shapes[name] and not name.startswith("Paginated")

    def _parameter(self, parameter: JsonDict) -> Parameter:
        return Parameter(
            name=parameter["name"],
            where=parameter["in"],
            kind=self._kind(parameter["schema"]).words,
            text=_marked(parameter.get("description", "")),
        )

    def _answers(self, responses: JsonDict) -> Iterator[Answer]:
        for status, answer in responses.items():
            schemas = [content.get("schema", {}) for content in answer.get("content", {}).values()]
            shape = self._kind(schemas[0]).shape if schemas else ""
            if shape not in TOLD_ONCE:
                yield Answer(status, shape, answer.get("description", ""))

    def _kind(self, schema: JsonDict) -> Kind:
        """Say what a value is; a page of a list is what it lists."""
        kind = self._kind_itself(schema)
        if schema.get("nullable"):
            return Kind(f"{kind.words} or null".strip(), kind.shape)
        return kind

    def _kind_itself(self, schema: JsonDict) -> Kind:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if name.startswith("Paginated"):
                return Kind("a page of", name.removeprefix("Paginated").removesuffix("List"))
            return (
                Kind("", name)
                if "enum" not in self._shapes[name]
                else self._kind(self._shapes[name])
            )
        for joint in ("allOf", "oneOf"):
            if joint in schema:
                kinds = [self._kind(one) for one in schema[joint]]
                words = " or ".join(filter(None, (kind.words for kind in kinds)))
                return Kind(words, next((kind.shape for kind in kinds if kind.shape), ""))
        if schema.get("type") == "array":
            inner = self._kind(schema["items"])
            return Kind(f"list of {inner.words}".strip(), inner.shape)
        if "enum" in schema:
            return Kind(", ".join(str(value) or "(empty)" for value in schema["enum"]))
        if isinstance(schema.get("additionalProperties"), Mapping):
            inner = self._kind(schema["additionalProperties"])
            return Kind(f"object of {inner.words}".strip(), inner.shape)
        name = schema.get("format") or schema.get("type", "anything")
        return Kind(NAMES.get(name, name))


def paragraphs(text: str) -> list[SafeString]:
    return [_marked(paragraph) for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]


def _marked(text: str) -> SafeString:
    """Return a docstring as HTML: what stands in backticks is code."""
    # Our own words, and escaped all the same.
    return mark_safe(re.sub(r"`+([^`]+)`+", r"<code>\1</code>", escape(text)))
