from __future__ import annotations

import io

import pytest

from bouts.masking import MASK, mask, masked_pieces, without_keys

SECRETS = (
    "AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2_" * 8,
    "glpat-" + "a1B2" * 5,
    "AIza" + "Q" * 35,
    "sk-ant-api03-" + "x" * 30,
    "sk-proj-" + "x" * 30,
    "xoxb-123456789012-abcdef",
    "https://hooks.slack.com/services/T000/B000/" + "x" * 24,
    "sk_live_" + "4" * 24,
    "hf_" + "a" * 34,
    "npm_" + "a" * 36,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
)
ORDINARY = (
    "9f3a61c0d2e4b5a697887766554433221100ffee",  # a commit
    "sk-learn is imported",
    "AKIA is a prefix",
    "xoxo",
    "test_eyJ",
    "https://hooks.example/services/",
    "-----BEGIN CERTIFICATE-----",
)
KEY = (
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\nZXktdjEA\n-----END OPENSSH PRIVATE KEY-----"
)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_keeps_its_beginning_and_loses_the_rest(secret: str) -> None:
    for text in (secret, f'"{secret}"', f"export TOKEN={secret}\nnext line", f"({secret})"):
        shown = mask(text)
        assert secret not in shown
        assert "…[masked]" in shown
        assert b"".join(masked_pieces(io.BytesIO(text.encode()))).decode() == shown


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert mask(text) == text
    assert b"".join(masked_pieces(io.BytesIO(text.encode()))).decode() == text


def test_a_private_key_goes_whole_and_what_stands_around_it_stays() -> None:
    text = f"before\n{KEY}\nafter\n"
    for shown in (mask(text), b"".join(masked_pieces(io.BytesIO(text.encode()))).decode()):
        assert "b3BlbnNzaC1r" not in shown and "ZXktdjEA" not in shown
        assert shown.startswith("before\n") and shown.endswith("after\n")


def test_a_key_that_never_ends_hides_all_that_follows() -> None:
    text = KEY.partition("-----END")[0]
    assert "b3Blbn" not in mask(text)
    assert b"b3Blbn" not in b"".join(masked_pieces(io.BytesIO(text.encode())))


def test_lines_out_of_the_middle_of_a_file_hide_a_key_that_began_before_them() -> None:
    begin, first, second, end = KEY.split("\n")
    assert without_keys(["a", begin, first, end, "b"]) == ["a", MASK, MASK, MASK, "b"]
    assert without_keys([second, end, "b"]) == [MASK, MASK, "b"]
    assert without_keys([first, second]) == [first, second]  # no line tells by itself
