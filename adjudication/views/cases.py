"""One case: the blind half, the own score, the reveal, the ruling and what it did."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from adjudication import actions
from adjudication.choices import Choice, preview_of, rulings_on, with_previews
from adjudication.desk import Desk, Phase
from adjudication.drafts import FIELDS, legible
from adjudication.evidence import Tab
from adjudication.forms import (
    ASK_AGAIN,
    DeclineForm,
    EndWaitForm,
    LevelsForm,
    OpinionForm,
    RulingForm,
    TakeOverForm,
    decision_of,
)
from adjudication.models import Case, Ruling
from adjudication.queue import clock_of
from adjudication.refusals import AlreadyCommitted, BadDecision, NotBlindYet, Refused
from adjudication.visitors import leads_only, officials_only, reviewers_only
from bouts.evidence import BadPlace, Place, parse_place
from bouts.htmx import confirm_kept, render_page, wants_part
from judging import actions as judging
from judging import tasks
from judging.scoring.exact import score_text

PAGE = "adjudication/case_detail.html"


def find_case(request: HttpRequest, case_id: int) -> Case:
    """Return a case that this person may know of, or 404."""
    return get_object_or_404(Case.objects.visible_to(request.user).for_page(), pk=case_id)


def changes_case(change: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Make a view of something a reviewer does to a case.

    It takes a POST from a reviewer, is 404 for whoever may not know of the case, and where
    the case has moved on answers 409 with a page that shows what was written.
    """

    @require_POST
    @reviewers_only
    @wraps(change)
    def view(request: HttpRequest, case_id: int, **kwargs: Any) -> HttpResponse:
        try:
            return change(request, case_id, **kwargs)
        except (Case.DoesNotExist, Ruling.DoesNotExist) as missing:
            raise Http404 from missing
        except Refused as refusal:
            return _refused(request, case_id, refusal)

    return view


def _refused(request: HttpRequest, case_id: int, refusal: Refused) -> HttpResponse:
    """Say what has moved on, and give back what was written; it is kept as a draft too."""
    case = find_case(request, case_id)
    written = _typed(request)
    if written:
        actions.save_draft(case_id, written, by=request.user, was_refused=True)
    context = {
        "case": case,
        "refusal": refusal,
        "written": [
            (WRITTEN.get(name, name.capitalize()), value)
            for name, value in written.items()
            if value
        ],
        "may_claim": Desk(case, request.user, timezone.now()).may_claim,
    }
    return render(request, "adjudication/case_refused.html", context, status=409)


# How a field is called where what was written is shown again.
WRITTEN = {
    "ruling": "Ruling",
    "score": "Score",
    "points": "Points",
    "public_reason": "Public reason",
    "private_note": "Private note",
    "reason": "Reason",
}


def _typed(request: HttpRequest) -> dict[str, str]:
    """Return what somebody typed and chose in the fields of our forms."""
    return legible({name: value for name, value in request.POST.items() if name in FIELDS})


# The page


@require_safe
@officials_only
def case_detail(request: HttpRequest, case_id: int) -> HttpResponse:
    case = find_case(request, case_id)
    partial = "evidence" if "tab" in request.GET else None
    return _show(request, case, partial=partial)


def _show(
    request: HttpRequest,
    case: Case,
    *,
    form: forms.Form | None = None,
    partial: str | None = None,
    status: int = 200,
    correcting: Ruling | None = None,
) -> HttpResponse:
    """Render a case as far as this person has come with it."""
    at = timezone.now()
    desk = Desk(case, request.user, at)
    context: dict[str, Any] = {
        "case": case,
        "desk": desk,
        "phase": desk.phase.value,
        "title": case.bundle.challenge_version.title,
        "is_writing": desk.phase in {Phase.SCORE, Phase.RULE} or correcting is not None,
        # Whoever only looks has nothing beside the evidence.
        "is_alone": desk.phase is Phase.LOOK and not desk.is_revealed,
        "clock": None if case.is_settled else clock_of(case, at),
        "correcting": correcting,
        "take_over_form": TakeOverForm(),
        "decline_form": DeclineForm(),
        "may_end_wait": case.state == Case.State.AWAITING_PANEL
        and (request.user.is_lead or request.user.is_operator),
    }
    if not case.is_on_finding:
        context |= _evidence(request, desk)
    if partial != "evidence" or not wants_part(request):
        if desk.phase is Phase.SCORE:
            context["form"] = form or _blind_form(desk, initial=desk.draft)
        elif desk.phase is Phase.RULE or correcting is not None:
            context |= _ruling(request, desk, form, correcting)
        if desk.is_match_revealed and desk.outcome is not None:
            context["effect"] = effect_of(desk.outcome)
        context["may_correct"] = [
            ruling.pk
            for ruling in desk.rulings_in_force
            if ruling.may_be_corrected_by(request.user)
        ]
    return render_page(request, PAGE, context, partial=partial, status=status)


def _evidence(request: HttpRequest, desk: Desk) -> dict[str, Any]:
    """Return the open tab of the evidence and the page of it that was asked for."""
    asked = request.GET.get("tab", "")
    evidence, here = desk.evidence, desk.case.get_absolute_url()
    tab = Tab(asked) if asked in set(Tab) else evidence.first_tab
    place, number = _place(request), request.GET.get("page")

    def address(**query: object) -> str:
        return f"{here}?{urlencode(query)}"

    shown: dict[str, Any] = {
        "here": here,
        "tab": tab,
        "tabs": [(each, evidence.counts[each], address(tab=each.value)) for each in Tab],
        "place": str(place or ""),
    }
    if tab is Tab.WRITING:
        text = request.GET.get("file", "0")
        file = int(text) if text.isdecimal() and len(text) < 6 else 0
        shown["files"] = [
            (desk.scrub(artifact.path), address(tab=tab.value, file=at), at == file)
            for at, artifact in enumerate(evidence.writings)
        ]
        writing = shown["writing"] = evidence.writing(file, number, place)
        if writing is not None:
            shown |= {
                "page_words": f"Page {writing.page}",
                "previous": writing.page > 1
                and address(tab=tab.value, file=file, page=writing.page - 1),
                "next": writing.has_more
                and address(tab=tab.value, file=file, page=writing.page + 1),
            }
        return shown
    if tab is Tab.SENT:
        page = evidence.sent_page(number)
    elif tab is Tab.DIFF:
        page = evidence.diff(number, place)
    else:
        page = evidence.steps(tab, number, place)
    shown |= {
        "page": page,
        "page_words": f"Page {page.number} of {page.paginator.num_pages}",
        "previous": page.has_previous()
        and address(tab=tab.value, page=page.previous_page_number()),
        "next": page.has_next() and address(tab=tab.value, page=page.next_page_number()),
    }
    return shown


def _place(request: HttpRequest) -> Place | None:
    try:
        return parse_place(request.GET.get("at", ""))
    except BadPlace:
        return None


def _blind_form(desk: Desk, **options: Any) -> LevelsForm | OpinionForm:
    if desk.case.is_on_finding:
        return OpinionForm(**options)
    return LevelsForm(desk.rubric, **options)


def _choices(desk: Desk, *, is_correction: bool) -> list[Choice]:
    choices = rulings_on(
        desk.case, desk.panel, desk.letters, desk.blind, is_correction=is_correction
    )
    # Totals would tell of the other question that this person is still to answer blind.
    if not desk.is_match_revealed:
        return choices
    return with_previews(desk.case, desk.panel, choices, desk.blind)


def _ruling(
    request: HttpRequest, desk: Desk, form: forms.Form | None, correcting: Ruling | None
) -> dict[str, Any]:
    """Return the form of a ruling, its choices, and what the chosen one would do."""
    choices = _choices(desk, is_correction=correcting is not None)
    names = [(choice.value, choice.label) for choice in choices]
    draft = {**desk.draft, "version": desk.case.version}
    shown = form or RulingForm(names, initial=draft)
    filled = form or RulingForm(names, data=draft)
    return {
        "form": shown,
        "choices": choices,
        "chosen": filled["ruling"].value(),
        "preview": _preview(desk, filled) if desk.is_match_revealed else None,
    }


def _preview(desk: Desk, form: forms.Form) -> dict[str, Any] | None:
    """Return the match before and after the ruling in a bound form; None if none is chosen."""
    chosen = form["ruling"].value()
    form.full_clean()
    values = form.cleaned_data
    needed = {Ruling.Kind.SET: "score", Ruling.Kind.AMEND: "points"}.get(chosen)
    if "ruling" not in values or needed in form.errors or chosen == ASK_AGAIN:
        return None
    decision = decision_of(
        chosen, public_reason="", score=values.get("score"), points=values.get("points")
    )
    return {
        "label": dict(form.fields["ruling"].choices)[chosen],
        "before": judging.preview(desk.case.bundle),
        "after": preview_of(desk.case, desk.panel, decision, desk.blind),
    }


# What reviewers do


@changes_case
def case_claim(request: HttpRequest, case_id: int) -> HttpResponse:
    claim = actions.claim_case(case_id, by=request.user)
    return redirect(claim.case)


@changes_case
def case_draft(request: HttpRequest, case_id: int) -> HttpResponse:
    """Keep what has been typed and put the end of the lease off; the page's heartbeat.

    The draft is kept even where the lease has ended. Answers JSON, since only script asks.
    """
    typed = _typed(request)
    if typed:
        actions.save_draft(case_id, typed, by=request.user)
    try:
        claim = actions.renew(case_id, by=request.user)
    except Refused as refusal:
        return JsonResponse({"code": refusal.code, "detail": str(refusal)}, status=409)
    return JsonResponse({"expires_at": claim.expires_at.isoformat()})


@changes_case
def case_release(request: HttpRequest, case_id: int) -> HttpResponse:
    case = find_case(request, case_id)
    actions.release(case_id, by=request.user)
    messages.success(request, f"{case} is free again. What you typed is kept for you.")
    return redirect("adjudication:case_queue")


@changes_case
def case_decline(request: HttpRequest, case_id: int) -> HttpResponse:
    form = DeclineForm(request.POST)
    case = find_case(request, case_id)
    if not form.is_valid():
        return _show(request, case, status=422)
    actions.decline(case_id, by=request.user, reason=form.cleaned_data["reason"])
    messages.success(request, f"{case} is not offered to you again.")
    return redirect("adjudication:case_queue")


@changes_case
def case_take_over(request: HttpRequest, case_id: int) -> HttpResponse:
    form = TakeOverForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say why you take the case over; it goes into the log.")
        return redirect(find_case(request, case_id))
    claim = actions.take_over(
        case_id,
        form.cleaned_data["claim"],
        by=request.user,
        reason=form.cleaned_data["reason"],
    )
    return redirect(claim.case)


@require_POST
@leads_only
def case_end_wait(request: HttpRequest, case_id: int) -> HttpResponse:
    """Bring a case back whose panel does not answer."""
    form = EndWaitForm(request.POST)
    case = find_case(request, case_id)
    if not form.is_valid():
        messages.error(request, "Say why you end the wait; it goes into the log.")
        return redirect(case)
    try:
        actions.end_wait(case_id, by=request.user, reason=form.cleaned_data["reason"])
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect(case)
    messages.success(request, f"{case} waits no longer. It is open on what the panel has said.")
    return redirect(case)


@changes_case
def case_commit(request: HttpRequest, case_id: int) -> HttpResponse:
    actions.renew(case_id, by=request.user)
    case = find_case(request, case_id)
    desk = Desk(case, request.user, timezone.now())
    form = _blind_form(desk, data=request.POST)
    if not form.is_valid():
        if desk.blind is not None:
            raise AlreadyCommitted
        return _show(request, case, form=form, status=422)
    blind = actions.commit_score(case_id, by=request.user, **form.as_commit())
    said = score_text(blind.score) or blind.get_opinion_display()
    confirm_kept(request, f"blind-{case_id}", f"Committed: {said}. It stays as it is.")
    return redirect(case)


@changes_case
def case_rule(request: HttpRequest, case_id: int) -> HttpResponse:
    actions.renew(case_id, by=request.user)
    if find_case(request, case_id).blind_score_of(request.user) is None:
        raise NotBlindYet
    return _sign(request, case_id, correcting=None)


@changes_case
def ruling_correct(request: HttpRequest, case_id: int, ruling_id: int) -> HttpResponse:
    return _sign(request, case_id, correcting=_ruling_to_correct(request, case_id, ruling_id))


@require_safe
@reviewers_only
def ruling_correction(request: HttpRequest, case_id: int, ruling_id: int) -> HttpResponse:
    """Show the case with a form that replaces one of its rulings."""
    try:
        correcting = _ruling_to_correct(request, case_id, ruling_id)
    except Ruling.DoesNotExist as missing:
        raise Http404 from missing
    return _show(request, find_case(request, case_id), correcting=correcting)


def _ruling_to_correct(request: HttpRequest, case_id: int, ruling_id: int) -> Ruling:
    """Return a ruling that this person may replace.

    Raises `Ruling.DoesNotExist` also where they have yet to come to the case blind: the form
    stands beside the reveal.
    """
    case = find_case(request, case_id)
    ruling = case.rulings.visible_to(request.user).get(pk=ruling_id)
    if not Desk(case, request.user, timezone.now()).is_revealed:
        raise Ruling.DoesNotExist
    if not ruling.may_be_corrected_by(request.user):
        raise PermissionDenied
    return ruling


def _sign(request: HttpRequest, case_id: int, correcting: Ruling | None) -> HttpResponse:
    case = find_case(request, case_id)
    form = _bound_ruling_form(request, case, correcting)
    if not form.is_valid():
        return _show(request, case, form=form, status=422, correcting=correcting)
    version = form.cleaned_data["version"]
    try:
        if form.cleaned_data["ruling"] == ASK_AGAIN:
            return _ask_again(request, case, form)
        decision = form.as_decision()
        if correcting is None:
            ruling = actions.rule(case_id, decision, by=request.user, version=version)
        else:
            ruling = actions.correct_ruling(
                correcting.pk, decision, by=request.user, version=version
            )
    except BadDecision as bad:
        field = bad.field if bad.field in form.fields else "ruling"
        form.add_error(field, str(bad))
        return _show(request, case, form=form, status=422, correcting=correcting)
    confirm_kept(request, f"ruling-{case_id}", _signed(request, ruling))
    return _onward(request, case)


def _ask_again(request: HttpRequest, case: Case, form: RulingForm) -> HttpResponse:
    actions.ask_again(
        case.pk,
        by=request.user,
        version=form.cleaned_data["version"],
        public_reason=form.cleaned_data["public_reason"],
        private_note=form.cleaned_data["private_note"],
    )
    tasks.ring(case.bundle_id)
    confirm_kept(
        request, f"ruling-{case.pk}", f"{case} waits for the panel. It comes back by itself."
    )
    return _onward(request, case)


def _onward(request: HttpRequest, case: Case) -> HttpResponse:
    """Go on to the next case where that button was pressed, else stay with this one."""
    if "next" in request.POST:
        claim = actions.claim_next(by=request.user)
        return redirect(claim.case if claim else "adjudication:case_queue")
    return redirect(case)


def _bound_ruling_form(request: HttpRequest, case: Case, correcting: Ruling | None) -> RulingForm:
    desk = Desk(case, request.user, timezone.now())
    choices = rulings_on(
        case, desk.panel, desk.letters, desk.blind, is_correction=correcting is not None
    )
    return RulingForm([(choice.value, choice.label) for choice in choices], data=request.POST)


def _signed(request: HttpRequest, ruling: Ruling) -> str:
    """Say what was signed, in the values that the database now holds."""
    said = ruling.get_kind_display()
    if ruling.score is not None:
        said += f", {score_text(ruling.score)}"
    sentence = f"Signed on {ruling.case}: {said}."
    if ruling.after is None:
        return f"{sentence} Other reviewers are still to rule."
    if Desk(ruling.case, request.user, timezone.now()).is_match_dark:
        return sentence
    total = "n/a" if ruling.after.total is None else ruling.after.total
    return f"{sentence} The total is now {total}."


@require_POST
@reviewers_only
def case_preview(request: HttpRequest, case_id: int) -> HttpResponse:
    """Show what the ruling in the form would do; nothing is written."""
    case = find_case(request, case_id)
    correcting = None
    if ruling_id := request.POST.get("correcting", ""):
        number = int(ruling_id) if ruling_id.isdecimal() and len(ruling_id) < 10 else 0
        try:
            correcting = _ruling_to_correct(request, case_id, number)
        except Ruling.DoesNotExist as missing:
            raise Http404 from missing
    elif Desk(case, request.user, timezone.now()).phase is not Phase.RULE:
        return redirect(case)
    form = _bound_ruling_form(request, case, correcting)
    return _show(request, case, form=form, partial="preview", correcting=correcting)


def effect_of(ruling: Ruling) -> dict[str, Any]:
    """Return what a ruling did: the revisions before and after it."""
    return {"ruling": ruling, "before": ruling.before, "after": ruling.after}
