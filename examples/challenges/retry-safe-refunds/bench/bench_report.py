"""How long a merchant's day takes to sum: 1,500 payments, two refunds each."""

import pytest

from refunds import report
from refunds.store import Store

DAY = 950_400


@pytest.fixture(scope="module")
def busy_store():
    store = Store()
    store.db.execute("BEGIN")
    for number in range(1_500):
        store.add_payment(f"p{number}", "Fig & Sons", 10_000, currency=("EUR", "USD")[number % 2])
        for part in (500, 700):
            refund = store.add_refund(f"p{number}", part, DAY + number)
            store.set_status(refund.id, "done")
    store.db.execute("COMMIT")
    return store


def test_daily_totals(benchmark, busy_store):
    totals = benchmark.pedantic(
        report.daily_totals, args=(busy_store, "Fig & Sons", DAY), rounds=12, warmup_rounds=2
    )
    assert totals == {"EUR": 900_000, "USD": 900_000}
