"""From evidence to a prompt: versioned templates, and a fence around what strangers wrote."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from bouts.rules import Judge
from judging.panel.answers import Form
from judging.panel.evidence import EvidenceBundle
from judging.rubrics import Rubric

VERSION = "2026.1"


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


def new_boundary() -> str:
    """Return a fresh boundary of 128 random bits, which no text of the bundle can know."""
    return secrets.token_hex(16)


def render(judge: Judge, rubric: Rubric, evidence: EvidenceBundle, boundary: str) -> Prompt:
    """Make a judge's prompt; the same arguments give the same prompt to the byte.

    Raises `ValueError` where the evidence contains the boundary, where it is another judge's,
    or where there is none.
    """
    raise NotImplementedError
