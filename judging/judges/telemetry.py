"""What Process and Recovery share: the recording of the run, and a half each of metrics and model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import islice

from bouts.bundles.manifest import ChallengeFile
from bouts.formats.types import Event, FileChange, Kind
from bouts.rules import Judge, RatioBase, Suite
from judging.judges.base import Dossier, JsonDict, Opinion, Source
from judging.judges.runs import Run, main_run
from judging.judges.strategy import SeatAnswer, uploaded_answer
from judging.scoring.exact import exact, plain, score_text
from judging.scoring.halves import HalvesOutcome
from judging.scoring.metrics import Episode
from judging.scoring.policy import Policy
from judging.scoring.reasons import Reason
from judging.scoring.telemetry import Metric, Recording, Telemetry, analyse

MOST_KEPT = 2_000  # events that are kept while they are gone through again and again

Join = Callable[[Telemetry, Mapping[str, int] | None, Policy, Fraction | None], HalvesOutcome]


def analysed(dossier: Dossier, policy: Policy) -> Telemetry:
    """Analyse the telemetry of a match; the first run counts where there are several."""
    run = main_run(dossier)
    if run is None:
        return analyse(Recording(()), policy)
    if not run.is_readable:
        return analyse(Recording((), absent=Reason.UNREADABLE), policy)
    spec = dossier.spec
    recording = Recording(
        events=_Bare(dossier, run),
        are_in_order=True,
        clock=run.clock,
        baseline=_baseline(spec),
        visible_tests=_visible_tests(spec),
        budget_s=_budget(spec),
        tree_paths=dossier.starting_paths,
        diff_paths=_diff_paths(dossier),
    )
    return analyse(recording, policy)


class _Bare:
    """The events of a run without their texts, which no metric looks at.

    Those of a long run are read anew each time that they are gone through. What many events
    share, such as the name of a file or test, is one string, so that what is made of them
    stays small.
    """

    def __init__(self, dossier: Dossier, run: Run[Source]) -> None:
        self._dossier = dossier
        self._run = run
        first = list(islice(self._read(), MOST_KEPT + 1))
        self._kept = first if len(first) <= MOST_KEPT else None

    def __iter__(self) -> Iterator[Event]:
        return self._read() if self._kept is None else iter(self._kept)

    def _read(self) -> Iterator[Event]:
        names: dict[str, str] = {}
        for event in self._run.events(self._dossier):
            yield _bare(event, names)


def _bare(event: Event, names: dict[str, str]) -> Event:
    path, signature, results = event.path, event.signature, event.results
    return Event(
        seq=event.seq,
        kind=event.kind,
        t=event.t,
        call=event.call,
        path=path and names.setdefault(path, path),
        before=event.before,
        after=event.after,
        signature=signature and names.setdefault(signature, signature),
        ok=event.ok,
        expected=event.expected,
        infra=event.infra,
        results=results and {names.setdefault(name, name): ok for name, ok in results.items()},
        passed=event.passed,
        failed=event.failed,
    )


def _baseline(spec: ChallengeFile) -> dict[str, bool]:
    return {
        test.id: not test.fails_at_start
        for test in spec.tests
        if test.suite is Suite.STATIC and test.fails_at_start is not None
    }


def _visible_tests(spec: ChallengeFile) -> frozenset[str] | None:
    visible = frozenset(test.id for test in spec.tests if test.suite is Suite.STATIC)
    return visible or None


def _budget(spec: ChallengeFile) -> Fraction | None:
    if spec.ratio_base is not RatioBase.BUDGET or spec.time_budget_s is None:
        return None
    return exact(spec.time_budget_s)


def _diff_paths(dossier: Dossier) -> frozenset[str] | None:
    if not any(source.is_readable for source in dossier.of_kind(Kind.DIFF)):
        return None
    changes = (change for _, change in dossier.values(Kind.DIFF) if isinstance(change, FileChange))
    return frozenset(path for change in changes for path in (change.path, change.old_path) if path)


def opinion(
    judge: Judge,
    dossier: Dossier,
    telemetry: Telemetry,
    join: Join,
    policy: Policy,
    asked: SeatAnswer | None = None,
) -> Opinion:
    """Join the metric half with the model half, where a model has answered.

    ``asked`` is what a model of our own said, or why it did not; without one the uploaded
    verdict counts, and with one it is shown and does not.
    """
    run = main_run(dossier)
    entry = next(iter(dossier.answers(judge)), None)
    uploaded = uploaded_answer(entry, "", policy) if entry else None
    answer = asked or uploaded
    # A model half that was uploaded as one score stands for the mean of its levels.
    levels, stated = (answer.levels or None, answer.score) if answer else (None, None)
    outcome = join(telemetry, levels, policy, stated)
    return Opinion(
        judge=judge,
        score=outcome.score,
        reason=outcome.reason,
        why=_why(outcome),
        rationale=_rationale(outcome, answer),
        evidence=_evidence(run, outcome, answer),
        detail={
            "metrics_half": score_text(outcome.metrics_half),
            "model_half": score_text(outcome.rubric_half),
            "marks": [mark.value for mark in outcome.marks],
            "metrics": {metric.name: _metric(metric, run) for metric in outcome.metrics},
            "criteria": _criteria(judge, answer, policy),
            "model": answer.as_json() if answer else None,
            "uploaded": uploaded.as_json() if asked and uploaded else None,
            "counts": None if telemetry.absent else _counts(telemetry),
            "telemetry": run.path if run else "",
        },
        source="uploaded" if answer is uploaded and uploaded else "own",
    )


def _why(outcome: HalvesOutcome) -> str:
    if outcome.reason is Reason.UNVERIFIED:
        return "No test was ever run: unverified"
    halves = []
    if outcome.metrics_half is not None:
        halves.append(f"metrics {plain(outcome.metrics_half)}")
    if outcome.rubric_half is not None:
        halves.append(f"model {plain(outcome.rubric_half)}")
    if len(halves) == 2:
        return f"½ × {halves[0]} + ½ × {halves[1]}"
    return f"{halves[0].capitalize()} alone" if halves else ""


def _rationale(outcome: HalvesOutcome, answer: SeatAnswer | None) -> str:
    said = answer.rationale if answer else ""
    return "\n\n".join(part for part in (outcome.rationale, said) if part)


def _evidence(
    run: Run[Source] | None, outcome: HalvesOutcome, answer: SeatAnswer | None
) -> tuple[JsonDict, ...]:
    """The events that the metric half rests on, then what the model cites; each once."""
    anchors = [
        place
        for metric in outcome.metrics
        for episode in metric.episodes[:3]
        for place in _anchors(run, episode)
    ]
    anchors += answer.evidence if answer else ()
    return tuple({(a["artifact"], a["place"]): a for a in anchors}.values())


def _anchors(run: Run[Source] | None, episode: Episode) -> list[JsonDict]:
    return [run.anchor(seq) for seq in episode.seqs] if run else []


def _metric(metric: Metric, run: Run[Source] | None) -> JsonDict:
    return {
        "value": None if metric.value is None else _value(metric),
        "score": score_text(metric.score),
        "reason": metric.reason.value if metric.reason else None,
        "reason_text": metric.reason.sentence if metric.reason else None,
        "good": metric.good,
        "how": metric.how,
        "episode_count": metric.episode_count,
        "episodes": [
            {
                "text": episode.text,
                "seconds": None if episode.seconds is None else float(episode.seconds),
                "evidence": _anchors(run, episode),
            }
            for episode in metric.episodes
        ],
    }


def _value(metric: Metric) -> float | int:
    """Return the value rounded as it is shown: whole where it is, else to four places."""
    assert metric.value is not None
    value = float(plain(metric.value, 4))
    return int(value) if value.is_integer() and metric.name.endswith("_s") else value


def _criteria(judge: Judge, answer: SeatAnswer | None, policy: Policy) -> JsonDict:
    rules = policy.halves
    levels = answer.levels if answer else None
    return {
        name: {
            "level": levels[name] if levels else None,
            "score": score_text(
                Fraction(rules.points_a_level * (levels[name] - rules.lowest_level))
            )
            if levels
            else None,
            "reason": None if levels else _not_evaluated(answer),
            "rationale": "",
            "evidence": [],
            **(answer.criteria.get(name, {}) if answer else {}),
        }
        for name in rules.rubrics[judge]
    }


def _not_evaluated(answer: SeatAnswer | None) -> str:
    """Say why a criterion has no level; an answer that came as one score has none either."""
    if answer is None or answer.score is not None:
        return "not evaluated: no model"
    return f"not evaluated: {answer.state}"


def _counts(telemetry: Telemetry) -> JsonDict:
    counts = telemetry.counts
    return {name: getattr(counts, name) for name in counts.__slots__}
