"""JSON documents: parsed with care, held against a pydantic model, every fault in good English.

The parser is the standard library's rather than orjson because three things decide here:
a key given twice is seen, NaN is refused with the name of its field rather than as bad
syntax, and a score of 57.14 stays exactly that.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, DecimalException
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from bouts.bundles.errors import Fault, as_found

DEEPEST = 32  # levels of nesting; the deepest field that means anything lies at 6
MOST_VALUES = 300_000  # what a challenge of 20,000 tests needs
MOST_FAULTS = 500  # of one document that are told one by one
LONGEST_INTEGER = 18  # digits

# The type of a pydantic error whose message is our own and says what was expected.
EXPECTED = "expected"

ModelT = TypeVar("ModelT", bound=BaseModel)


# Parsing


class _Repeating(dict[str, Any]):
    """An object in which keys are given twice; the last value counts, as everywhere."""

    repeated: list[str]


def parse(data: bytes, file: str) -> tuple[Any, list[Fault]]:
    """Read JSON; return the value and what is wrong with the text itself.

    Numbers with a fraction or exponent come as `Decimal`, NaN and Infinity as floats. Where
    the text is no JSON at all the value is None.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"0x{data[error.start]:02x}"
        return None, [Fault(file, f"byte {error.start}", found, "Text in UTF-8")]
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_float=_fraction, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        found = text[error.pos : error.pos + 20] or "the end of the file"
        return None, [Fault(file, place, found, "Valid JSON")]
    except RecursionError:
        return None, [_too_deep(file, "document")]
    return value, list(islice(_oddities(value, file), MOST_FAULTS))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    repeating = _Repeating(plain)
    repeating.repeated = [key for key, times in Counter(k for k, _ in pairs).items() if times > 1]
    return repeating


def _integer(digits: str) -> int | Decimal:
    # Larger ones are refused wherever they stand, and must not cost quadratic time before.
    return int(digits) if len(digits) <= LONGEST_INTEGER else _fraction(digits)


def _fraction(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except DecimalException:  # an exponent beyond all bounds
        return Decimal("Infinity")


def _oddities(root: Any, file: str) -> Iterator[Fault]:
    """Tell of keys given twice, text that cannot be stored, and documents without end."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    values = 0
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            yield from _odd_text(path, value, file)
        elif isinstance(value, list | dict):
            values += len(value)
            if values > MOST_VALUES:
                words = f"At most {MOST_VALUES:,} values in a document"
                yield Fault(file, "document", "more values", words)
                return
            if len(path) >= DEEPEST:
                yield _too_deep(file, spelled(path))
            elif isinstance(value, list):
                waiting.extend(((*path, at), item) for at, item in enumerate(value))
            else:
                yield from _odd_keys(path, value, file)
                waiting.extend(((*path, key), item) for key, item in value.items())


def _odd_keys(path: tuple[str | int, ...], value: dict[str, Any], file: str) -> Iterator[Fault]:
    if isinstance(value, _Repeating):
        for key in value.repeated:
            yield Fault(file, spelled((*path, key)), "the key twice", "Each key once")
    for key in value:
        yield from _odd_text((*path, key), key, file)


def _odd_text(path: tuple[str | int, ...], text: str, file: str) -> Iterator[Fault]:
    if "\0" in text:
        yield Fault(file, spelled(path), text, "Text without NUL characters")
    elif not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        yield Fault(file, spelled(path), text, "Unicode text without lone surrogates")


def _too_deep(file: str, field: str) -> Fault:
    return Fault(file, field, "deeper nesting", f"At most {DEEPEST} levels of nesting")


def spelled(path: tuple[str | int, ...]) -> str:
    """Write a path as faults do: ``artifacts[3].suite``; the root is ``document``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "document"


def plain(value: Any) -> Any:
    """Return a parsed document as plain JSON values, the exact numbers as floats."""
    match value:
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case Decimal():
            return float(value)
    return value


# Holding a value against a model


def validate(model: type[ModelT], value: Any, file: str) -> tuple[ModelT | None, list[Fault]]:
    """Make a model of a parsed document, or return every fault that its fields have."""
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        # A document that is something else altogether is not told line by line.
        if error.error_count() > 20 * MOST_FAULTS:
            count = f"{error.error_count():,} faults"
            return None, [Fault(file, "document", count, "A document of the published schema")]
        details = error.errors(include_url=False)
    schema = schema_of(model)
    faults = [_fault(schema, detail, file) for detail in details[:MOST_FAULTS]]
    if (rest := len(details) - MOST_FAULTS) > 0:
        faults.append(Fault(file, "document", f"{rest:,} more faults", "None"))
    return None, faults


@cache
def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a model: what is published, and where faults take their words from."""
    return model.model_json_schema()


def _fault(schema: dict[str, Any], detail: Any, file: str) -> Fault:
    path: tuple[str | int, ...] = detail["loc"]
    form, value = detail["type"], detail["input"]
    if form == EXPECTED:
        return Fault(file, spelled(path), as_found(value), detail["msg"])
    if form == "missing":
        found, expected = "nothing", sentence(schema, node(schema, path))
    elif form == "extra_forbidden":
        known = ", ".join(_inner(schema, node(schema, path[:-1]))["properties"])
        found, expected = as_found(value), f"No such field; there are {known}"
    else:
        here = node(schema, path)
        expected = sentence(schema, here)
        # "100" where a number belongs is told from 100 by its quotes.
        is_other_type = isinstance(value, str) and _inner(schema, here).get("type") != "string"
        found = json.dumps(value, ensure_ascii=False) if is_other_type else as_found(value)
    return Fault(file, spelled(path), found, expected)


def node(schema: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
    """Return the part of a JSON Schema that describes a path; empty where there is none."""
    here = schema
    for step in path:
        here = _inner(schema, here)
        if isinstance(step, int):
            here = here.get("items", {})
        else:
            properties = here.get("properties", {})
            here = properties.get(step) or here.get("additionalProperties") or {}
    return here


def _inner(schema: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference, and what is optional to what it is when it is there."""
    if "anyOf" in here:
        here = next(form for form in here["anyOf"] if form.get("type") != "null")
    if "$ref" in here:
        name = here["$ref"].rpartition("/")[2]
        return dict(schema["$defs"][name])
    return here


def sentence(schema: dict[str, Any], here: dict[str, Any]) -> str:
    """Say in words what a part of a JSON Schema expects."""
    inner = _inner(schema, here)
    if inner is not here and "description" in here:  # of the field, not of its type
        return str(here["description"])
    match inner:
        case {"enum": values}:
            return f"One of {', '.join(values)}"
        case {"type": "object", "properties": properties}:
            return f"An object with {', '.join(properties)}"
    if "description" in inner:
        return str(inner["description"])
    match inner:
        case {"const": value}:
            return str(value)
        case {"type": "boolean"}:
            return "true or false"
        case {"type": "integer" | "number" as form}:
            return f"A {'whole ' * (form == 'integer')}number{_range(inner)}"
        case {"type": "array", "minItems": 1}:
            return "A list of at least one"
        case {"type": "array"}:
            most = f" of at most {inner['maxItems']:,}" if "maxItems" in inner else ""
            return f"A list{most}"
        case {"type": "object"}:
            return "An object"
        case {"type": "string", "maxLength": most}:
            least = inner.get("minLength", 0)
            return (
                f"Text of {least} to {most:,} characters"
                if least
                else f"Text of at most {most:,} characters"
            )
    return "Text"


def _range(inner: dict[str, Any]) -> str:
    match inner:
        case {"minimum": lowest, "maximum": highest}:
            return f" from {lowest} to {highest}"
        case {"minimum": lowest}:
            return f" from {lowest}"
        case {"exclusiveMinimum": lowest}:
            return f" greater than {lowest}"
    return ""


# Looking at a document that may be wrong in places. Rules that span several fields speak of
# what is there, so that one misspelt field does not hide the faults of the others.


def get(value: Any, *keys: str) -> Any:
    """Return the value at the end of the keys, or None where the way there is not of objects."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def each(value: Any, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a list in an object, each with its path: ``artifacts[3]``."""
    items = get(value, key)
    if isinstance(items, list):
        for at, item in enumerate(items):
            if isinstance(item, dict):
                yield f"{key}[{at}]", item
