"""Which word stands where."""

import pickle

from finder.text import words


class Index:
    """Tickets by number, and for each word the tickets and places where it stands."""

    def __init__(self):
        self.texts = {}
        self.lengths = {}
        self.postings = {}

    def __len__(self):
        return len(self.texts)

    def add(self, number, text):
        """Add a ticket, or replace the one that has this number."""
        self.texts[number] = text
        found = words(text)
        self.lengths[number] = len(found)
        for place, word in enumerate(found):
            self.postings.setdefault(word, {}).setdefault(number, []).append(place)

    def remove(self, number):
        """Forget a ticket. One that is not there is nobody's fault."""
        self.texts.pop(number, None)

    def tickets_with(self, word):
        """The numbers of the tickets that have this word."""
        return {n for n in self.postings.get(word, {})}

    def places(self, word, number):
        return self.postings.get(word, {}).get(number, [])

    def tickets_with_phrase(self, phrase):
        """The numbers of the tickets that have these words one after the other."""
        found = set()
        for number in self.tickets_with(phrase[0]):
            if all(number in self.tickets_with(word) for word in phrase):
                found.add(number)
        return found

    def average_length(self):
        return sum(self.lengths.values()) / len(self.lengths)

    def save(self, path):
        with open(path, "wb") as file:
            pickle.dump((self.texts, self.lengths, self.postings), file)

    @classmethod
    def load(cls, path):
        index = cls()
        with open(path, "rb") as file:
            index.texts, index.lengths, index.postings = pickle.load(file)
        return index
