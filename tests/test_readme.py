"""README's tables of formats and the readers cannot part."""

from __future__ import annotations

import io
import re

import pytest
from django.conf import settings

from bouts.formats.sniff import READERS
from bouts.formats.types import Event, Kind, Reader, Report
from tests.bouts.formats.reading import call, trajectory
from tests.bouts.formats.test_any_bytes import SAMPLES as DAMAGED
from tests.bouts.formats.test_sniff import SAMPLES

# What the samples of a format happen not to show.
FURTHER = {"atif": trajectory({**call("bash", "x", command="ls"), "metrics": {"prompt_tokens": 1}})}
OF = {kind: [reader for reader in READERS if reader.kind is kind] for kind in Kind}


def rows() -> dict[str, list[str]]:
    """Return the cells of the tables by the format that a row is about."""
    text = (settings.BASE_DIR / "README.md").read_text()
    section = text.partition("### What is read")[2].partition("\n## ")[0]
    found: dict[str, list[str]] = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for number, cell in enumerate(cells[:2]):
            if re.fullmatch(r"(`[\w-]+`(, )?)+", cell):
                found |= dict.fromkeys(re.findall(r"`([\w-]+)`", cell), cells[number + 1 :])
    return found


def reports(reader: Reader) -> list[tuple[list[Event], Report]]:
    samples = [SAMPLES[reader.format], *DAMAGED.get(reader.format, [])]
    samples += [FURTHER[reader.format]] if reader.format in FURTHER else []
    told = []
    for sample in samples:
        report = Report()
        told.append((list(reader.read(io.BytesIO(sample), report)), report))
    return told


def test_every_format_has_its_row_and_every_row_its_format() -> None:
    assert rows().keys() == {reader.format for reader in READERS}


@pytest.mark.parametrize("reader", OF[Kind.TELEMETRY], ids=lambda reader: reader.format)
def test_what_telemetry_gives_is_what_the_table_says(reader: Reader) -> None:
    _, clock, tokens, exits, contents, *_ = rows()[reader.format]
    told = reports(reader)
    events = [event for values, _ in told for event in values]
    assert set(clock.split(", ")) == {report.clock.value for _, report in told if report.clock}
    assert [tokens, exits, contents] == [
        "yes" if gives else "–"
        for gives in (
            any(event.tokens_in is not None for event in events),
            any(event.exit_code is not None for event in events),
            any(event.after is not None for event in events),
        )
    ]


@pytest.mark.parametrize("reader", OF[Kind.SANDBOX], ids=lambda reader: reader.format)
def test_a_sandbox_log_has_no_clock_but_those_of_the_table(reader: Reader) -> None:
    stated = rows()[reader.format][1]
    for _, report in reports(reader):
        assert report.clock is not None
        assert report.clock.value in stated
