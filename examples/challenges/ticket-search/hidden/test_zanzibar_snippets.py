import pytest

from finder import Index, search


def shown(text, query):
    index = Index()
    index.add("a", text)
    return search(index, query)[0].snippet


def test_markup_in_a_ticket_is_text():
    html = shown("broken <script>alert(1)</script> page", "page")
    assert "<script>" not in html, "zanzibar: a ticket's script reached the page"
    assert "<mark>page</mark>" in html


def test_an_ampersand_beside_a_hit():
    assert "Fig &amp; <mark>Sons</mark>" in shown("Fig & Sons", "sons")


def test_a_hit_with_an_accent_is_marked_whole():
    assert "<mark>Café</mark>" in shown("The Café is closed", "cafe"), "zanzibar: half a word was marked"


@pytest.mark.parametrize("lead", [30, 39, 200])
def test_the_hit_is_always_in_the_piece(lead):
    assert "<mark>needle</mark>" in shown("x " * lead + "needle in hay", "needle")
