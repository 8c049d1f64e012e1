"""Which addresses may be sent to."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from news import signing
from news.sending import BadAddress, addresses_of, check_url, is_public


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1",
    ],
)  # fmt: skip
def test_private_addresses_are_not_public_whatever_they_are_wrapped_in(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_others_are(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.test/", "ftp://example.test/", "https://", "https:///x", "//example.test",
        "https://me:secret@example.test/", "https://example.test/#part", "https://example.test:0/",
        "https://example.test:99999/", "https://exa mple.test/", "https://[::1/", "javascript:alert(1)",
        "https://example.test/\r\nHost: other", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_odd_addresses_are_refused(url: str) -> None:
    with pytest.raises(BadAddress):
        check_url(url)


def test_http_needs_a_setting(settings: Settings) -> None:
    settings.WEBHOOK_HTTP = True
    assert check_url("http://example.test:8080/x?y").port == 8080


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "::1"])
def test_a_host_that_leads_home_is_refused_however_it_is_written(host: str) -> None:
    with pytest.raises(BadAddress):
        addresses_of(host, 443)


def test_a_signature_is_that_of_the_published_example() -> None:
    """The example of the Standard Webhooks specification."""
    given = signing.signature(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    )
    assert given == "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
