from refunds import report


def test_a_day_sums_what_was_given_back(service, store):
    store.add_payment("p2", "Fig & Sons", 5_000)
    service.refund("p1", "10.00", "k1")
    service.refund("p2", "2.50", "k2")
    assert report.daily_totals(store, "Fig & Sons", 950_400) == {"EUR": 1250}


def test_another_merchant_has_other_books(service, store):
    service.refund("p1", "10.00", "k1")
    assert report.daily_totals(store, "Plum Ltd", 950_400) == {}


def test_csv_has_a_line_a_currency(service, store):
    store.add_payment("p2", "Fig & Sons", 50_000, currency="JPY")
    store.add_payment("p3", "Fig & Sons", 50_000, currency="KWD")
    service.refund("p2", "700", "k2")
    service.refund("p1", "10.00", "k1")
    service.refund("p3", "1.250", "k3")
    assert report.as_csv(store, "Fig & Sons", 950_400) == (
        "currency,minor_units\nEUR,1000\nJPY,700\nKWD,1250\n"
    )
