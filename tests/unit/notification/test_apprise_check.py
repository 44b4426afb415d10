import subprocess
import sys

import pytest

from tidings.errors import AddressError
from tidings.notification.apprise_channel import check_service

TOKEN = "S3CRET"


@pytest.mark.parametrize(
    ("address", "form"),
    [
        ("discord://S3CRET", "discord://{webhook_id}/{webhook_token}"),
        ("tgram://S3CRET", "tgram://{bot_token}"),
        ("slack://S3CRET", "slack://{token_a}/{token_b}/{token_c}"),
        ("pover://S3CRET", "pover://{user_key}@{token}"),
        ("twilio://S3CRET:b@1/2", "twilio://{account_sid}:{auth_token}@{from_phone}"),
        ("gotify://host", "gotify://{host}/{token}"),
        ("GOTIFY://host", "gotify://{host}/{token}"),
        ("signal://localhost:9922/+1", "signal://{host}/{from_phone}"),
    ],
)
def test_address_that_its_service_cannot_parse_is_refused(address, form):
    """The error has the form of the service's address, and nothing of the given one."""
    with pytest.raises(AddressError) as raised:
        check_service(address)

    assert form in str(raised.value)
    assert TOKEN not in str(raised.value)


@pytest.mark.parametrize(
    "address",
    [
        "tgram://123456789:AAF0bar/987654",
        "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js",
        "ntfy://topic",
        "gotify://host/token",
        "json://localhost/x",
        "ntfys://ntfy.example/topic?priority=high",
    ],
)
def test_address_that_its_service_can_parse_is_accepted(address):
    """Nothing is sent."""
    check_service(address)


def test_check_prints_nothing_and_imports_apprise_late():
    """Apprise may log a token of the address. A start without such an address does not load the
    library.
    """
    code = (
        "import sys; from tidings.service.sentinels import register; from tidings.notification import apprise_channel\n"
        "assert 'apprise' not in sys.modules\n"
        "try: apprise_channel.check_service('discord://S3CRET')\n"
        "except Exception: pass"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert (0, "", "") == (ran.returncode, ran.stdout, ran.stderr)
