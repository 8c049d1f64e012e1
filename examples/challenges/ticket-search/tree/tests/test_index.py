from finder import Index, search


def test_a_removed_ticket_is_gone(index, find):
    index.remove("T-4")
    assert find("refund") == {"T-1", "T-2"}


def test_adding_again_replaces(index, find):
    index.add("T-5", "Real ticket now")
    assert find("ignore") == set()
    assert find("real") == {"T-5"}


def test_an_index_survives_its_file(index, tmp_path):
    index.save(tmp_path / "index")
    again = Index.load(tmp_path / "index")
    assert search(again, "refund") == search(index, "refund")


def test_the_rarer_word_ranks_higher(index):
    assert search(index, "ignore OR refund")[0].number == "T-5"


def test_hits_are_marked(index):
    assert "<mark>corner</mark>" in search(index, "corner")[0].snippet
