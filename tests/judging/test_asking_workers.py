"""Real workers on the real queue ask real servers: all five judges, and a worker killed anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from bouts import serve
from bouts.models import Bundle
from judging import steps, tasks
from judging.models import ModelCall, Scorecard, Step, Verdict
from judging.replay import replay
from tests import live
from tests.judging import asking
from tests.judging.test_killed_workers import is_waited_for, nobody_writes
from tests.vendors import replies
from tests.vendors.server import VendorServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]

LEVELS = {"anthropic": 3, "openai": 4, "google": 4}
# (45·100 + 20·50 + 20·75 + 15·50) / 100: Objective, and the reader's level 3 where it reads.
TOTAL = Fraction(7750, 100)
PATIENCE_S = 120  # on a machine that is busy with other things


@contextmanager
def worker(vendors: VendorServer, *options: str) -> Iterator[Callable[[], None]]:
    """Run a worker whose leases are short, and give what kills it as a power cut would."""
    env = live.environment(
        BOUTS_STEP_LEASE_S="1", BOUTS_ASK_LEASE_S="1", **asking.environment(asking.seats(vendors))
    )
    log = live.logs() / "asking-worker.log"
    log.write_bytes(b"")
    command = ["celery", "--app", "bouts", "worker", *(options or ("--pool", "solo"))]
    command += ["--loglevel", "INFO", "--without-gossip", "--without-mingle"]
    with live.running(*command, log=log, env=env) as process:
        live.wait_until(lambda: " ready." in log.read_text(), "the worker", timeout_s=PATIENCE_S)
        yield lambda: live.kill(process)


@pytest.fixture
def vendors(
    vendor_server: VendorServer, settings: Settings, storage_of_workers: None
) -> VendorServer:
    settings.SEATS = asking.seats(vendor_server)
    settings.STEP_LEASE = settings.ASK_LEASE = timedelta(seconds=1)
    for name, level in LEVELS.items():
        vendor_server.play(name, replies.good(level))
    return vendor_server


@pytest.fixture
def storage_of_workers() -> Iterator[None]:
    """Empty the queue in the end: what killed workers had taken would come back to others."""
    yield
    live.empty_queues()


def is_judged(bundle: Bundle) -> bool:
    over = {Step.State.DONE}
    return set(bundle.steps.values_list("state", flat=True)) == over


def card_of(bundle: Bundle) -> Scorecard:
    return Scorecard.objects.live().get(bundle=bundle)


def once_each(bundle: Bundle) -> bool:
    """Whether no place has two verdicts: five judges, the panel's three seats, three readings."""
    places = Verdict.objects.filter(bundle=bundle).values_list("judge", "seat")
    return len(places) == len(set(places)) == 11


def test_three_matches_at_once_each_question_delivered_three_times(
    vendors: VendorServer, tmp_path: Path
) -> None:
    bundles = [asking.store(tmp_path / name, match=name) for name in ("m-1", "m-2", "m-3")]
    # Threads, as `make up` has them for this: the vendors' libraries are loaded once.
    with worker(vendors, "--pool", "threads", "--concurrency", "3"):
        for _ in range(3):
            for bundle in bundles:
                tasks.ring(bundle.pk)
                for step in bundle.steps.asks():
                    tasks.ring_for(step.pk)
        live.wait_until(lambda: all(map(is_judged, bundles)), "all three", timeout_s=PATIENCE_S)
    for bundle in bundles:
        assert card_of(bundle).value == TOTAL
        assert card_of(bundle).status == "final"
        assert once_each(bundle)
        assert replay(bundle.match).is_equal
    asked = Counter(ModelCall.objects.values_list("bundle", "judge", "seat"))
    assert len(asked) == 18 and set(asked.values()) == {1}
    assert len(vendors.asked()) == 18


def test_vendors_that_hang_hold_up_no_bundle(
    vendors: VendorServer, tmp_path: Path, settings: Settings
) -> None:
    for name in LEVELS:
        vendors.play(name, replies.hang)
    settings.OUTSIDE_QUEUE = "outside"
    env = live.environment(**asking.environment(asking.seats(vendors)))
    with ExitStack() as workers:
        for name, command in serve.workers().items():
            log = live.logs() / f"hanging-{name}.log"
            command = [word for word in command if word != "--beat"]
            workers.enter_context(live.running(*command, log=log, env=env))
        for name in ("m-1", "m-2"):
            tasks.ring(asking.store(tmp_path / name, match=name).pk)
        live.wait_until(
            lambda: len(vendors.asked()) >= serve.OUTSIDE_WORKERS, "every thread to hang",
            timeout_s=PATIENCE_S,
        )  # fmt: skip
        later = asking.store(tmp_path / "m-3", match="m-3")
        tasks.ring(later.pk)
        objective = later.steps.get(name=Step.Name.OBJECTIVE)
        live.wait_until(
            lambda: objective.refresh_from_db() or objective.state == Step.State.DONE,
            "Objective of a bundle that comes later", timeout_s=PATIENCE_S,
        )  # fmt: skip
    assert len(vendors.asked()) == serve.OUTSIDE_WORKERS
    assert set(later.steps.asks().values_list("state", flat=True)) == {Step.State.WAITING}


@pytest.mark.parametrize("stage", ["objective", "asking", "result", "verdict", "scorecard"])
def test_a_worker_killed_at_any_stage_changes_nothing(
    stage: str, vendors: VendorServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = asking.store(tmp_path)
    table = {
        "objective": "judging_verdict",
        "result": "judging_callresult",
        "verdict": "judging_verdict",
        "scorecard": "judging_scorecard",
    }.get(stage)
    if stage == "verdict":
        steps.work_on(bundle.pk)  # Objective is stored: the next verdict is a model's
    if stage == "asking":
        vendors.play("anthropic", replies.hang)
    with worker(vendors) as kill, nobody_writes(table) if table else nullcontext():
        tasks.ring(bundle.pk)
        for step in bundle.steps.asks():
            tasks.ring_for(step.pk)
        live.wait_until(
            lambda: is_waited_for(table) if table else vendors.asked("anthropic"),
            f"the stage {stage}",
            timeout_s=PATIENCE_S,
        )
        kill()
    assert not Scorecard.objects.exists()
    vendors.play("anthropic", replies.good(LEVELS["anthropic"]))
    # The next worker is this process, which has the vendors' libraries already: what is rung for
    # is done here. Of a next one that is a process of its own see `test_killed_workers`.
    monkeypatch.setattr(tasks, "_ring", lambda task, *arguments: task(*arguments))

    def is_through() -> bool:
        tasks.sweep()
        return is_judged(bundle)

    live.wait_until(is_through, "the end of the work", timeout_s=PATIENCE_S)
    assert card_of(bundle).value == TOTAL
    assert (card_of(bundle).number, card_of(bundle).status) == (1, "final")
    assert once_each(bundle)
    lost = ModelCall.objects.filter(result=None).count()
    assert lost == (1 if stage in {"asking", "result"} else 0)
    assert ModelCall.objects.count() == 6 + lost
    again = replay(bundle.match)
    assert again.is_equal, again.differences
