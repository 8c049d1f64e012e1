"""`manage.py inspect`: what is in files, without a bundle and without a database."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from bouts.bundles import inspection
from bouts.formats.sniff import READERS
from bouts.formats.types import Kind
from tests.bouts.formats.reading import FIXTURES
from tests.bouts.formats.test_sniff import SAMPLES

FIELDS = {"path", "kind", "format", "version", "state", "clock", "counts", "notes"}


def inspected(*files: Path, **options: Any) -> tuple[list[dict[str, Any]], int]:
    """Return what is printed as JSON, and the exit code."""
    out = io.StringIO()
    code = 0
    try:
        call_command("inspect", *map(str, files), json=True, stdout=out, **options)
    except SystemExit as ending:
        code = int(str(ending.code))
    return json.loads(out.getvalue()), code


def one(file: Path, **options: Any) -> dict[str, Any]:
    (found,), _ = inspected(file, **options)
    return found


def test_each_file_is_an_object_in_the_order_given() -> None:
    files = [FIXTURES / "squid.log", FIXTURES / "pytest.xml", FIXTURES / "git.diff"]
    found, code = inspected(*files)
    assert code == 0
    assert [row["path"] for row in found] == [str(file) for file in files]
    assert [(row["kind"], row["format"], row["clock"]) for row in found] == [
        ("sandbox", "squid", "zoned"),
        ("tests", "junit", None),
        ("diff", "diff", None),
    ]
    assert all(row.keys() == FIELDS and row["state"] == "read" for row in found)
    assert found[1]["counts"]["cases"] > 0


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: f"{reader.kind}-{reader.format}")
def test_the_kind_of_every_format_is_sniffed(reader: Any, tmp_path: Path) -> None:
    file = tmp_path / "whatever"
    file.write_bytes(SAMPLES[reader.format])
    found = one(file)
    assert (found["kind"], found["format"]) == (reader.kind, reader.format)


def test_a_file_that_cannot_be_read_ends_with_one_and_loses_no_other(tmp_path: Path) -> None:
    broken = tmp_path / "broken.xml"
    broken.write_text("<testsuite><testcase name='a'>")
    (bad, good), code = inspected(broken, FIXTURES / "squid.log")
    assert code == 1
    assert (bad["state"], bad["kind"], bad["format"]) == ("unreadable", "tests", "junit")
    assert "ends early" in bad["notes"][0]["text"]
    assert bad["counts"] == {}
    assert good["state"] == "read"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b'{"what": 1, "is this": {}}', "a JSON object with what, is this"),
        (b'[{"a": 1}]', "it begins like JSON"),
        (b"<foo a='1'/>", "XML of <foo>"),
        (b"\x00\x01\x02" * 50, "bytes that are no text"),
        (b"\x28\xb5\x2f\xfd\x00", "compressed with zstd"),
        (b"%PDF-1.7", "a PDF document"),
    ],
)
def test_what_nobody_recognises_is_described(content: bytes, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    found = one(file)
    assert (found["state"], found["kind"], found["format"]) == ("unreadable", None, None)
    assert reason in found["notes"][0]["text"]


def test_an_archive_a_folder_and_a_missing_file_say_what_to_do(tmp_path: Path) -> None:
    archive = tmp_path / "bundle.zip"
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("match.json", "{}")
    found, code = inspected(archive, tmp_path, tmp_path / "none")
    reasons = [row["notes"][0]["text"] for row in found]
    assert code == 1
    assert "a zip archive of 1 member; a bundle is checked with" in reasons[0]
    assert reasons[1].startswith("a folder: name the files in it")
    assert reasons[2] == "no such file or directory"


def test_plain_text_is_a_log_and_text_that_looks_like_a_document_is_not(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text("collected 3 items\n\x1b[31mSegmentation fault\x1b[0m\n")
    found = one(file)
    assert (found["kind"], found["state"]) == ("log", "read")
    file.write_text("[info] started\n")
    assert one(file)["kind"] == "log"
    file.write_text('{"what": "is this"}')
    assert one(file)["state"] == "unreadable"
    assert one(file, kind="log")["state"] == "read"


def test_a_stated_kind_or_format_is_held_to(tmp_path: Path) -> None:
    found = one(FIXTURES / "squid.log", kind="tests")
    assert found["notes"][0]["text"].startswith("no reader of tests recognises the content")
    found = one(FIXTURES / "squid.log", format="strace")
    assert (found["format"], found["state"]) == ("strace", "unreadable")
    assert "no line of it was written by strace" in found["notes"][0]["text"]
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("inspect", "x", "--kind", "no such kind")
    described = inspection.inspect(FIXTURES / "squid.log", kind=Kind.TESTS, format="squid")
    assert "no reader of tests is named 'squid'" in described.notes[0].text


def test_our_own_documents_are_checked_by_themselves(tmp_path: Path) -> None:
    file = tmp_path / "claims.json"
    claims = {"schema": "bouts.claims/1", "claims": [{"statement": "It works.", "confidence": 1}]}
    file.write_text(json.dumps(claims))
    found = one(file)
    assert (found["kind"], found["format"], found["version"]) == ("claims", "bouts.claims", "1")
    assert (found["state"], found["counts"]) == ("read", {"claims": 1})
    claims["claims"] = [{"confidence": 2}]
    file.write_text(json.dumps(claims))
    (found,), code = inspected(file)
    assert (found["state"], code) == ("unreadable", 1)
    assert {note["place"] for note in found["notes"]} == {
        "claims[0].statement",
        "claims[0].confidence",
    }


def test_the_table_has_a_row_a_file_and_what_was_noted_below_it(tmp_path: Path) -> None:
    broken = tmp_path / "a\x1b[31m.xml"
    broken.write_text("<testsuite>")
    out = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("inspect", str(FIXTURES / "squid.log"), str(broken), stdout=out)
    heading, squid, counts, unreadable, reason, *rest = out.getvalue().splitlines()
    assert heading.split() == ["file", "kind", "format", "version", "state", "clock"]
    assert squid.split()[1:] == ["sandbox", "squid", "–", "read", "zoned"]
    assert counts.startswith("  lines 6, accesses 5")
    assert "a␛[31m.xml" in unreadable
    assert "ends early" in reason
    assert rest == []


@pytest.mark.parametrize("is_piped", [True, False], ids=["pipe", "file"])
def test_what_comes_in_on_standard_input_is_read_like_a_file(
    is_piped: bool, tmp_path: Path
) -> None:
    sample = FIXTURES / "pytest.xml"
    environment = os.environ | {"BOUTS_DATA": str(tmp_path / "data")}
    command = [sys.executable, "manage.py", "inspect", "--json", "-", "/dev/stdin"]
    with sample.open("rb") as file:
        ended = subprocess.run(
            command,
            cwd=settings.BASE_DIR,
            env=environment,
            capture_output=True,
            **({"input": sample.read_bytes()} if is_piped else {"stdin": file}),
        )
    found, other = json.loads(ended.stdout)
    assert (found["path"], found["format"], found["state"]) == ("-", "junit", "read")
    # What was read from a pipe is gone; a file begins anew.
    assert other["state"] == ("unreadable" if is_piped else "read")
    assert ended.returncode == is_piped


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_any_name_is_printed_on_any_terminal(
    options: list[str], encoding: str, tmp_path: Path
) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b[31m\n.xml")
    Path(name).write_bytes((FIXTURES / "pytest.xml").read_bytes())
    environment = {"PYTHONIOENCODING": f"{encoding}:strict", "BOUTS_DATA": str(tmp_path / "data")}
    ended = subprocess.run(
        [sys.executable, "manage.py", "inspect", name, *options],
        cwd=settings.BASE_DIR,
        env=os.environ | environment,
        capture_output=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert b"junit" in ended.stdout and b"\x1b" not in ended.stdout
    if options:
        assert json.loads(ended.stdout)[0]["path"] == name


def test_no_database_is_started_for_it(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    del environment["DJANGO_SETTINGS_MODULE"]
    ended = subprocess.run(
        [sys.executable, "manage.py", "inspect", str(FIXTURES / "squid.log"), str(tmp_path)],
        cwd=settings.BASE_DIR,
        env=environment | {"BOUTS_DATA": str(tmp_path / "data")},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1, ended.stderr
    assert "squid" in ended.stdout
    assert not (tmp_path / "data").exists()
