"""The example challenges: complete, honest about the starting tree, and silent about what is hidden."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bouts.archives.limits import Limits
from bouts.bundles.loading import load_challenge
from examples.measure import archive
from tests.examples.committed import BUNDLES, CHALLENGES, challenge, files, manifest

each_challenge = pytest.mark.parametrize("folder", CHALLENGES, ids=lambda path: path.name)


@each_challenge
def test_a_challenge_has_no_fault(folder: Path) -> None:
    with load_challenge(folder, name=folder.name, limits=Limits()) as loaded:
        assert loaded.challenge.slug == folder.name
        assert loaded.tree


@each_challenge
def test_the_archive_is_the_tree(folder: Path) -> None:
    assert (folder / "tree.tar.gz").read_bytes() == archive(folder / "tree")


@each_challenge
def test_every_listed_test_stands_in_its_file(folder: Path) -> None:
    for test in challenge(folder.name)["tests"]:
        inside = folder / ("tree" if test["suite"] == "static" else ".") / test["path"]
        name = test["id"].partition("::")[2].partition("[")[0]
        assert f"def {name}(" in inside.read_text(), test["id"]


@each_challenge
def test_every_test_that_is_not_visible_carries_a_canary(folder: Path) -> None:
    canaries = {"hidden": "zanzibar", "invariant": "pemba"}
    for test in challenge(folder.name)["tests"]:
        for suite, word in canaries.items():
            assert (word in test["id"]) == (test["suite"] == suite), test["id"]


@each_challenge
def test_what_competitors_read_of_a_challenge_names_no_hidden_test(folder: Path) -> None:
    document = challenge(folder.name)
    shown = {key: document.get(key) for key in ("title", "family", "briefing", "slug")}
    shown["tree"] = "".join(
        p.read_text() for p in sorted(folder.glob("tree/**/*.*")) if p.is_file()
    )
    assert not {"zanzibar", "pemba"} & set(json.dumps(shown).split('"'))
    assert "zanzibar" not in json.dumps(shown) and "pemba" not in json.dumps(shown)


@each_challenge
def test_the_hidden_tests_lie_under_a_forbidden_path(folder: Path) -> None:
    (forbidden,) = challenge(folder.name)["forbidden_paths"]
    assert forbidden.startswith("/tmp/bouts-examples/grader")


@each_challenge
def test_the_faults_are_there_at_the_start_but_where_nothing_is_to_change(folder: Path) -> None:
    document = challenge(folder.name)
    failing = [test for test in document["tests"] if test["fails_at_start"]]
    assert bool(failing) is not document["no_change_expected"]


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.stem)
def test_a_change_of_the_tree_is_a_change_from_what_the_archive_holds(bundle: Path) -> None:
    """The diff's old side is the starting tree: every line that it takes away stands there."""
    tree = next(path for path in CHALLENGES if path.name == manifest(bundle)["challenge"]) / "tree"
    path = ""
    for line in files(bundle)["diff.patch"].splitlines():
        if line.startswith("--- "):
            path = line.removeprefix("--- a/")
        elif line.startswith("-"):
            assert line[1:] in (tree / path).read_text().splitlines(), line
