"""Model fields of our own."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.db import models


class ExactField(models.TextField):
    """An exact rational, such as a score that enters a further step: ``5719/75``.

    A decimal column would round it, and a replay would then differ in the last digit.
    """

    def from_db_value(self, value: str | None, *args: Any) -> Fraction | None:
        return None if value is None else Fraction(value)

    def to_python(self, value: Any) -> Fraction | None:
        return value if value is None or isinstance(value, Fraction) else Fraction(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else str(Fraction(value))

    def value_to_string(self, obj: models.Model) -> str:
        value = self.value_from_object(obj)
        return "" if value is None else str(value)


def as_decimal(value: Fraction | None, places: int = 20) -> Decimal | None:
    """Return a rational to so many places, for a column that the database orders by."""
    if value is None:
        return None
    return Decimal(round(value * 10**places)).scaleb(-places)
