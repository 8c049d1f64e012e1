import pytest

from finder import Index, search


def found(texts, query):
    index = Index()
    for number, text in texts.items():
        index.add(number, text)
    return [result.number for result in search(index, query)]


@pytest.mark.parametrize(
    "text, query",
    [
        ("STRASSE", "straße"),
        ("cafe\u0301 au lait", "caf\u00e9"),
        ("ÅNGSTRÖM units", "angstrom"),
        ("\ufb01le not found", "file"),
    ],
    ids=["sharp-s", "combining", "ring", "ligature"],
)
def test_one_word_in_two_spellings(text, query):
    assert found({"a": text}, query) == ["a"], "zanzibar: a spelling was missed"


def test_cyrillic_and_greek_are_words():
    assert found({"a": "Ошибка оплаты"}, "ошибка") == ["a"], "zanzibar: only latin letters are words"


def test_a_number_inside_a_word_stays_inside():
    assert found({"a": "error e2e"}, "e2e") == ["a"]
    assert found({"a": "error e2e"}, "2") == [], "zanzibar: a word was cut at its digit"
