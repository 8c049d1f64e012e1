"""The days on which a subscription renews (contract, part 4)."""

import calendar
from datetime import date, datetime, time
from zoneinfo import ZoneInfo


def last_day(year, month):
    return calendar.monthrange(year, month)[1]


def add_months(anchor, months):
    """The renewal `months` after the first day, always counted from the anchor.

    Counting from the anchor and never from the last renewal keeps 4.2: after a short month
    the anchor's day comes back.
    """
    if months < 0:
        raise ValueError("renewals lie ahead")
    years, month0 = divmod(anchor.month - 1 + months, 12)
    year, month = anchor.year + years, month0 + 1
    return date(year, month, min(anchor.day, last_day(year, month)))


def renewals(anchor, count, every=1):
    """The next `count` renewals of a plan that renews every so many months."""
    return [add_months(anchor, every * n) for n in range(1, count + 1)]


def due_at(day, zone):
    """The moment at which a renewal is due: the start of the day where the customer lives."""
    return datetime.combine(day, time.min, tzinfo=ZoneInfo(zone))
