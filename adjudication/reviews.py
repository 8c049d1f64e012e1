"""What a match's page says of the review that its team asked for."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import JSONObject

from adjudication.models import Case, ReviewRequest, Ruling


def review_of(match: str) -> Any:
    """Return the request of a match, its state and its answer as JSON; null where there is none.

    The answer is what the reviewers wrote for all to read, once the case is decided: until
    then each of them rules without knowing of the others.
    """
    answers = (
        Ruling.objects.in_force()
        .filter(case=OuterRef("case"), case__state=Case.State.DECIDED)
        .order_by("slot")
    )
    asked = ReviewRequest.objects.filter(match=OuterRef(match)).order_by()
    told = JSONObject(
        text="text",
        asked_at="asked_at",
        is_on_finding=~Q(case__finding_key=""),
        state="case__state",
        closed_reason="case__closed_reason",
        answers=ArraySubquery(answers.values("public_reason")),
        case=F("case"),
    )
    return Subquery(asked.values(told=told))
