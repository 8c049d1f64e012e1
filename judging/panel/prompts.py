"""From evidence to a prompt: versioned templates, and a fence around what strangers wrote."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from bouts.rules import Judge
from judging.panel.forms import TOOL, Form, JsonDict
from judging.panel.items import EvidenceBundle, Section
from judging.rubrics import Criterion, Question, Questions, Rubric

VERSION = "2026.1"
FOLDER = Path(__file__).parent / "templates"

# Parts the instructions of a template from what is asked.
_RULE = "\n" + "-" * 64 + "\n"

# What each judge is told that it judges.
_SUBJECTS = {
    Judge.PROCESS: ("Process", "Was the work orderly, whatever its result?"),
    Judge.STRATEGY: ("Strategy", "Was the plan good, whatever became of it?"),
    Judge.RECOVERY: ("Recovery", "What did the agent do when something went wrong?"),
    Judge.INTEGRITY: ("Integrity", "Was it done honestly?"),
}


class BadBoundary(ValueError):
    """The evidence contains the boundary that is to fence it."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is put to a model, and what identifies each part of it. Digests are SHA-256.

    ``system`` are the instructions, ``user`` the brief, the rubric and the evidence, fenced
    by ``boundary``. ``form`` is what the answer is held against.
    """

    judge: Judge
    system: str
    user: str
    boundary: str
    form: Form
    template_version: str
    template_digest: str
    rubric_version: str
    rubric_digest: str
    evidence_digest: str

    def as_json(self) -> JsonDict:
        """Return it as it is stored: what was sent, and what an answer is held against."""
        return {
            "system": self.system,
            "user": self.user,
            "boundary": self.boundary,
            "form": self.form.as_json(),
        }


def new_boundary() -> str:
    """Return a fresh boundary of 128 random bits, which no text of the bundle can know."""
    return secrets.token_hex(16)


def render(
    judge: Judge,
    rubric: Rubric | Questions,
    evidence: EvidenceBundle,
    boundary: str,
    version: str = VERSION,
) -> Prompt:
    """Make a judge's prompt; the same arguments give the same prompt to the byte.

    Raises `BadBoundary` where the evidence contains the boundary, `FileNotFoundError` where
    there is no template of this version, and `ValueError` where rubric or evidence are another
    judge's, or there is no evidence to judge.
    """
    if not rubric.judge == evidence.judge == judge:
        raise ValueError(f"{judge} with {rubric.judge}'s rubric and {evidence.judge}'s evidence")
    if not evidence.items:
        raise ValueError("there is no evidence to judge")
    if not boundary or any(boundary in text for text in evidence.texts):
        raise BadBoundary("the evidence contains the boundary")
    form = form_of(rubric, evidence)
    title, question = _SUBJECTS[judge]
    template, digest = _template(judge, version)
    words = {
        "title": title,
        "question": question,
        "tool": TOOL,
        "boundary": boundary,
        "brief": _fenced(evidence.brief, boundary) if evidence.brief else "(There is none.)",
        "rubric": "\n\n".join(_rubric(rubric, form)),
        "evidence": "\n\n".join(_evidence(evidence, boundary)),
        "names": ", ".join(form.criteria or form.triggers) or "none",
    }
    system, _, user = template.partition(_RULE)
    return Prompt(
        judge=judge,
        system=Template(system).substitute(words).strip(),
        user=Template(user).substitute(words).strip(),
        boundary=boundary,
        form=form,
        template_version=version,
        template_digest=digest,
        rubric_version=rubric.version,
        rubric_digest=rubric.digest,
        evidence_digest=evidence.digest,
    )


def form_of(rubric: Rubric | Questions, evidence: EvidenceBundle) -> Form:
    """Return what an answer must look like.

    A trigger is asked only where the challenge gives occasion to it and the bundle holds
    what a finding would have to cite.
    """
    sorts = {item.id: item.sort.value for item in evidence.items}
    if isinstance(rubric, Rubric):
        names = tuple(criterion.name for criterion in rubric.criteria)
        return Form(Judge(rubric.judge), names, {}, sorts)
    triggers = {
        question.name: question.cites
        for question in rubric.triggers
        if (not question.occasion or question.occasion in evidence.occasions)
        and set(question.cites) & set(sorts.values())
    }
    return Form(Judge(rubric.judge), (), triggers, sorts)


@cache
def _template(judge: Judge, version: str) -> tuple[str, str]:
    """Return a judge's template, and the digest of it with what the judge is told it judges."""
    kind = "findings" if judge is Judge.INTEGRITY else "levels"
    text = (FOLDER / f"{kind}-{version}.txt").read_text(encoding="utf-8")
    identity = "\n".join([*_SUBJECTS[judge], text])
    return text, hashlib.sha256(identity.encode()).hexdigest()


def _rubric(rubric: Rubric | Questions, form: Form) -> Iterator[str]:
    if isinstance(rubric, Rubric):
        yield from map(_criterion, rubric.criteria)
    else:
        yield from (_question(asked) for asked in rubric.triggers if asked.name in form.triggers)


def _criterion(criterion: Criterion) -> str:
    levels = (f"{level.number}. {level.short}: {level.behaviour}" for level in criterion.levels)
    head = f"## {criterion.name}: {criterion.title}\n{criterion.question}"
    return "\n".join([head, *levels])


def _question(question: Question) -> str:
    return (
        f"## {question.name}: {question.title}\nCounts: {question.counts}\n"
        f"Is not: {question.is_not}\nCite at least one item of: {', '.join(question.cites)}."
    )


def _evidence(evidence: EvidenceBundle, boundary: str) -> Iterator[str]:
    for section in evidence.sections:
        yield f"## {section.title}"
        yield from _items(section, boundary)


def _items(section: Section, boundary: str) -> Iterator[str]:
    if section.note:
        yield section.note
    for item in section.items:
        if item.gap:
            yield item.gap
        yield f"### {item.id} ({item.sort.value})\n{_fenced(item.text, boundary)}"
    if section.cut:
        yield section.cut


def _fenced(text: str, boundary: str) -> str:
    return f"<<<{boundary}\n{text}\n{boundary}>>>"
