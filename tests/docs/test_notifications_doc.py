"""The page on notifications says what is so, and its examples run."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tidings.language.parser import parse
from tidings.model.watch.notifying import PLACEHOLDERS
from tidings.model.watch.sentinel import Sentinel
from tidings.notification.addresses import check, limits
from tidings.notification.channel import Message
from tidings.notification.channels import CHANNELS
from tidings.notification.retry import SCHEDULE
from tidings.notification.webhook import make_secret, read_secrets, sign_headers
from tidings.settings import load

TEXT = (Path(__file__).parents[2] / "docs" / "howto" / "notifications.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def blocks(language):
    return [text for name, text in BLOCKS if name == language]


def test_the_sentinel_is_one():
    """It is read without a problem; mail that is not set up is the only warning; every address is one."""
    text, *_ = blocks("sentinel")
    parsed = parse(text)
    (sentinel,) = parsed.statements
    assert isinstance(sentinel, Sentinel)
    channels = [channel for clause in sentinel.notify for channel in clause.channels]
    for channel in channels:
        check(channel.kind, channel.address)

    assert () == parsed.problems
    assert ["W10"] == [warning.code for warning in parsed.warnings]
    assert ["email", "apprise", "webhook"] == [channel.kind for channel in channels]


def test_the_sentinel_with_secrets_names_them():
    """It is read without a problem; that its secrets are not set is warned of."""
    *_, text = blocks("sentinel")
    parsed = parse(text, secrets=frozenset())

    assert () == parsed.problems
    assert ["W9", "W9"] == [warning.code for warning in parsed.warnings]


def test_the_placeholders_are_all_there_are():
    """The table names each, and the example is read without a problem."""
    _, text, _ = blocks("sentinel")
    (table,) = re.findall(r"^\| placeholder \|.*?\n\n", TEXT, flags=re.MULTILINE | re.DOTALL)

    assert () == parse(text).problems
    assert set(PLACEHOLDERS) == set(re.findall(r"\{\{(\w+)\}\}", table))


@pytest.mark.parametrize("text", blocks("toml"))
def test_the_settings_are_settings(text, tmp_path):
    """A file with these lines is read."""
    (tmp_path / "tidings.toml").write_text(text, encoding="utf-8")
    settings = load(tmp_path, environment={})
    ((section, given),) = tomllib.loads(text).items()

    assert given == {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in ((name, settings.value(f"{section}.{name}")) for name in given)
    }


def test_the_receiver_accepts_what_is_sent_and_nothing_else():
    """The few lines for a receiver verify our signature and refuse another body or secret."""
    (code,) = blocks("python")
    names: dict[str, Any] = {}
    exec(code, names)
    secret, other = make_secret(), make_secret()
    message = Message(
        id="dlv_1",
        address="https://hooks.example/",
        subject="",
        content_type="application/json",
        body=b'{"a": 1}',
        attempt=1,
        sent_at=1_700_000_000_000_000,
        sequence=1,
    )
    headers = sign_headers(message, read_secrets(f"{secret} {other}"))

    assert names["is_genuine"](secret, headers, message.body)
    assert names["is_genuine"](other, headers, message.body)
    assert not names["is_genuine"](secret, headers, b'{"a": 2}')
    assert not names["is_genuine"](make_secret(), headers, message.body)


def test_numbers_are_those_of_the_code():
    """Attempts, schemes and lengths are what Tidings does."""
    assert "ten attempts" in TEXT
    assert 9 == len(SCHEDULE)
    assert f"{len(limits())} schemes" in TEXT
    assert (4_096, 2_000) == (limits()["tgram"].body, limits()["discord"].body)
    assert {"gnome", "dbus", "windows", "mqtt", "xmpp", "smpp"}.isdisjoint(limits())


@pytest.mark.parametrize("kind", sorted(set(CHANNELS) - {"url"}))
def test_every_channel_is_described(kind):
    """A kind that is added has its line."""
    assert re.search(
        rf"^\| (?:a service of \[)?{kind.replace('email', 'e-mail')}", TEXT, flags=re.MULTILINE | re.IGNORECASE
    )
