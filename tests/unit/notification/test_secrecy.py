import pytest

from tidings.notification.secrecy import redact, shown


def test_lists_show_no_token():
    """Of an Apprise address the scheme is shown and digits that tell two apart; mail addresses are shown whole."""
    first, second = (shown("apprise", f"tgram://{token}/42") for token in ("S3CRET", "0THER"))

    assert first.startswith("tgram://…")
    assert "S3CRET" not in first
    assert first != second
    assert "anna@example.org" == shown("email", "anna@example.org")


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
    text = shown(kind, address)

    assert text.startswith("https://hooks.example/…")
    assert "S3CRET" not in text
    assert text != shown(kind, f"{address}x")


def test_texts_of_services_lose_every_part_of_the_address():
    """Host, user, password, path and query may all be tokens, and may come back decoded."""
    address = "json://user:p%40ss@h0st.example/T0KEN?key=S3CRET"
    said = "error for user p@ss p%40ss at h0st.example: T0KEN S3CRET failed with 403"

    assert "error for … … … at …: … … failed with 403" == redact(said, address)
