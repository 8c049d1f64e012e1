"""What the OpenAPI schema says beyond what it reads off the views.

Not beside what it tells of: the settings name the authentication, and it must load before the
views that this needs.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

JsonDict = dict[str, Any]

ERROR: JsonDict = {
    "type": "object",
    "description": "What went wrong, in a sentence.",
    "properties": {"detail": {"type": "string"}},
    "required": ["detail"],
}
BAD_REQUEST: JsonDict = {
    "type": "object",
    "description": "What is wrong with which field, or with the whole under `detail`.",
    "additionalProperties": {
        "oneOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": "string"}},
            {"$ref": "#/components/schemas/BadRequest"},
        ]
    },
}


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "bouts.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


def add_errors(result: JsonDict, **kwargs: Any) -> JsonDict:
    """Add to every operation the errors that any of its kind may answer."""
    result["components"]["schemas"] |= {"Error": ERROR, "BadRequest": BAD_REQUEST}
    for path, methods in result["paths"].items():
        for operation in methods.values():
            operation["responses"] = {**_errors(path, operation), **operation["responses"]}
    return result


def _errors(path: str, operation: JsonDict) -> JsonDict:
    parameters = operation.get("parameters", [])
    names = {parameter["name"] for parameter in parameters if parameter["in"] == "query"}
    errors = {
        "401": _answer("Error", "No token, or one that is not good (any more)."),
        "403": _answer("Error", "Not for you, or not for a token of this scope."),
    }
    if names - {"page", "page_size"} or "requestBody" in operation:
        errors["400"] = _answer("BadRequest", "Something asked for or sent makes no sense.")
    if "{" in path or "page" in names:
        errors["404"] = _answer("Error", "Not there, or not there for you.")
    return errors


def _answer(shape: str, description: str) -> JsonDict:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{shape}"}}}
    return {"content": content, "description": description}
