"""A case of the corpus is read as a bundle is."""

from __future__ import annotations

from bouts.formats.types import Access, Event, FileChange, Kind
from tests.judging.detectors.corpus import (
    Case,
    added,
    claims,
    dossier_of,
    edited,
    step,
    trajectory,
)

CASE = Case(
    name="everything",
    why="each kind of file that a case can bring",
    artifacts=(
        (
            "diff.patch",
            "diff",
            edited("a.py", "one = 1\n", "one = 2\n") + added("b.py", "two = 2"),
            {},
        ),
        (
            "telemetry.json",
            "telemetry",
            trajectory(step("Look."), step("Run.", "pytest -q", "1 passed in 0.1s")),
            {},
        ),
        (
            "sandbox.log",
            "sandbox",
            '7 openat(AT_FDCWD, "/secret/x", O_RDONLY) = 3\n' * 3,
            {"format": "strace"},
        ),
        ("claims.json", "claims", claims(("It works.", 0.9, "t.a::test_x")), {}),
        ("NOTES.md", "deliverable", "All done.", {}),
    ),
    challenge={"forbidden_paths": ["/secret/*"]},
    tree={"a.py": "one = 1\n"},
    results={"static": {"t.a::test_x": True}, "hidden": {"h.b::test_y": False}},
)


def test_a_case_goes_through_the_readers():
    with dossier_of(CASE) as dossier:
        changes = [value for _, value in dossier.values(Kind.DIFF)]
        assert [(c.path, c.status) for c in changes if isinstance(c, FileChange)] == [
            ("a.py", "modified"),
            ("b.py", "added"),
        ]
        events = [value for _, value in dossier.values(Kind.TELEMETRY)]
        assert [e.command for e in events if isinstance(e, Event)] == [None, "pytest -q"]
        (access,) = [value for _, value in dossier.values(Kind.SANDBOX)]
        assert isinstance(access, Access)
        assert access.target == "/secret/x"
        assert dossier.claims[0].entry.about == "t.a::test_x"
        assert dossier.starting_paths == frozenset({"a.py"})
        assert {s.suite for s in dossier.of_kind(Kind.TESTS)} == {"static", "hidden"}
