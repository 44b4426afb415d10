import apprise
import pytest
from apprise.manager_plugins import NotificationManager

from tidings.errors import AddressError
from tidings.notification.addresses import Limit, ascii_address, check, limit_of, limits, mask_address, redact


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("anna@example.org", "anna@example.org"),
        ("o'neil+news@mail.example.org", "o'neil+news@mail.example.org"),
        ("anna@bücher.example", "anna@xn--bcher-kva.example"),
        ("root@localhost", "root@localhost"),
    ],
)
def test_mail_address_is_accepted(text, written):
    """A domain in any script is converted for SMTP."""
    assert written == ascii_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "a@b, c@d",
        "a@b\nRCPT TO:<c@d>",
        "a@b\r\nDATA",
        "a@b c@d",
        "<a@b>",
        "Anna <a@b>",
        "a@b>",
        "@b",
        "a@",
        "a",
        "a@b@c",
        ".a@b",
        "a..b@c",
        "ä@b",
        "a@-b",
        "a@b..c",
        "a@b\x00",
        'a"b@c',
        "x" * 65 + "@b",
        "a@" + "b" * 64,
        "a@" + ".".join(["b" * 60] * 5),
        "a@\ud800",
        "a@[127.0.0.1]",
        "",
    ],
)
def test_malformed_mail_address_is_refused(text):
    """H-106: several addresses, a name, line ends or another form are refused before anything is
    sent.
    """
    with pytest.raises(AddressError, match="is not a mail address"):
        check("email", text)


NEEDS_PAHO = {"mqtt", "mqtts"}
"""Apprise has these only with the extra "mqtt", so the table does not have them."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Apprise's own
def test_limits_match_the_installed_apprise():
    """The table has each service of Apprise, with limits that are not above its own."""
    plugins = NotificationManager()
    offered = {name: plugins[name] for name in plugins.schemas() if plugins[name].enabled and name not in NEEDS_PAHO}
    fixed = {
        name: Limit(plugin.body_maxlen, plugin.title_maxlen)
        for name, plugin in offered.items()
        if isinstance(plugin.body_maxlen, int) and isinstance(plugin.title_maxlen, int)
    }

    assert set(offered) == set(limits())
    assert fixed == {name: limit for name, limit in limits().items() if name in fixed}
    assert all(limits()[name].body <= 65_536 for name in set(offered) - set(fixed))
    assert apprise.__version__.startswith("2.")


@pytest.mark.parametrize(
    ("scheme", "limit"), [("tgram", (4_096, 0)), ("discord", (2_000, 250)), ("twilio", (160, 0)), ("bulksms", (160, 0))]
)
def test_limits_of_services_are_known(scheme, limit):
    """Telegram has 4096 characters, Discord 2000, an SMS 160."""
    assert Limit(*limit) == limit_of(f"{scheme.upper()}://token/chat")


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("tgramm://token/chat", r"no service of Apprise is called tgramm://; did you mean tgram://"),
        ("pigeonpost://x", "https://appriseit.com/services/"),
        ("gnome://", "no service"),
        ("tgram://", "lacks the rest of the address"),
        ("tgram:///", "lacks the rest of the address"),
        ("tgram:x", "not an Apprise address"),
        ("tgram://a b", "not an Apprise address"),
        ("tgram://a\nb", "not an Apprise address"),
        ("json://" + "x" * 2_000, "not an Apprise address"),
    ],
)
def test_invalid_apprise_address_is_refused(address, text):
    """A mistyped service is found at once, not with the first change."""
    with pytest.raises(AddressError, match=text):
        check("apprise", address)


def test_error_does_not_repeat_the_address():
    """Errors are printed and logged; the address may have a token."""
    with pytest.raises(AddressError) as caught:
        check("apprise", "tgramm://S3CRET-TOKEN/chat")

    assert "S3CRET" not in str(caught.value)


def test_webhook_and_console_addresses_are_not_checked_here():
    """Fetching checks a web address, and a console has none."""
    check("webhook", "https://example.org/")
    check("console", "")


def test_masked_address_shows_no_token():
    """An Apprise address is shown as its scheme and digits that distinguish two addresses; a mail
    address is shown whole.
    """
    first, second = (mask_address("apprise", f"tgram://{token}/42") for token in ("S3CRET", "0THER"))

    assert first.startswith("tgram://…")
    assert "S3CRET" not in first
    assert first != second
    assert "anna@example.org" == mask_address("email", "anna@example.org")


@pytest.mark.parametrize(
    "address",
    [
        "https://hooks.example/services/S3CRET",
        "https://hooks.example/?token=S3CRET",
        "https://hooks.example?S3CRET",
        "https://S3CRET:S3CRET@hooks.example/x",
        "https://hooks.example#S3CRET/x",
    ],
)
@pytest.mark.parametrize("kind", ["webhook", "url"])
def test_masked_webhook_address_shows_only_its_host(kind, address):
    """Path, query, user and password may be secrets."""
    text = mask_address(kind, address)

    assert text.startswith("https://hooks.example/…")
    assert "S3CRET" not in text
    assert text != mask_address(kind, f"{address}x")


def test_texts_of_services_have_no_part_of_the_address():
    """Host, user, password, path and query may all be tokens, and may be decoded in the text."""
    address = "json://user:p%40ss@h0st.example/T0KEN?key=S3CRET"
    text = "error for user p@ss p%40ss at h0st.example: T0KEN S3CRET failed with 403"

    assert "error for … … … at …: … … failed with 403" == redact(text, address)
