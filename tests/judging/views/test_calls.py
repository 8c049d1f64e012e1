"""Who sees what of the models: the card, the calls behind it, the work and how the seats do."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from bouts import blobs
from bouts.models import AuditEntry, Bundle, Challenge, User
from judging import steps
from judging.models import CallAttempt, ModelCall, Scorecard
from judging.showing.inert import inert
from tests.judging import asking
from tests.matches import panel
from tests.vendors import replies
from tests.vendors.server import VendorServer

pytestmark = pytest.mark.django_db

ClientOf = Callable[[User], Client]
HOSTILE = "<script>alert(1)</script>\u202e levels are high"


@pytest.fixture
def seated(
    settings: Settings, vendor_server: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> VendorServer:
    settings.SEATS = asking.seats(vendor_server)
    asking.hurry(monkeypatch)
    return vendor_server


@pytest.fixture
def asked(seated: VendorServer, tmp_path: Path) -> Bundle:
    seated.play("openai", replies.good(4, rationale=HOSTILE, summary=HOSTILE))
    seated.play("google", replies.refusal)
    bundle = asking.store(tmp_path)
    steps.run_steps(bundle)
    return bundle


@pytest.fixture
def ops(operator: User, client_of: ClientOf) -> Client:
    return client_of(operator)


def page(client: Client, address: str = "/matches/m-1/") -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def test_ops_are_told_which_seats_no_budget_holds_back(
    seated: VendorServer, settings: Settings, ops: Client
) -> None:
    assert "No budget holds" not in page(ops, "/judges/")
    settings.SEATS = asking.seats(seated, openai={"price": ""}, google={"price": "0/0"})
    for address in ("/judges/", "/work/"):
        assert "No budget holds openai back." in page(ops, address)


def test_the_card_shows_levels_with_their_anchors_and_what_rests_on_what(
    asked: Bundle, competitor: User, client_of: ClientOf
) -> None:
    text = page(client_of(competitor))
    assert "What the levels mean" in text
    assert "Each step ends with a test run." in text
    assert "2 votes of 3." in text
    assert "claude-test-1" in text and "gpt-test-2026-01-01" in text  # no case is open
    assert "<script>alert(1)" not in text and "levels are high" in text
    assert "/calls/" not in text


def test_only_staff_read_what_was_asked_and_answered(
    asked: Bundle, ops: Client, competitor: User, rival: User, reviewer: User, client_of: ClientOf
) -> None:
    call = ModelCall.objects.get(judge="strategy", seat="openai")
    addresses = ("/matches/m-1/calls/", call.get_absolute_url())
    for user in (competitor, rival):
        for address in addresses:
            assert client_of(user).get(address).status_code == 404
    for address in addresses:
        assert Client().get(address).status_code == 302
        assert ops.get(f"{address}?as=team").status_code == 404
        assert client_of(reviewer).get(address).status_code == 200  # no case is open
    assert call.get_absolute_url() in page(ops)
    text = page(ops, call.get_absolute_url())
    for shown in (call.prompt_id, call.evidence_id, call.rubric_digest, "gpt-test-2026-01-01",
                  "$0.03", "1200, 300", asking.PLAN.split("\n")[2], "levels are high"):  # fmt: skip
        assert shown in text
    assert "<script>alert" not in text
    assert "key-of-openai" not in text


def test_while_the_panel_is_in_question_its_reviewer_sees_no_call(
    seated: VendorServer, tmp_path: Path, reviewer: User, competitor: User, client_of: ClientOf
) -> None:
    for name, level in (("anthropic", 1), ("openai", 3), ("google", 5)):
        seated.play(name, replies.good(level, rationale=f"I am {asking.MODELS[name]}."))
    bundle = asking.store(tmp_path)
    steps.run_steps(bundle)
    assert Scorecard.objects.live().get(bundle=bundle).status == "provisional"
    call = ModelCall.objects.get(judge="strategy", seat="openai")
    for address in ("/matches/m-1/calls/", call.get_absolute_url()):
        assert client_of(reviewer).get(address).status_code == 404
    team = page(client_of(competitor))
    strategy = team[team.index("Panel disagrees") : team.index("Adjudication</h2>")]
    strategy = strategy[: strategy.index("Recovery")]
    assert "I am [withheld]" in strategy
    assert not any(model in strategy for model in asking.MODELS.values())


def test_the_order_of_steps_tells_the_team_no_seat(
    seated: VendorServer, settings: Settings, tmp_path: Path, ops: Client, competitor: User,
    client_of: ClientOf,
) -> None:  # fmt: skip
    bundle = asking.store(tmp_path)
    steps.work_on(bundle.pk)
    shown = set()
    for failed in asking.MODELS:
        seats = bundle.steps.filter(name="strategy").exclude(seat="")
        seats.update(state="done", finished_at=bundle.uploaded_at)
        seats.filter(seat=failed).update(state="held")
        text = page(client_of(competitor), "/matches/m-1/progress/")
        shown.add(
            text[text.index('<ol class="stages">') : text.index("</ol>", text.index("stages"))]
        )
        assert f"Strategy, {failed}" in page(ops, "/matches/m-1/progress/")
    assert len(shown) == 1


def test_a_response_that_is_too_deep_to_write_again_is_shown_as_it_came(
    asked: Bundle, ops: Client
) -> None:
    call = ModelCall.objects.get(judge="strategy", seat="openai")
    deep = blobs.put(b'{"a":' * 400 + b"1" + b"}" * 400)
    CallAttempt.objects.create(
        result=call.result,
        number=9,
        status=200,
        response=deep,
        is_whole=True,
        latency_ms=1,
        waited_ms=0,
    )
    assert "{&quot;a&quot;:" * 400 in page(ops, call.get_absolute_url())


def test_a_list_of_calls_asks_the_database_no_more_for_more_of_them(
    asked: Bundle, ops: Client, operator: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    def count() -> int:
        with django_assert_num_queries(5, exact=False):
            return page(ops, "/matches/m-1/calls/").count("<tr>")

    before = count()
    steps.judge_again(asked, by=operator, reason="more")
    steps.run_steps(asked)
    assert count() == before + 6


def test_over_budget_the_page_and_the_work_page_say_so(
    seated: VendorServer, settings: Settings, tmp_path: Path, ops: Client, competitor: User,
    client_of: ClientOf,
) -> None:  # fmt: skip
    settings.BUDGET_MATCH_USD = Decimal("0.01")
    steps.run_steps(asking.store(tmp_path))
    text = page(client_of(competitor))
    assert "A model is still to be asked" in text
    assert "The budget of the match is used up." in text
    assert "$0.01" not in text
    work = page(ops, "/work/")
    assert "Steps held back" in work
    assert "Spent $0.00 of $0.01" in work
    assert "Strategy, google" in work


def test_without_a_key_both_pages_say_that_judges_wait(
    tmp_path: Path, ops: Client, competitor: User, client_of: ClientOf
) -> None:
    steps.run_steps(asking.store(tmp_path))
    assert "No model is configured for this panel." in page(client_of(competitor))
    work = page(ops, "/work/")
    assert "No model is configured." in work and "waits for uploaded verdicts" in work
    assert "No model is configured." in page(ops, "/judges/")


def test_seats_of_one_vendor_are_refused_and_the_work_page_says_why(
    seated: VendorServer, settings: Settings, ops: Client
) -> None:
    settings.SEATS = asking.seats(seated, google={"model": "gpt-other"})
    assert "have one vendor, openai" in inert(page(ops, "/work/"))


def test_what_was_uploaded_beside_our_own_seats_is_shown_as_such(
    seated: VendorServer, tmp_path: Path, ops: Client
) -> None:
    steps.run_steps(asking.store(tmp_path, verdicts=panel(10, 15, 20)))
    text = page(ops)
    assert "Uploaded beside our own seats, and not counted: anthropic 10.00" in text


def test_ops_judge_again_with_a_reason(asked: Bundle, ops: Client, competitor: User, client_of: ClientOf) -> None:  # fmt: skip
    address = "/matches/m-1/judge-again/"
    assert address in page(ops)
    assert client_of(competitor).get(address).status_code == 403
    assert ops.post(address, {"reason": ""}).status_code == 422
    answer = ops.post(address, {"reason": "A model was withdrawn."}, follow=True)
    assert b"m-1 is being judged again." in answer.content
    assert AuditEntry.objects.get(action="judge_again").reason == "A model was withdrawn."
    steps.run_steps(asked)
    assert ModelCall.objects.filter(round=2).count() == 6
    Challenge.objects.update(state=Challenge.State.FROZEN)
    assert b"frozen" in ops.post(address, {"reason": "Once more."}).content


def test_the_health_of_each_seat_is_counted_from_its_calls(
    asked: Bundle, ops: Client, competitor: User, client_of: ClientOf
) -> None:
    assert client_of(competitor).get("/judges/").status_code == 403
    text = page(ops, "/judges/")
    row = text[text.index("Strategy, google") :]
    assert "refused 1" in row[: row.index("</tr>")]
    assert "template 2026.1, rubric 2026.1" in text
    # The retries of a call are requests; a refusal gave no verdict, and nobody paid for one.
    assert ">100.0%</td>" in row[: row.index("</tr>")] and ">n/a</td>" in row[: row.index("</tr>")]
    answered = text[text.index("Strategy, openai") :]
    assert ">0.0%</td>" in answered[: answered.index("</tr>")]
    assert text.count("Strategy, ") == 3
