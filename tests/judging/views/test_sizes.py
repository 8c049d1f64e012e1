"""No answer grows with what was uploaded: each page of a large match or challenge is a page.

Every address of this app and its API is read here, or named with the reason why it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import resolve

from bouts.actions import uploads
from bouts.models import Artifact, Bundle, Upload, User
from judging import api_urls, urls
from judging.models import Rejudging
from tests.judging.rejudging.making import preview, propose
from tests.judging.views.making import many_tests, rich, sarif, scanned, step, trajectory
from tests.matches import found

pytestmark = pytest.mark.timeout(400)

MOST = 300_000  # bytes of an answer, uncompressed
# One document by contract (DESIGN.md, "A breakdown as JSON"): it holds a line for each test of
# the challenge and for each finding, and nothing of a trace, a diff or a log.
DOCUMENTS = {"breakdown": 1_000_000}
ELSEWHERE = {
    "evidence": "it leads to the first tab",
    "call_detail": "what a model is shown is bounded: tests/judging/panel/test_prompts.py",
    "upload_faults": "faults end somewhere: tests/bouts/bundles/test_documents.py",
    "upload_retry": "it takes a form alone",
    "step_requeue": "it takes a form alone",
    "rejudging_anew": "it takes a form alone",
    "rejudging_apply": "it takes a form alone",
    "rejudging_drop": "it takes a form alone",
}
TABS = ("tests", "timeline", "diff", "logs", "deliverables", "sandbox", "scan", "files")


@pytest.fixture
def large(db: None, tmp_path: Path) -> Bundle:
    """A match of some megabytes, with thousands of each thing."""
    listed, results = many_tests(1_500)
    rich(tmp_path / "beside", match="m-2", challenge={"tests": listed})
    steps = [
        step(number, f"Step {number}. " + "words " * 40, f"python run.py {number}", "out " * 300)
        for number in range(1, 1_201)
    ]
    diff = "".join(
        f"diff --git a/f{name}.py b/f{name}.py\nnew file mode 100644\n--- /dev/null\n"
        f"+++ b/f{name}.py\n@@ -0,0 +1,100 @@\n"
        + "".join(f"+value_{line} = {name} * {line}\n" for line in range(100))
        for name in range(200)
    )
    sandbox = "".join(
        f'11 1796042165.{at:06} openat(AT_FDCWD, "/work/file{at}.py", O_RDONLY) = 3\n'
        for at in range(10_000)
    )
    scan = sarif(*(scanned(f"message {at} " * 20, f"f{at}.py") for at in range(1_500)))
    return rich(
        tmp_path / "large",
        static=[results, results],
        diff=diff,
        challenge={"tests": listed},
        verdicts=[],
        findings=[
            found("reward_hacking", "final.diff", f"diff:f{at}.py:3", note="note " * 40)
            for at in range(40)
        ],
        claims=[{"statement": f"Claim {at}. " + "so " * 40, "confidence": 0.5} for at in range(80)],
        files={
            "telemetry.json": ("telemetry", trajectory(steps)),
            "sandbox.log": ("sandbox", sandbox),
            "scan.sarif": ("scan", scan),
            "build.log": ("log", "".join(f"line {at} of a long log\n" for at in range(60_000))),
            "one-line.log": ("log", "x" * 2_000_000),
            "NOTES.md": ("deliverable", "Some **words** about it.\n\n" * 20_000),
        },
    )


def addresses(bundle: Bundle) -> Iterator[str]:
    page, slug = "/matches/m-1/", bundle.match.challenge.slug
    yield from ("/challenges/", f"/challenges/{slug}/", f"/challenges/{slug}/state/")
    yield from (
        "/matches/",
        "/matches.csv",
        "/search/?q=m-",
        "/compare/?m=m-1&m=m-2",
        "/compare.csv?m=m-1&m=m-2",
    )
    yield from (f"/agents/{bundle.match.agent_id}/", f"/agents/{bundle.match.agent_id}.csv")
    yield from (
        "/leaderboard/",
        "/leaderboard.csv",
        f"/leaderboard/{slug}/",
        f"/leaderboard/{slug}.csv",
    )
    yield from ("/work/", "/judges/", "/upload/", f"/upload/{Upload.objects.first().pk}/")
    for part in (
        "",
        "progress/",
        "revisions/1/",
        "likeness/",
        "exclusion/",
        "judge-again/",
        "calls/",
    ):
        yield f"{page}{part}"
    for tab in TABS:
        yield f"{page}evidence/{tab}/"
    for file in Artifact.objects.filter(bundle=bundle):
        address = f"{page}evidence/{file.blob_id}/"
        yield f"{address}raw/"
        for query in (
            "",
            "?find=a",
            "?at=line:500",
            "?at=lines:1-100000",
            "?at=json:",
            "?at=json:/steps",
        ):
            yield f"{address}{query}"
    yield from ("/api/matches/", "/api/challenges/", f"/api/challenges/{slug}/")
    yield from ("/api/leaderboard/", f"/api/leaderboard/{slug}/")
    for part in ("", "breakdown/", "revisions/"):
        yield f"/api{page}{part}"
    number = Rejudging.objects.get().pk
    yield from ("/rejudgings/", "/rejudgings/new/", "/api/rejudgings/")
    yield from (f"/rejudgings/{number}{part}" for part in ("/", ".csv", ".json"))
    yield from (f"/api/rejudgings/{number}/{part}" for part in ("", "matches/"))


def test_every_answer_is_bounded_or_sent_in_pieces(
    large: Bundle, operator: User, client_of: Callable[[User], Client]
) -> None:
    uploads.receive(SimpleUploadedFile("a.zip", b"no archive"), by=operator, is_check=False)
    preview(propose(operator, match="m-1"))
    client = client_of(operator)
    read: set[str] = set()
    too_large = []
    for address in addresses(large):
        answer = client.get(address)
        assert answer.status_code in {200, 404}, address
        name = resolve(address.partition("?")[0]).url_name or ""
        if answer.status_code == 200:
            read.add(name)
        pieces = answer.streaming_content if answer.streaming else [answer.content]
        weight = max((len(piece) for piece in pieces), default=0)
        # A file is not held: of what is sent in pieces each has to be small.
        if weight > DOCUMENTS.get(name, (2 << 20) if answer.streaming else MOST):
            too_large.append((weight, address))
    assert too_large == []
    known = {each.name for each in (*urls.urlpatterns, *api_urls.urlpatterns)}
    assert known - read == set(ELSEWHERE)
    # What is left out of a page is on the next one, and said.
    second = client.get("/challenges/refunds/?page=2").content.decode()
    assert "101 to 200 of" in second and second.count("tests.many::") == 100
