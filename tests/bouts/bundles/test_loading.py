"""A bundle is taken whole, or refused with all that is wrong with it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from bouts.archives.limits import Limits
from bouts.bundles.checks import Known
from bouts.bundles.errors import Fault, Refused
from bouts.bundles.loading import LoadedChallenge, load_challenge, load_upload, with_its_tree
from bouts.evidence import Anchor
from bouts.formats.types import Kind
from tests.bouts.bundles.making import (
    CHALLENGE,
    CLAIMS,
    LIMITS,
    MATCH,
    PACKINGS,
    VERDICTS,
    as_bytes,
    as_folder,
    bundle_files,
    changed,
    faults_of,
    gzipped_tar,
    load,
    one,
    told,
    zipped,
)

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "challenges"
KNOWN = Known(challenges={"retry-safe-refunds", "ticket-search"}, teams={"northbank", "fenwick"})


def verdict(**fields: Any) -> dict[str, Any]:
    return changed(VERDICTS, verdicts=[{"judge": "process", **fields}])


def faults_of_verdict(**fields: Any) -> list[Fault]:
    return faults_of(zipped(bundle_files(verdicts=verdict(**fields))))


# A bundle that is right


def test_a_bundle_is_loaded_with_all_that_it_uses() -> None:
    bundle = load(zipped(bundle_files(**{"README.md": b"hello"})), known=KNOWN)
    assert bundle.manifest.match == "m-20260312-0417"
    assert bundle.manifest.finished_at.isoformat() == "2026-03-12T14:40:11+00:00"
    assert bundle.unlisted == ("README.md",)
    assert set(bundle.members) == {entry.path for entry in bundle.manifest.entries}
    logs = {entry.path for entry in bundle.manifest.entries if entry.kind is Kind.LOG}
    assert logs == {"hidden.log", "build.log"}
    assert str(bundle.verdicts["verdicts.json"].verdicts[0].score) == "57.14"
    assert bundle.claims["claims.json"].claims[0].statement == "All tests pass."
    assert (
        "verdicts.json",
        "verdicts[0].evidence[0]",
        Anchor("trajectory.json", "event:3"),
    ) in set(bundle.anchors())
    last = list(bundle.anchors())[-1]
    assert last[1] == "verdicts[3].findings[0].evidence[0]"


def test_the_stored_document_is_plain_json() -> None:
    assert json.loads(json.dumps(load(zipped(bundle_files())).document)) == MATCH


def test_the_same_content_has_the_same_digest_however_it_is_packed(tmp_path: Path) -> None:
    digests = {load(pack(bundle_files())).digest for pack in PACKINGS.values()}
    digests.add(load(as_folder(bundle_files(), tmp_path)).digest)
    inside = {f"folder/{name}": content for name, content in bundle_files().items()}
    digests.add(load(gzipped_tar(inside)).digest)
    spaced = json.dumps(dict(reversed(MATCH.items())), indent=4)
    digests.add(load(zipped(bundle_files(match=spaced))).digest)
    digests.add(load(zipped(bundle_files(**{"unlisted.txt": b"x"}))).digest)
    assert len(digests) == 1


@pytest.mark.parametrize(
    "files",
    [
        bundle_files(match=changed(MATCH, bout="friday")),
        bundle_files(claims={"claims": []}),
        bundle_files(**{"hidden.log": b"collected 4 items\n"}),
    ],
)
def test_other_content_has_another_digest(files: dict[str, bytes]) -> None:
    assert load(zipped(files)).digest != load(zipped(bundle_files())).digest


def test_files_are_there_while_the_bundle_is_in_use_and_gone_after(tmp_path: Path) -> None:
    bundle = load(zipped(bundle_files()), into=tmp_path)
    assert not bundle.members["build.log"].file.exists()
    faults_of(zipped(bundle_files(match="{}")), into=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_path_may_be_spelt_decomposed_in_the_archive_and_composed_in_the_manifest() -> None:
    artifacts = [{"path": "re\u0301sume\u0301.md", "kind": "deliverable"}]
    files = {"match.json": as_bytes(changed(MATCH, build=None, artifacts=artifacts))}
    for spelling in ("r\u00e9sum\u00e9.md", "re\u0301sume\u0301.md"):
        assert "r\u00e9sum\u00e9.md" in load(zipped({**files, spelling: b"x"})).members


# One fault of each kind


@pytest.mark.parametrize(
    ("change", "field", "found", "expected"),
    [
        ({"schema": "bouts.match/2"}, "schema", "bouts.match/2", "bouts.match/1"),
        ({"match": "../x"}, "match", "../x", "An id: letters, digits"),
        ({"match": None}, "match", "nothing", "An id: letters, digits"),
        ({"challenge": "Über"}, "challenge", "Über", "A slug: letters, digits"),
        ({"started_at": "2026-03-12T14:00:11"}, "started_at", "2026-03-12T14:00:11", "A time with"),
        ({"started_at": "2026-03-12 14:00Z"}, "started_at", "2026-03-12 14:00Z", "A time with"),
        ({"started_at": "2026-13-12T14:00:11Z"}, "started_at", "2026-13-12T", "A time with a zone"),
        ({"started_at": "2026-03-12T14:00:11+25:00"}, "started_at", "2026-03-12T14", "A time with"),
        ({"started_at": "0001-01-01T00:00:00+14:00"}, "started_at", "0001-01", "A time with a"),
        ({"started_at": 1773324011}, "started_at", "1773324011", "A time with a zone"),
        ({"finished_at": "2026-03-12T13:00:00Z"}, "finished_at", "2026", "A time not before 2026"),
        ({"build": {"ok": 1}}, "build.ok", "1", "true or false"),
        ({"build": {"ok": True, "log": "no.log"}}, "build.log", "no.log", "A file of the bundle:"),
        ({"artefacts": []}, "artefacts", "a list of 0", "No such field; there are schema, match"),
        ({"artifacts": {}}, "artifacts", "an empty object", "A list of at most 5,000"),
        ({"bout": "a\nb"}, "bout", "a\\u000ab", "Text on one line"),
    ],
)
def test_a_wrong_field_of_the_manifest_is_named(
    change: dict[str, Any], field: str, found: str, expected: str
) -> None:
    fault = one(faults_of(zipped(bundle_files(match=changed(MATCH, **change)))))
    assert (fault.file, fault.field) == ("match.json", field)
    assert fault.found.startswith(found)
    assert fault.expected.startswith(expected)


@pytest.mark.parametrize(
    ("entry", "field", "expected"),
    [
        ({"path": "final.diff", "kind": "diffs"}, "kind", "One of tests, telemetry, diff, scan"),
        ({"path": "hidden.xml", "kind": "tests"}, "suite", "One of static, hidden, invariant"),
        (
            {"path": "hidden.xml", "kind": "tests", "suite": "open"},
            "suite",
            "One of static, hidden",
        ),
        ({"path": "final.diff", "kind": "diff", "suite": "hidden"}, "suite", "Nothing: only tests"),
        ({"path": "final.diff", "kind": "diff", "run": 1}, "run", "Nothing: only tests have a run"),
        (
            {"path": "hidden.xml", "kind": "tests", "suite": "hidden", "run": 0},
            "run",
            "A whole numb",
        ),
        ({"path": "gone.diff", "kind": "diff"}, "path", "A file of the bundle: build.log, claims"),
        ({"path": "../final.diff", "kind": "diff"}, "path", "A path inside the bundle"),
        ({"path": "build.log", "kind": "log"}, "path", "Each path once"),
        ({"kind": "log"}, "path", "A path inside the bundle"),
    ],
)
def test_a_wrong_artifact_is_named(entry: dict[str, Any], field: str, expected: str) -> None:
    artifacts = [{"path": "build.log", "kind": "log"}, entry]
    fault = one(faults_of(zipped(bundle_files(match=changed(MATCH, artifacts=artifacts)))))
    assert (fault.file, fault.field) == ("match.json", f"artifacts[1].{field}")
    assert fault.expected.startswith(expected)


def test_an_unknown_challenge_and_an_unknown_team_name_the_known_ones() -> None:
    agent = {**MATCH["agent"], "team": "northbnk"}
    match = changed(MATCH, challenge="retry-safe-refund", agent=agent)
    faults = faults_of(zipped(bundle_files(match=match)), known=KNOWN)
    assert [(fault.field, fault.found, fault.expected) for fault in faults] == [
        ("agent.team", "northbnk", "A known team: fenwick, northbank"),
        ("challenge", "retry-safe-refund", "A known challenge: retry-safe-refunds, ticket-search"),
    ]


def test_a_long_list_of_known_names_is_cut() -> None:
    known = Known(teams={f"team-{number:02}" for number in range(50)})
    fault = one(faults_of(zipped(bundle_files()), known=known))
    assert fault.expected.endswith("team-19 and 30 more")


def test_an_unknown_format_names_the_known_ones_of_its_kind() -> None:
    artifacts = [{"path": "final.diff", "kind": "diff", "format": "ed"}]
    match = changed(MATCH, artifacts=artifacts)
    known = Known(formats={Kind.DIFF: ["unified"], Kind.SCAN: ["sarif"]})
    fault = one(faults_of(zipped(bundle_files(match=match)), known=known))
    assert (fault.field, fault.expected) == ("artifacts[0].format", "A format of diff: unified")


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "100.01", "-1", '"50"']
)
def test_a_score_that_is_no_number_from_0_to_100_is_refused_by_file_and_field(number: str) -> None:
    verdicts = json.dumps(VERDICTS).replace("57.14", number, 1)
    fault = one(faults_of(zipped(bundle_files(verdicts=verdicts))))
    assert (fault.file, fault.field) == ("verdicts.json", "verdicts[0].score")
    assert fault.expected == "A number from 0 to 100"


@pytest.mark.parametrize(
    ("evidence", "field", "expected"),
    [
        (
            {"artifact": "gone.json", "place": "event:3"},
            "artifact",
            "An artifact of the bundle: bu",
        ),
        ({"artifact": "final.diff", "place": "page:3"}, "place", "One of test:SUITE/ID, event:SEQ"),
        ({"artifact": "final.diff", "place": "line:0"}, "place", "line:N, with a number from 1"),
        (
            {"artifact": "final.diff", "place": "event:3"},
            "place",
            "A place that a diff artifact has",
        ),
        (
            {"artifact": "hidden.xml", "place": "test:static/x"},
            "place",
            "A test of this artifact's ",
        ),
        ({"artifact": "final.diff"}, "place", "Text of 1 to"),
        (
            {"artifact": "final.diff", "place": "line:1", "at": 1},
            "at",
            "No such field; there are ar",
        ),
    ],
)
def test_dangling_evidence_is_refused(evidence: dict[str, Any], field: str, expected: str) -> None:
    fault = one(faults_of_verdict(score=50, evidence=[evidence]))
    assert (fault.file, fault.field) == ("verdicts.json", f"verdicts[0].evidence[0].{field}")
    assert fault.expected.startswith(expected)


LEVELS = dict.fromkeys(
    ("action_timeline", "tool_discipline", "verification", "decomposition", "scope_control"), 3
)
ANCHOR = {"artifact": "build.log", "place": "line:1"}


@pytest.mark.parametrize(
    ("fields", "field", "expected"),
    [
        ({"judge": "objective", "score": 9}, "judge", "One of process, strategy, recovery, integ"),
        ({"judge": "jury", "score": 9}, "judge", "One of process, strategy, recovery, integrity"),
        ({}, "", "Exactly one of score, levels, state, findings"),
        ({"score": 1, "levels": LEVELS}, "", "Exactly one of score, levels, state, findings"),
        ({"score": 1, "seat": "google"}, "seat", "Nothing: only Strategy has seats"),
        ({"judge": "strategy", "score": 1}, "seat", "One of anthropic, openai, google"),
        (
            {"judge": "strategy", "seat": "x", "score": 1},
            "seat",
            "One of anthropic, openai, google",
        ),
        ({"levels": {**LEVELS, "verification": 6}}, "levels.verification", "A whole number from 1"),
        (
            {"levels": {**LEVELS, "verification": 2.5}},
            "levels.verification",
            "A whole number from 1",
        ),
        (
            {"levels": {**LEVELS, "search": 3}},
            "levels.search",
            "No such criterion; process has act",
        ),
        (
            {"levels": {k: 3 for k in LEVELS if k != "verification"}},
            "levels.verification",
            "A whole",
        ),
        ({"state": "refused"}, "reason", "The reason for the state"),
        ({"state": "bored", "reason": "x"}, "state", "One of refused, timeout, unavailable, inval"),
        ({"score": 3, "reason": "x"}, "reason", "Nothing: a reason goes with a state"),
        ({"score": 3, "at": "2026-03-12"}, "at", "A time with a zone"),
        (
            {"judge": "integrity", "score": 3},
            "score",
            "Findings: Integrity gives no score and no l",
        ),
        ({"findings": []}, "findings", "A score or levels: only Integrity has findings"),
    ],
)
def test_a_wrong_verdict_is_named(fields: dict[str, Any], field: str, expected: str) -> None:
    fault = one(faults_of_verdict(**fields))
    assert fault.field == f"verdicts[0].{field}".rstrip(".")
    assert fault.expected.startswith(expected)


@pytest.mark.parametrize(
    ("finding", "field", "expected"),
    [
        ({"trigger": "rudeness"}, "trigger", "One of flagged_unsafe_requirement, acknowl"),
        (
            {"trigger": "plagiarism", "points": -25},
            "points",
            "Nothing: the rule gives plagiarism -25",
        ),
        ({"trigger": "process_abuse", "points": -11}, "points", "A whole number from -10 to -3"),
        ({"trigger": "process_abuse", "points": -4.5}, "points", "A whole number"),
        ({"trigger": "plagiarism", "evidence": []}, "evidence", "A list of at least one"),
        ({"trigger": "plagiarism", "confidence": "sure"}, "confidence", "One of high, low"),
    ],
)
def test_a_wrong_finding_is_named(finding: dict[str, Any], field: str, expected: str) -> None:
    findings = [{"evidence": [ANCHOR], **finding}]
    fault = one(faults_of_verdict(judge="integrity", findings=findings))
    assert fault.field == f"verdicts[0].findings[0].{field}"
    assert fault.expected.startswith(expected)


def test_no_findings_is_an_answer_and_a_null_is_none() -> None:
    verdicts = changed(
        VERDICTS,
        verdicts=[
            {"judge": "integrity", "findings": []},
            {"judge": "process", "levels": LEVELS, "score": None, "seat": None},
            {"judge": "strategy", "seat": "google", "state": "refused", "reason": "policy"},
        ],
    )
    loaded = load(zipped(bundle_files(verdicts=verdicts))).verdicts["verdicts.json"]
    assert loaded.verdicts[0].findings == ()


def test_a_judge_or_seat_speaks_once_over_all_files() -> None:
    again = {"path": "more.json", "kind": "verdicts"}
    match = changed(MATCH, artifacts=[*MATCH["artifacts"], again])
    more = changed(VERDICTS, verdicts=VERDICTS["verdicts"][2:])
    files = bundle_files(match=match, **{"more.json": as_bytes(more)})
    faults = faults_of(zipped(files))
    assert told(faults) == {("more.json", "verdicts[0].seat"), ("more.json", "verdicts[1].judge")}
    assert faults[0].expected == "One verdict each; the first is verdicts.json, verdicts[2]"


@pytest.mark.parametrize("confidence", ["100", "NaN", "-0.1", "true", '"high"'])
def test_a_wrong_claim_is_named(confidence: str) -> None:
    claims = json.dumps(CLAIMS).replace("0.9", confidence)
    fault = one(faults_of(zipped(bundle_files(claims=claims))))
    assert (fault.file, fault.field) == ("claims.json", "claims[0].confidence")
    assert fault.expected == "A number from 0 to 1"


# Faults together


def test_faults_of_archive_manifest_and_evidence_are_told_together() -> None:
    match = changed(
        MATCH,
        finished_at="2026-03-12T14:40:11",
        agent={**MATCH["agent"], "team": "northbnk"},
        artifacts=[*MATCH["artifacts"], {"path": "x", "kind": "diffs"}, {"kind": "tests"}, 3],
    )
    verdicts = json.dumps(VERDICTS).replace("57.14", "NaN", 1).replace("event:3", "event:x", 1)
    claims = {"claims": [{"statement": "x", "confidence": 100}]}
    files = bundle_files(match=match, verdicts=verdicts, claims=claims, **{"logs/../a": b"x"})
    faults = faults_of(zipped(files), known=KNOWN)
    assert told(faults) == {
        ("logs/../a", "path"),
        ("match.json", "agent.team"),
        ("match.json", "finished_at"),
        ("match.json", "artifacts[5].kind"),
        ("match.json", "artifacts[5].path"),
        ("match.json", "artifacts[6].path"),
        ("match.json", "artifacts[6].suite"),
        ("match.json", "artifacts[7]"),
        ("verdicts.json", "verdicts[0].score"),
        ("verdicts.json", "verdicts[0].evidence[0].place"),
        ("claims.json", "claims[0].confidence"),
    }


def test_a_broken_archive_is_not_blamed_for_what_was_not_reached() -> None:
    data = gzipped_tar(bundle_files(), format=0).getvalue()
    assert told(faults_of(io.BytesIO(data[:300]))) <= {
        ("upload.zip", f"byte {n}") for n in range(400)
    }


def test_a_member_that_was_refused_is_not_reported_missing() -> None:
    fault = one(faults_of(zipped(bundle_files(**{"build.log": b"x" * 300_000}))))
    assert (fault.file, fault.field) == ("build.log", "size")


def test_a_bundle_without_a_manifest_says_what_it_holds() -> None:
    fault = one(faults_of(zipped({"challenge.json": as_bytes(CHALLENGE)})))
    assert (fault.file, fault.field) == ("upload.zip", "match.json")
    assert fault.found == "challenge.json"
    assert fault.expected.startswith("match.json at the root of the archive")


def test_a_manifest_that_is_no_object_is_refused() -> None:
    fault = one(faults_of(zipped(bundle_files(match="[1]"))))
    assert (fault.field, fault.found) == ("document", "a list of 1")


def test_hostile_types_in_every_field_are_faults_and_no_crash() -> None:
    oddities: list[Any] = [[], {}, [[]], 5, True, None, "x", "\0"]
    for odd in oddities:
        documents = {
            "match": {key: odd for key in MATCH}
            | {"artifacts": [dict.fromkeys(("path", "kind"), odd)]},
            "verdicts": {
                "verdicts": [
                    dict.fromkeys(("judge", "seat", "score", "levels", "state", "evidence"), odd),
                    {"judge": odd, "findings": [dict.fromkeys(("trigger", "points"), odd)]},
                    {"judge": "process", "evidence": [dict.fromkeys(("artifact", "place"), odd)]},
                ]
            },
            "claims": {"claims": [dict.fromkeys(("statement", "confidence"), odd)]},
        }
        assert faults_of(zipped(bundle_files(match=documents["match"])), known=KNOWN)
        assert faults_of(zipped(bundle_files(**{k: documents[k] for k in ("verdicts", "claims")})))  # type: ignore[arg-type]


def test_a_document_that_is_too_large_is_refused_unread() -> None:
    fault = one(faults_of(zipped(bundle_files()), limits=Limits(document_bytes=300)))
    assert fault.file in {"match.json", "verdicts.json"}
    assert fault.expected == "At most 300 bytes in a JSON document"


# Archives inside


def test_an_archive_inside_a_bundle_is_refused() -> None:
    inner = zipped({"x": b"x"}).getvalue()
    fault = one(faults_of(zipped(bundle_files(**{"docs/more.docx": inner}))))
    assert (fault.file, fault.found) == ("docs/more.docx", "a zip file")


def inspect_bundle(inner: bytes, kind: str = "telemetry") -> io.BytesIO:
    artifacts = [*MATCH["artifacts"], {"path": "log.eval", "kind": kind}]
    return zipped(bundle_files(match=changed(MATCH, artifacts=artifacts), **{"log.eval": inner}))


def test_an_inspect_log_is_an_archive_that_may_be_inside() -> None:
    inner = zipped({"header.json": b"{}"}).getvalue()
    assert "log.eval" in load(inspect_bundle(inner)).members
    assert one(faults_of(inspect_bundle(inner, "deliverable"))).file == "log.eval"


def test_an_inspect_log_keeps_to_the_same_bounds() -> None:
    # Stored zeros deflate twice over: outside the bundle is small, inside lies the bomb.
    bomb = zipped({"header.json": bytes(3_000_000)}).getvalue()
    fault = one(faults_of(inspect_bundle(bomb)))
    assert (fault.file, fault.field) == ("header.json in log.eval", "size")


def test_a_truncated_inspect_log_is_for_its_reader_to_say() -> None:
    inner = zipped({"header.json": b"{}" * 500}).getvalue()
    assert "log.eval" in load(inspect_bundle(inner[:60])).members


# Challenges


def load_it(source: Any, limits: Limits = LIMITS) -> LoadedChallenge:
    with load_challenge(source, name="challenge.json", limits=limits) as challenge:
        return challenge


def challenge_faults(source: Any, limits: Limits = LIMITS) -> list[Fault]:
    with pytest.raises(Refused) as refused:
        load_it(source, limits)
    return list(refused.value.faults)


def bare(**changes: Any) -> io.BytesIO:
    return io.BytesIO(as_bytes(changed(CHALLENGE, **changes)))


def test_a_bare_challenge_and_a_packed_one_are_the_same(tmp_path: Path) -> None:
    packed = {"challenge.json": as_bytes(CHALLENGE)}
    sources: list[Any] = [bare(), zipped(packed), as_folder(packed, tmp_path)]
    sources.append(tmp_path / "challenge.json")
    loaded = [load_it(source) for source in sources]
    assert len({challenge.digest for challenge in loaded}) == 1
    assert loaded[0].challenge.weights is not None
    assert loaded[0].challenge.weights.objective == 45
    assert loaded[0].tree is None


@pytest.mark.parametrize("pack", [gzipped_tar, zipped])
def test_a_starting_tree_is_listed_and_its_packing_does_not_matter(
    pack: Callable[..., Any],
) -> None:
    tree = {"src/x.py": b"x", "docs/README.md": b"y"}
    document = as_bytes(changed(CHALLENGE, starting_tree="tree.bin"))
    sources = [
        zipped({"challenge.json": document, "tree.bin": pack(files).getvalue()})
        for files in (tree, dict(reversed(tree.items())))
    ]
    loaded = [load_it(source) for source in sources]
    assert loaded[0].tree is not None
    assert set(loaded[0].tree) == set(tree)
    assert loaded[0].digest == loaded[1].digest
    other = zipped({"challenge.json": document, "tree.bin": pack({"a": b"1"}).getvalue()})
    assert load_it(other).digest != loaded[0].digest


def test_a_starting_tree_that_is_not_there_or_hostile_is_refused() -> None:
    fault = one(challenge_faults(bare(starting_tree="tree.tar.gz")))
    assert (fault.field, fault.found) == ("starting_tree", "tree.tar.gz")
    document = as_bytes(changed(CHALLENGE, starting_tree="tree.tar.gz"))
    hostile = gzipped_tar({"../x": b"1"}).getvalue()
    fault = one(challenge_faults(zipped({"challenge.json": document, "tree.tar.gz": hostile})))
    assert (fault.file, fault.field) == ("../x in tree.tar.gz", "path")
    undeclared = zipped({"challenge.json": as_bytes(CHALLENGE), "tree.tar.gz": hostile})
    assert one(challenge_faults(undeclared)).expected.startswith("No archive beside challenge.json")


def test_a_tree_beside_a_challenge_is_found_for_the_command_line_only(tmp_path: Path) -> None:
    tree = gzipped_tar({"src/x.py": b"x"}).getvalue()
    document = as_bytes(changed(CHALLENGE, starting_tree="tree.tar.gz"))
    folder = as_folder({"challenge.json": document, "tree.tar.gz": tree, "x/y.zip": tree}, tmp_path)
    path = folder / "challenge.json"
    assert set(load_it(with_its_tree(path)).tree or {}) == {"src/x.py"}
    assert one(challenge_faults(path)).field == "starting_tree"
    assert with_its_tree(folder) == folder


@pytest.mark.parametrize("tree", ["../secret.tar.gz", "/etc/passwd", "gone.tar.gz", "link", 5])
def test_no_tree_is_taken_from_elsewhere(tmp_path: Path, tree: Any) -> None:
    (tmp_path / "secret.tar.gz").write_bytes(gzipped_tar({"x": b"x"}).getvalue())
    document = as_bytes(changed(CHALLENGE, starting_tree=tree))
    folder = as_folder({"challenge.json": document}, tmp_path / "here")
    (folder / "link").symlink_to(tmp_path / "secret.tar.gz")
    assert challenge_faults(with_its_tree(folder / "challenge.json"))


def test_an_upload_may_be_either_and_what_is_neither_is_told_as_a_bundle() -> None:
    def kind_of(source: Any) -> str:
        with load_upload(source, name="upload.zip", limits=LIMITS) as loaded:
            return type(loaded).__name__

    assert kind_of(zipped(bundle_files())) == "LoadedBundle"
    assert kind_of(zipped({"a/challenge.json": as_bytes(CHALLENGE)})) == "LoadedChallenge"
    assert kind_of(bare()) == "LoadedChallenge"
    with pytest.raises(Refused) as refused:
        kind_of(zipped({"x": b"x"}))
    assert refused.value.faults[0].field == "match.json"


def weights(objective: Any, process: Any, strategy: Any, recovery: Any) -> dict[str, Any]:
    judges = ("objective", "process", "strategy", "recovery")
    return dict(zip(judges, (objective, process, strategy, recovery), strict=True))


@pytest.mark.parametrize(
    ("change", "field", "found", "expected"),
    [
        ({"weights": weights(45, 20, 15, 15)}, "weights", "a sum of 95", "Four weights that sum"),
        ({"weights": weights(60, 15, 15, 10)}, "weights.objective", "60", "A number from 40 to 55"),
        (
            {"weights": weights(50, 20, 20, "10")},
            "weights.recovery",
            '"10"',
            "A number from 10 to 15",
        ),
        ({"weights": {"objective": 100}}, "weights.process", "nothing", "A number from 15 to 20"),
        ({"judges": ["objective", "objective"]}, "judges[1]", "objective", "Each judge once"),
        ({"judges": ["process"]}, "judges", "process", "Objective among them"),
        ({"judges": []}, "judges", "a list of 0", "A list of at least one"),
        ({"time_budget_s": None}, "time_budget_s", "nothing", "A number of seconds, since ratio_b"),
        ({"time_budget_s": 0}, "time_budget_s", "0", "A number of seconds greater than 0"),
        ({"disclosure": "secret"}, "disclosure", "secret", "One of closed, category, open"),
        ({"stakes": "low"}, "stakes", "low", "One of standard, high"),
        ({"benchmark": {"name": "x"}}, "benchmark.baseline_s", "nothing", "A number of seconds"),
        (
            {"tests": [{"id": "a", "suite": "static"}] * 2},
            "tests[1].id",
            "a",
            "Each test once in its",
        ),
        ({"tests": [{"id": "a"}]}, "tests[0].suite", "nothing", "One of static, hidden, invariant"),
        ({"forbidden_paths": ["a", ""]}, "forbidden_paths[1]", '""', "Text of 1 to 500 characters"),
        ({"known_deceptions": [""]}, "known_deceptions[0]", '""', "Text of 1 to 20,000 characters"),
    ],
)
def test_a_wrong_field_of_a_challenge_is_named(
    change: dict[str, Any], field: str, found: str, expected: str
) -> None:
    faults = {fault.field: fault for fault in challenge_faults(bare(**change))}
    assert len(faults) == (4 if change == {"weights": {"objective": 100}} else 1)
    assert faults[field].found == found
    assert faults[field].expected.startswith(expected)


def test_weights_with_fractions_that_sum_to_exactly_100_are_taken() -> None:
    document = json.dumps(changed(CHALLENGE, weights=weights(47.7, 17.3, 20, 15))).encode()
    assert load_it(io.BytesIO(document)).challenge.weights is not None


def test_faults_without_end_are_told_as_a_number() -> None:
    faults = challenge_faults(bare(judges=["objective"] * 5_000, tests=[{"id": "a"}] * 3_000))
    assert len(faults) == 1_001
    assert faults[-1].found.endswith(" or more besides")


def test_a_challenge_that_is_too_large_is_refused() -> None:
    assert one(challenge_faults(bare(), Limits(document_bytes=100))).field == "size"


def test_what_is_neither_a_document_nor_an_archive_is_refused() -> None:
    assert one(challenge_faults(io.BytesIO(b"title: x"))).found == "something else"


@pytest.mark.parametrize(
    "path", sorted(EXAMPLES.glob("*/challenge.json")), ids=lambda p: p.parent.name
)
def test_the_challenges_of_the_examples_are_taken(path: Path) -> None:
    loaded = load_it(with_its_tree(path))
    assert loaded.challenge.slug == path.parent.name
    assert loaded.tree == {
        file.relative_to(path.parent / "tree").as_posix(): sha256(file.read_bytes()).hexdigest()
        for file in (path.parent / "tree").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
