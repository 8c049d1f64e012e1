"""The form of an answer: as the schema of a model's one tool, and held against what it said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bouts.formats.text import visible
from bouts.rules import LEVELS, Confidence, Judge

JsonDict = dict[str, Any]

TOOL = "verdict"  # the one tool of a model: it takes the answer

LONGEST_RATIONALE = 20_000  # characters
MOST_FINDINGS = 100
MOST_FAULTS = 40  # of one answer: enough to see what is wrong with it


@dataclass(frozen=True, slots=True)
class Form:
    """What an answer must look like: stored with a call, so that replay needs nothing else.

    ``criteria`` are those that want a level (none for Integrity); ``triggers`` are what
    Integrity may propose, each with the sorts of evidence of which a finding must cite at
    least one item. ``evidence`` has the sort of every item by its id.
    """

    judge: Judge
    criteria: tuple[str, ...]
    triggers: Mapping[str, tuple[str, ...]]
    evidence: Mapping[str, str]

    def as_json(self) -> JsonDict:
        return {
            "judge": self.judge.value,
            "criteria": list(self.criteria),
            "triggers": {name: list(sorts) for name, sorts in self.triggers.items()},
            "evidence": dict(self.evidence),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Form:
        return cls(
            judge=Judge(value["judge"]),
            criteria=tuple(value["criteria"]),
            triggers={name: tuple(sorts) for name, sorts in value["triggers"].items()},
            evidence=dict(value["evidence"]),
        )


@dataclass(frozen=True, slots=True)
class Grade:
    """A model's level for one criterion, 1 to 5, and what it rests on (ids of items)."""

    criterion: str
    level: int
    rationale: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """An integrity finding that a model proposes; it waits for a reviewer, whatever it says."""

    trigger: str
    confidence: Confidence
    note: str
    evidence: tuple[str, ...]  # ids of items, at least one


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that keeps to its form. Integrity has proposals, the other judges grades."""

    grades: tuple[Grade, ...]
    proposals: tuple[Proposal, ...]
    rationale: str  # the model's summary

    @property
    def levels(self) -> dict[str, int]:
        """The level of every criterion, as `judging.scoring` wants them."""
        return {grade.criterion: grade.level for grade in self.grades}


@dataclass(frozen=True, slots=True)
class Invalid:
    """A response that is no answer: every way in which it breaks the form, a sentence each."""

    faults: tuple[str, ...]


# The schema


def schema_of(form: Form) -> JsonDict:
    """Return the JSON Schema of an answer to this form: the one tool that a model has."""
    parts = {"findings": _findings(form)} if form.judge is Judge.INTEGRITY else {}
    if form.criteria:
        parts["criteria"] = _object({name: _GRADE for name in form.criteria})
    return _object({**parts, "summary": _text("The whole in a few sentences.")})


def _object(properties: Mapping[str, Any]) -> JsonDict:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(description: str) -> JsonDict:
    return {"type": "string", "description": description}


_IDS = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Ids of the evidence that this rests on, such as E3: at least one.",
}
_GRADE = _object(
    {
        "rationale": _text("What in the evidence speaks for this level, in one to four sentences."),
        "evidence": _IDS,
        "level": {
            "type": "integer",
            "minimum": LEVELS.lowest,
            "maximum": LEVELS.highest,
            "description": "The level whose description fits.",
        },
    }
)


def _findings(form: Form) -> JsonDict:
    finding = _object(
        {
            "trigger": {"type": "string", "enum": list(form.triggers)},
            "note": _text("What was done, with the words that show it."),
            "evidence": _IDS,
            "confidence": {"type": "string", "enum": [word.value for word in Confidence]},
        }
    )
    return {"type": "array", "items": finding, "description": "Empty where nothing was found."}


# Holding an answer against its form


def read(said: Any, form: Form) -> Answer | Invalid:
    """Read what a model gave its tool, whatever that is, with every fault in it."""
    return _Reader(form).answer(said)


def quoted(value: Any) -> str:
    """Return a model's value as it may stand in a fault, short."""
    text = repr(value)
    return visible(text if len(text) <= 60 else f"{text[:60]}…")


# A field that is not there: its object has said so. One that is null is there, and wrong.
_MISSING: Any = object()


class _Reader:
    """Reads one answer and gathers every fault in it."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._faults: list[str] = []

    def answer(self, said: Any) -> Answer | Invalid:
        form = self._form
        names = ["summary"]
        names += ["criteria"] * bool(form.criteria)
        names += ["findings"] * (form.judge is Judge.INTEGRITY)
        whole = self._object("answer", said, names)
        grades = self._grades(whole.get("criteria", _MISSING)) if "criteria" in names else ()
        proposals = self._proposals(whole.get("findings", _MISSING)) if "findings" in names else ()
        rationale = self._words("summary", whole.get("summary", _MISSING))
        if self._faults:
            return Invalid(tuple(self._faults[:MOST_FAULTS]))
        return Answer(tuple(grades), tuple(proposals), rationale)

    def _grades(self, said: Any) -> list[Grade]:
        entries = self._object("criteria", said, self._form.criteria)
        grades = []
        for name in self._form.criteria:
            if name in entries:
                entry = self._object(name, entries[name], ("rationale", "evidence", "level"))
                level = entry.get("level", 0)
                is_level = type(level) is int and LEVELS.lowest <= level <= LEVELS.highest
                if "level" in entry and not is_level:
                    self._fault(
                        f"{name}.level: found {quoted(level)}, expected a whole number from "
                        f"{LEVELS.lowest} to {LEVELS.highest}"
                    )
                grades.append(
                    Grade(
                        criterion=name,
                        level=level if is_level else 0,
                        rationale=self._words(
                            f"{name}.rationale", entry.get("rationale", _MISSING)
                        ),
                        evidence=self._ids(f"{name}.evidence", entry.get("evidence", _MISSING)),
                    )
                )
        return grades

    def _proposals(self, said: Any) -> list[Proposal]:
        if said is _MISSING:
            return []
        if not isinstance(said, list):
            self._fault(f"findings: found {quoted(said)}, expected a list")
            return []
        if len(said) > MOST_FINDINGS:
            self._fault(f"findings: {len(said)}, expected at most {MOST_FINDINGS}")
            return []
        return [self._proposal(f"findings[{at}]", entry) for at, entry in enumerate(said)]

    def _proposal(self, where: str, said: Any) -> Proposal:
        entry = self._object(where, said, ("trigger", "note", "evidence", "confidence"))
        trigger = entry.get("trigger", _MISSING)
        confidence = entry.get("confidence", _MISSING)
        ids = self._ids(f"{where}.evidence", entry.get("evidence", _MISSING))
        if not isinstance(trigger, str) or trigger not in self._form.triggers:
            if trigger is not _MISSING:
                self._fault(f"{where}.trigger: {quoted(trigger)} is none that was asked for")
            trigger = ""
        elif ids and not self._sorts(ids) & set(self._form.triggers[trigger]):
            wanted = " or ".join(self._form.triggers[trigger])
            self._fault(f"{where}.evidence: {trigger} must cite at least one item of {wanted}")
        if not isinstance(confidence, str) or confidence not in set(Confidence):
            if confidence is not _MISSING:
                found = quoted(confidence)
                self._fault(f"{where}.confidence: found {found}, expected high or low")
            confidence = Confidence.LOW
        note = self._words(f"{where}.note", entry.get("note", _MISSING))
        return Proposal(trigger, Confidence(confidence), note, ids)

    def _sorts(self, ids: Iterable[str]) -> set[str]:
        return {self._form.evidence[id] for id in ids}

    def _object(self, where: str, said: Any, names: Sequence[str]) -> Mapping[str, Any]:
        if said is _MISSING:
            return {}
        if not isinstance(said, dict):
            self._fault(f"{where}: found {quoted(said)}, expected an object")
            return {}
        self._faults += [
            f"{where}: {quoted(name)} is not a field" for name in sorted(said.keys() - names)
        ]
        self._faults += [f"{where}.{name}: missing" for name in names if name not in said]
        return said

    def _words(self, where: str, said: Any) -> str:
        if said is _MISSING:
            return ""
        if not isinstance(said, str) or not said.strip():
            self._fault(f"{where}: found {quoted(said)}, expected words")
            return ""
        if len(said) > LONGEST_RATIONALE:
            self._fault(f"{where}: {len(said):,} characters, expected {LONGEST_RATIONALE:,}")
            return ""
        return visible(said)

    def _ids(self, where: str, said: Any) -> tuple[str, ...]:
        if said is _MISSING:
            return ()
        if not isinstance(said, list) or not said:
            self._fault(f"{where}: found {quoted(said)}, expected a list with ids in it")
            return ()
        unknown = [id for id in said if not isinstance(id, str) or id not in self._form.evidence]
        if unknown:
            self._fault(f"{where}: there is no {', '.join(map(quoted, unknown[:5]))}")
            return ()
        return tuple(dict.fromkeys(said))

    def _fault(self, fault: str) -> None:
        self._faults.append(fault)
