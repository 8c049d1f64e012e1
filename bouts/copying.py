"""Rows on their way into PostgreSQL by COPY, spooled so that memory does not grow with them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from typing import Self

from django.db import connection, models
from psycopg.types.json import Jsonb

SPOOL = 4 << 20  # bytes kept in memory before a spool goes to disk
BLOCK = 1 << 20

# What COPY has a meaning for in a text. The backslash comes first: the others bring more of it.
_ESCAPES = {"\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


class Spool:
    """Rows of one table, gathered first and written in one go.

    ``mark`` and ``rewind`` take back the rows of a file that turned out unreadable.
    """

    def __init__(self, model: type[models.Model], fields: Iterable[str]) -> None:
        self._table = model._meta.db_table
        self._columns = [model._meta.get_field(name).column for name in fields]
        self._file = tempfile.SpooledTemporaryFile(max_size=SPOOL)  # noqa: SIM115 (closed by __exit__)
        self.rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()

    def add(self, *values: object) -> None:
        self._file.write("\t".join(map(_text, values)).encode() + b"\n")
        self.rows += 1

    def mark(self) -> tuple[int, int]:
        return self._file.tell(), self.rows

    def rewind(self, mark: tuple[int, int]) -> None:
        position, self.rows = mark
        self._file.seek(position)
        self._file.truncate()

    def write(self) -> None:
        """Send every row to the database, in the transaction that is open."""
        if not self.rows:
            return
        names = ", ".join(connection.ops.quote_name(column) for column in self._columns)
        table = connection.ops.quote_name(self._table)
        self._file.seek(0)
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy,
        ):
            while block := self._file.read(BLOCK):
                copy.write(block)


def insert(rows: Sequence[models.Model]) -> None:
    """Write new rows of one model; their keys stay unknown here unless they have some.

    For rows with long JSON, which ``bulk_create`` takes apart and escapes letter by letter.
    """
    if not rows:
        return
    fields = [
        field
        for field in rows[0]._meta.concrete_fields
        if not field.primary_key or rows[0].pk is not None
    ]
    with Spool(type(rows[0]), [field.name for field in fields]) as spool:
        for row in rows:
            spool.add(
                *(
                    field.get_db_prep_save(field.pre_save(row, add=True), connection)
                    for field in fields
                )
            )
        spool.write()


def _text(value: object) -> str:
    """Return a value in COPY's text format."""
    match value:
        case None:
            return r"\N"
        case bool():
            return "t" if value else "f"
        case bytes():
            return r"\\x" + value.hex()
        case str():
            # Not `translate`, which goes letter by letter.
            for letter, escaped in _ESCAPES.items():
                value = value.replace(letter, escaped)
            return value
        case Jsonb():
            return _text(value.dumps(value.obj))
    return str(value)


def next_keys(model: type[models.Model], count: int) -> list[int]:
    """Take primary keys from a table's sequence before its rows exist."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
            [model._meta.db_table, count],
        )
        return [row[0] for row in cursor.fetchall()]
