"""Statements that are built once a process and planned once a connection.

For the few paths on which everybody waits: there Django takes longer to build a query than
PostgreSQL to run it, and PostgreSQL longer to plan a large one. The SQL still comes from the
query sets that the rest of the product uses, so that a rule stands in one place.

A pooler between us and the server must keep prepared statements, as PgBouncer does from 1.21 on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from functools import cache, cached_property, lru_cache
from typing import Any, TypeVar

import psycopg
from django.db import NotSupportedError, OperationalError, connection
from django.db.models import Model, QuerySet
from django.db.models.query import ModelIterable, ValuesListIterable, get_related_populators
from django.db.models.sql.compiler import SQLCompiler
from psycopg import sql

Row = TypeVar("Row", bound=Model)


Values = Mapping[str, object]
HOLE = re.compile(r"%\((\w+)\)s|%%")


class _Cursor(psycopg.RawCursor):
    """Prepares what it executes, where Django's cursors send the whole text each time."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> _Cursor:
        return super().execute(query, params, **{**options, "prepare": True})

    def _convert_query(self, query: Any, params: Any = None) -> Any:
        # Kept for Django's log of queries, as its own cursors keep it.
        self._query = super()._convert_query(query, params)
        return self._query


def run(statement: str, values: Values) -> list[tuple[Any, ...]]:
    """Run a statement with holes, ``%(name)s``; return its rows as they come.

    The statement names its columns and never takes ``*``: its plan must not change with them.
    Where a migration has changed the type of one since, PostgreSQL refuses the plan that it
    made before, and a new connection knows of none.
    """
    return together((statement, values))


def ask(statement: str, values: Values) -> list[tuple[Any, ...]]:
    """Run a statement that changes nothing, so that it may be run twice.

    As the first of a request it also tells whether the connection still stands, for which
    Django would put a question of its own.
    """
    if connection.in_atomic_block or connection.health_check_done:
        return run(statement, values)
    connection.ensure_connection()
    connection.health_check_done = True
    try:
        return run(statement, values)
    except OperationalError:
        if connection.is_usable():
            raise
        connection.close()
        return run(statement, values)


def together(*steps: tuple[str, Values]) -> list[tuple[Any, ...]]:
    """Run statements in one round trip, one after the other; return the rows of the last.

    They are a transaction, or part of the one that is open. Each sees what others committed
    while the one before it waited. See `run` for what a statement must be.
    """
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    try:
        return _run(steps)
    except NotSupportedError:
        if connection.in_atomic_block:
            # What the transaction did so far is lost, and nobody here can do it again.
            connection.close_at = 0  # before the next request
            raise
        connection.close()
        connection.ensure_connection()
        return _run(steps)


def _run(steps: Sequence[tuple[str, Values]]) -> list[tuple[Any, ...]]:
    raw = connection.connection
    if raw.prepare_threshold is None:
        # Django switches preparing off. Its own cursors bind values on this side and never prepare.
        raw.prepare_threshold = 0
        # Left to choose, PostgreSQL goes on planning each call where the first ones, on smaller
        # tables, were cheaper than the plan that fits all.
        raw.execute("SET plan_cache_mode = force_generic_plan")
    if len(steps) == 1:
        cursor = _execute(*steps[0])
    else:
        with connection.wrap_database_errors, raw.pipeline():
            *_, cursor = [_execute(*step) for step in steps]
    with cursor:
        return cursor.fetchall() if cursor.description else []


def _execute(statement: str, values: Values) -> Any:
    wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    cursor = wrap(_Cursor(connection.connection))
    text, names = _numbered(statement)
    cursor.execute(text, [values[name] for name in names])
    return cursor


@lru_cache(maxsize=500)
def _numbered(statement: str) -> tuple[str, list[str]]:
    """Return a statement as PostgreSQL takes it, ``$1`` for a hole, and whose holes they are."""
    names = list(dict.fromkeys(filter(None, HOLE.findall(statement))))
    numbers = {name: f"${number}" for number, name in enumerate(names, 1)}
    return HOLE.sub(lambda hole: numbers[hole[1]] if hole[1] else "%", statement), names


def save_new(row: Model, *, unless_there: bool = False) -> bool:
    """Insert a new row and take its key, as `save` does but for the signals that nobody hears.

    Return whether it was stored: False where one like it is there already and that may be.
    """
    values = {
        field.column: field.get_db_prep_save(field.pre_save(row, add=True), connection)
        for field in row._meta.concrete_fields
        if not field.primary_key
    }
    for (key,) in run(_insertion(type(row), unless_there=unless_there), values):
        row.pk, row._state.adding, row._state.db = key, False, connection.alias
    return not row._state.adding


@cache
def _insertion(model: type[Model], *, unless_there: bool) -> str:
    """Return the statement that inserts a row with every column but its key."""
    quoted = connection.ops.quote_name
    columns = [field.column for field in model._meta.concrete_fields if not field.primary_key]
    return (
        f"INSERT INTO {quoted(model._meta.db_table)} ({', '.join(map(quoted, columns))})"
        f" VALUES ({', '.join(f'%({column})s' for column in columns)})"
        f"{' ON CONFLICT DO NOTHING' * unless_there}"
        f" RETURNING {quoted(model._meta.pk.column)}"
    )


def written(queryset: QuerySet, stand_ins: Mapping[object, str]) -> str:
    """Write a query set out as SQL for `run`.

    A value in it that is a stand-in becomes the hole of that name, any other a literal.
    """
    text, values = queryset.query.get_compiler(connection=connection).as_sql()
    first, *others = text.split("%s")
    spelled = [spell(value, stand_ins) for value in values]
    return first + "".join(value + other for value, other in zip(spelled, others, strict=True))


def spell(value: object, stand_ins: Mapping[object, str]) -> str:
    """Write a value as the hole that it stands in for, or as a literal."""
    if value in stand_ins:
        return f"%({stand_ins[value]})s"
    return sql.Literal(value).as_string(None).replace("%", "%%")


def columns_of(model: type[Model]) -> list[str]:
    """Return the columns of a model, in the order that `instance_of` takes their values in."""
    return [field.attname for field in model._meta.concrete_fields]


def instance_of(model: type[Row], values: Sequence[object]) -> Row:
    """Make a row of a table into the instance that a query set would have given.

    For models whose fields need no conversion of Django's, such as JSON does.
    """
    return model.from_db(None, columns_of(model), values)


# What stands in the place of a hole of this number while a query is built. No row has it, and it
# fits into every column: Django answers a number that does not without asking the database.
STAND_INS: dict[type, Callable[[int], Any]] = {
    int: lambda number: 2**31 - 20_261 + number,
    str: "value {}, which is yet to come".format,
    datetime: lambda number: datetime(1, 2, 3, 4, 5, number, tzinfo=UTC),
}


class Prepared:
    """A query set with holes, built at its first use and afterwards only filled in.

    ``build`` is given a stand-in of each hole's kind and returns rows of a model, or a
    `values_list`. It may depend on nothing else. What would be set for good although it is
    not for good, such as a time, raises `Unfit`; so does a hole that the query does not have.

        person = Prepared(lambda pk: User.objects.filter(pk=pk), pk=int)
        person.rows(pk=7)
    """

    def __init__(self, build: Callable[..., QuerySet], **holes: type) -> None:
        self._build = build
        self._stand_ins = {
            name: STAND_INS[kind](number) for number, (name, kind) in enumerate(holes.items())
        }

    def rows(self, **values: Any) -> list[Any]:
        """Return what the query finds with these values in its holes."""
        return list(self._made(self._converted(ask(self._statement, values))))

    def first(self, **values: Any) -> Any:
        """Return the first that it finds, or None."""
        return next(iter(self.rows(**values)), None)

    @cached_property
    def _queryset(self) -> QuerySet:
        queryset = self._build(**self._stand_ins)
        if queryset._iterable_class not in {ModelIterable, ValuesListIterable}:
            raise Unfit(f"{queryset._iterable_class.__name__} is not known here")
        if queryset._prefetch_related_lookups:
            raise Unfit("of a prepared query there are no rows but its own and select_related's")
        return queryset

    @cached_property
    def _compiler(self) -> SQLCompiler:
        """The compiler, once it knows what is selected: it turns rows into values."""
        compiler = self._queryset.query.get_compiler(connection=connection)
        _, values = compiler.as_sql()
        holes = self._stand_ins.values()
        for value in values:
            if isinstance(value, date | time) and value not in holes:
                raise Unfit(f"{value} would be set for good")
        for name, stand_in in self._stand_ins.items():
            if stand_in not in values:
                raise Unfit(f"no place for {name}")
        return compiler

    @cached_property
    def _statement(self) -> str:
        assert self._compiler  # it refuses what does not fit
        return written(self._queryset, {value: name for name, value in self._stand_ins.items()})

    @cached_property
    def _converters(self) -> Mapping[int, Any]:
        """What Django does to values on their way from PostgreSQL, by the place of the column."""
        return self._compiler.get_converters(column[0] for column in self._compiler.select)

    def _converted(self, rows: list[tuple[Any, ...]]) -> Iterable[Sequence[Any]]:
        if not self._converters:
            return rows
        return map(tuple, self._compiler.apply_converters(rows, self._converters))

    def _made(self, rows: Iterable[Sequence[Any]]) -> Iterator[Any]:
        if self._queryset._iterable_class is ValuesListIterable:
            yield from rows
            return
        compiler = self._compiler
        model, positions = compiler.klass_info["model"], compiler.klass_info["select_fields"]
        first, last = positions[0], positions[-1] + 1
        names = [column[0].target.attname for column in compiler.select[first:last]]
        related = get_related_populators(compiler.klass_info, compiler.select, connection.alias)
        for row in rows:
            made = model.from_db(connection.alias, names, row[first:last])
            for one in related:
                one.populate(row, made)
            for name, position in (compiler.annotation_col_map or {}).items():
                setattr(made, name, row[position])
            yield made


class Unfit(Exception):
    """A query set that cannot be prepared."""
