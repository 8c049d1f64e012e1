"""Statements that are built once a process and planned once a connection.

For the few paths on which everybody waits: there Django takes longer to build a query than
PostgreSQL to run it, and PostgreSQL longer to plan a large one. The SQL still comes from the
query sets that the rest of the product uses, so that a rule stands in one place.

A pooler between us and the server must keep prepared statements, as PgBouncer does from 1.21 on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import psycopg
from django.db import connection
from django.db.models import Model, QuerySet
from psycopg import sql

Row = TypeVar("Row", bound=Model)


class _Cursor(psycopg.Cursor):
    """Prepares what it executes, where Django's cursors send the whole text each time."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> _Cursor:
        return super().execute(query, params, **{**options, "prepare": True})


def run(statement: str, params: Mapping[str, object]) -> list[tuple[Any, ...]]:
    """Run a statement with named parameters, ``%(name)s``; return its rows as they come.

    The statement names its columns and never takes ``*``: its plan must not change with them.
    """
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    # Django switches preparing off. Its own cursors bind values on this side and never prepare.
    connection.connection.prepare_threshold = 0
    wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    with wrap(_Cursor(connection.connection)) as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()


def written(queryset: QuerySet, stand_ins: Mapping[object, str]) -> str:
    """Write a query set out as SQL for `run`.

    A value in it that is a stand-in becomes the parameter of that name, any other a literal.
    """
    text, values = queryset.query.get_compiler(connection=connection).as_sql()
    first, *others = text.split("%s")
    spelled = [
        f"%({stand_ins[value]})s"
        if value in stand_ins
        else sql.Literal(value).as_string(None).replace("%", "%%")
        for value in values
    ]
    return first + "".join(value + other for value, other in zip(spelled, others, strict=True))


def columns_of(model: type[Model]) -> list[str]:
    """Return the columns of a model, in the order that `instance_of` takes their values in."""
    return [field.attname for field in model._meta.concrete_fields]


def instance_of(model: type[Row], values: Sequence[object]) -> Row:
    """Make a row of a table into the instance that a query set would have given.

    For models whose fields need no conversion of Django's, such as JSON does.
    """
    return model.from_db(None, columns_of(model), values)
