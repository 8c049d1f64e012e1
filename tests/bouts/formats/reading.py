"""Reading for tests: a file or bytes through a reader, and documents to read."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from bouts.formats.types import Reader, Report

FIXTURES = Path(__file__).parent / "fixtures"


def read(reader: Reader, data: bytes | str | Path) -> tuple[list[Any], Report]:
    """Return all values of a file or of its content, and the report."""
    if isinstance(data, Path):
        data = data.read_bytes()
    if isinstance(data, str):
        data = data.encode()
    report = Report()
    return list(reader.read(io.BytesIO(data), report)), report


def notes(report: Report) -> str:
    return "\n".join(f"{note.text} [{note.place}]" for note in report.notes)


def trajectory(*steps: dict[str, Any], **fields: Any) -> bytes:
    """Return an ATIF file; steps get the ids and the source that they leave out."""
    numbered = [
        {"step_id": number, "source": "agent", "message": "", **step}
        for number, step in enumerate(steps, start=1)
    ]
    document = {
        "schema_version": "ATIF-v1.6",
        "agent": {"name": "an agent", "version": "1"},
        "steps": numbered,
    }
    return json.dumps(document | fields).encode()


def call(tool: str, output: str | None = None, /, **arguments: Any) -> dict[str, Any]:
    """Return a step with one tool call and, where given, its result."""
    step: dict[str, Any] = {
        "tool_calls": [{"tool_call_id": "c", "function_name": tool, "arguments": arguments}]
    }
    if output is not None:
        step["observation"] = {"results": [{"source_call_id": "c", "content": output}]}
    return step
