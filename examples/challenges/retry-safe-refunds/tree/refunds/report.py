"""What a merchant gave back in a day."""

DAY_S = 24 * 60 * 60


def daily_totals(store, merchant, day_start):
    """Minor units given back on the day from `day_start` (epoch seconds), by currency.

    Only refunds that are done count, on the day on which they were made.
    """
    totals = {}
    for payment in store.payments_of(merchant):
        for refund in store.refunds_of(payment.id):
            if refund.created_at >= day_start and refund.created_at <= day_start + DAY_S:
                totals[payment.currency] = totals.get(payment.currency, 0) + refund.amount
    return totals


def as_csv(store, merchant, day_start):
    """The day's totals as CSV, a line a currency, in alphabetical order."""
    totals = daily_totals(store, merchant, day_start)
    lines = [f"{currency},{amount}" for currency, amount in totals.items()]
    return "\n".join(["currency,minor_units", *lines]) + "\n"
