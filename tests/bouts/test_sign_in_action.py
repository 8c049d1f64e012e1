"""The limit on wrong guesses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.test import RequestFactory
from django.utils import timezone

from bouts.actions.sign_in import WINDOW, TooManyTries, WrongPassword, check_password
from bouts.models import SignInTry, User
from tests.factories import PASSWORD, make_user


def attempt(name: str, password: str = "wrong", address: str | None = "192.0.2.1") -> int | User:
    """Return the tries left, or whom the password let in."""
    request = RequestFactory().post("/sign-in/")
    try:
        return check_password(request, name, password, address=address)
    except WrongPassword as wrong:
        return wrong.left


def wait(window: timedelta = WINDOW) -> None:
    """Let time pass by moving the tries into the past."""
    for row in SignInTry.objects.all():
        row.at -= window
        row.save()


def test_a_name_or_an_address_lets_in_whatever_its_case(competitor: User) -> None:
    for name in ("ines", "INES", "ines@example.test", "Ines@Example.Test"):
        assert attempt(name, PASSWORD) == competitor


def test_five_wrong_guesses_close_the_door_even_to_the_right_password(competitor: User) -> None:
    assert [attempt("ines") for _ in range(5)] == [4, 3, 2, 1, 0]
    with pytest.raises(TooManyTries) as stop:
        attempt("ines", PASSWORD)
    first = SignInTry.objects.order_by("at")[0]
    assert stop.value.until == first.at + WINDOW


def test_the_door_opens_again_after_the_window(competitor: User) -> None:
    for _ in range(5):
        attempt("ines")
    wait()
    assert attempt("ines", PASSWORD) == competitor


def test_success_forgets_the_wrong_guesses_before_it(competitor: User) -> None:
    attempt("ines")
    attempt("ines", PASSWORD)
    assert attempt("ines") == 4


@pytest.mark.django_db
def test_a_name_that_nobody_has_counts_and_answers_the_same(competitor: User) -> None:
    assert [attempt("nobody") for _ in range(5)] == [attempt("ines") for _ in range(5)]
    for name in ("nobody", "ines"):
        with pytest.raises(TooManyTries):
            attempt(name)


def test_the_name_and_the_address_of_one_person_do_not_tell_on_each_other(competitor: User) -> None:
    attempt("ines")
    assert attempt("ines@example.test") == 4


def test_a_stranger_elsewhere_does_not_lock_somebody_out_at_once(competitor: User) -> None:
    for _ in range(5):
        attempt("ines", address="198.51.100.7")
    assert attempt("ines", PASSWORD, address="192.0.2.1") == competitor


def test_many_addresses_together_do_lock_a_name(competitor: User) -> None:
    for number in range(25):
        attempt("ines", address=f"198.51.100.{number}")
    with pytest.raises(TooManyTries):
        attempt("ines", PASSWORD, address="192.0.2.1")


def test_many_names_from_one_address_do_lock_the_address(competitor: User) -> None:
    SignInTry.objects.bulk_create(
        SignInTry(name_digest=f"{number:064}", address="192.0.2.1") for number in range(100)
    )
    with pytest.raises(TooManyTries):
        attempt("ines", PASSWORD)
    # Behind a socket all visitors look alike: no shared limit there.
    SignInTry.objects.update(address=None)
    assert attempt("ines", PASSWORD, address=None) == competitor


def test_a_closed_account_answers_like_a_wrong_password(competitor: User) -> None:
    User.objects.update(is_active=False)
    assert attempt("ines", PASSWORD) == 4


def test_what_was_typed_as_a_name_is_not_stored(competitor: User) -> None:
    attempt("my secret password")
    assert "secret" not in str(SignInTry.objects.values().get())


def test_old_tries_are_swept_away(competitor: User) -> None:
    attempt("ines")
    wait(WINDOW + timedelta(seconds=1))
    attempt("other")
    assert SignInTry.objects.get().at > timezone.now() - WINDOW


@pytest.mark.django_db(transaction=True)
def test_guesses_sent_at_once_cannot_exceed_the_limit() -> None:
    make_user("ines")

    def guess(_: int) -> object:
        try:
            return attempt("ines")
        except TooManyTries:
            return "stopped"
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(guess, range(12)))
    assert answers.count("stopped") == 7
    assert sorted(answer for answer in answers if answer != "stopped") == [0, 1, 2, 3, 4]
