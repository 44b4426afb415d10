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
def test_one_recipient_is_taken(text, written):
    """A domain in any script is written as SMTP wants it."""
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
def test_no_other_recipient_is_taken(text):
    """H-106: several, with a name, with line ends, or malformed: refused before anything is sent."""
    with pytest.raises(AddressError, match="is not a mail address"):
        check("email", text)


NEEDS_PAHO = {"mqtt", "mqtts"}
"""Apprise offers these only where the extra "mqtt" is installed, so the table does not have them."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Apprise's own
def test_the_table_is_that_of_the_installed_apprise():
    """Every service that Apprise offers here is in the table, with limits that are not above its own."""
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
def test_what_fits_is_known(scheme, limit):
    """Telegram 4096, Discord 2000, an SMS 160."""
    assert Limit(*limit) == limit_of(f"{scheme.upper()}://token/chat")


@pytest.mark.parametrize(
    ("address", "said"),
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
def test_an_address_that_cannot_be_is_refused_when_it_is_given(address, said):
    """A mistyped service is found now, not with the first news."""
    with pytest.raises(AddressError, match=said):
        check("apprise", address)


def test_an_error_does_not_repeat_the_address():
    """Errors are printed and logged; tokens are not."""
    with pytest.raises(AddressError) as caught:
        check("apprise", "tgramm://S3CRET-TOKEN/chat")

    assert "S3CRET" not in str(caught.value)


def test_other_kinds_are_checked_elsewhere():
    """An address of the web is judged by fetching, a console has none."""
    check("webhook", "https://example.org/")
    check("console", "")


def test_lists_show_no_token():
    """Of an Apprise address the scheme is shown and digits that tell two apart; mail addresses are shown whole."""
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
def test_the_address_of_a_webhook_is_a_secret(kind, address):
    """Its path, query, user and password are; its host, by which people know it, is shown."""
    text = mask_address(kind, address)

    assert text.startswith("https://hooks.example/…")
    assert "S3CRET" not in text
    assert text != mask_address(kind, f"{address}x")


def test_texts_of_services_lose_every_part_of_the_address():
    """Host, user, password, path and query may all be tokens, and may come back decoded."""
    address = "json://user:p%40ss@h0st.example/T0KEN?key=S3CRET"
    said = "error for user p@ss p%40ss at h0st.example: T0KEN S3CRET failed with 403"

    assert "error for … … … at …: … … failed with 403" == redact(said, address)
