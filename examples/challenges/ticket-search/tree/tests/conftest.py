import pytest

from finder import Index

TICKETS = {
    "T-1": "Refund for a bank transfer that never arrived",
    "T-2": "The bank holds my card; transfer my refund elsewhere",
    "T-3": "Card declined at the café on the corner",
    "T-4": "Error 502 when I open the refund page",
    "T-5": "Test ticket, please ignore",
}


@pytest.fixture
def index():
    index = Index()
    for number, text in TICKETS.items():
        index.add(number, text)
    return index


@pytest.fixture
def find(index):
    from finder import search

    return lambda query: {result.number for result in search(index, query)}
