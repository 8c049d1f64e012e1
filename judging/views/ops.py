"""What ops decide about a match or a challenge as a whole, each with a reason that is kept."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from bouts import audit
from bouts.actions import challenges
from bouts.htmx import confirm_kept, render_page
from bouts.models import AuditEntry, Challenge, ChallengeVersion, Match
from bouts.visitors import operators_only
from judging import actions, spending, steps, tasks
from judging.forms import ChallengeStateForm, ExclusionForm, JudgeAgainForm
from judging.seats import seating

NEWS = 20  # entries of the log


@operators_only
def match_exclusion(request: HttpRequest, slug: str) -> HttpResponse:
    """Take a match off the leaderboards, or put it back, with a public reason."""
    matches = Match.objects.select_related("agent__team", "challenge")
    match = get_object_or_404(matches, slug=slug)
    bundle = match.bundles.filter(is_live=True).first()
    form = ExclusionForm(
        request.POST or None,
        initial={"exclusion": match.exclusion},
        hidden_words=bundle.hidden_words if bundle else (),
    )
    if request.method == "POST" and form.is_valid():
        actions.exclude_match(match, **form.cleaned_data, by=request.user)
        match.refresh_from_db()
        said = f"{match}: {SAID[Match.Exclusion(match.exclusion)]}."
        confirm_kept(request, f"exclusion-{match.pk}", said)
        return redirect(match)
    context = {"match": match, "form": form, "entries": _log(audit.subject_of(match))}
    status = 422 if form.errors else 200
    return render_page(request, "judging/match_exclusion.html", context, status=status)


@operators_only
def match_judge_again(request: HttpRequest, slug: str) -> HttpResponse:
    """Have a match judged anew: new verdicts beside the old, whatever they come to."""
    matches = Match.objects.select_related("agent__team", "challenge")
    match = get_object_or_404(matches, slug=slug)
    bundle = get_object_or_404(match.bundles.select_related("challenge_version"), is_live=True)
    form = JudgeAgainForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            steps.judge_again(bundle, by=request.user, **form.cleaned_data)
        except actions.ChallengeFrozen:
            form.add_error(None, "The challenge is frozen: nothing of it is judged again.")
        else:
            tasks.ring(bundle.pk)
            confirm_kept(request, f"judge-again-{match.pk}", f"{match} is being judged again.")
            return redirect(match)
    context = {
        "match": match,
        "form": form,
        "seats": seating(),
        "spent": spending.on_match(match.pk),
        "entries": _log(audit.subject_of(match)),
    }
    status = 422 if form.errors else 200
    return render_page(request, "judging/match_judge_again.html", context, status=status)


SAID = {
    Match.Exclusion.NONE: "it counts on the leaderboards again",
    Match.Exclusion.WITHDRAWN: "withdrawn, it counts on no leaderboard",
    Match.Exclusion.EXCLUDED: "excluded, it counts on no leaderboard",
}


@operators_only
def challenge_state(request: HttpRequest, slug: str) -> HttpResponse:
    """Retire a challenge, freeze it, or bring it back."""
    challenge = get_object_or_404(Challenge, slug=slug)
    form = ChallengeStateForm(request.POST or None, initial={"state": challenge.state})
    if request.method == "POST" and form.is_valid():
        challenge = challenges.change_state(slug, **form.cleaned_data, by=request.user)
        said = f"{slug} is {challenge.get_state_display()} now."
        confirm_kept(request, f"state-{challenge.pk}", said)
        return redirect(challenge)
    version = ChallengeVersion.objects.defer("starting_tree").get(challenge=challenge, is_live=True)
    context = {
        "challenge": challenge,
        "version": version,
        "stated_disclosure": version.spec.disclosure,
        "form": form,
        "entries": _log(audit.subject_of(challenge)),
    }
    status = 422 if form.errors else 200
    return render_page(request, "judging/challenge_state.html", context, status=status)


def _log(subject: str) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(subject=subject).select_related("actor")[:NEWS])
