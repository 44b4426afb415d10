"""Addresses of a bus, and the errors of refused ones."""

from __future__ import annotations

import contextlib

import pytest

from tidings.bus.buses import open_bus
from tidings.bus.nats import NatsBus
from tidings.bus.postgres import PostgresBus
from tidings.errors import SettingError
from tidings.settings import BusSettings

SECRET = "0123456789abcdef"


@pytest.mark.parametrize(
    ("url", "row"),
    [
        ("nats://127.0.0.1:4222", NatsBus),
        ("nats://user:word@localhost", NatsBus),
        ("tls://nats.example.org:4222", NatsBus),
        ("postgresql:///tidings", PostgresBus),
        ("postgresql://me@/tidings?host=/var/run/postgresql", PostgresBus),
        ("postgresql://127.0.0.1:5432,[::1]:5433/tidings", PostgresBus),
        ("postgresql://db.example.org/tidings?sslmode=verify-full", PostgresBus),
    ],
)
def test_url_selects_its_bus(url, row):
    """No connection is made yet."""
    assert row is type(open_bus(BusSettings(url=url, secret=SECRET)))


@pytest.mark.parametrize(
    ("url", "variables", "is_safe"),
    [
        ("postgresql:///x", {"PGHOST": "db.example.org"}, False),
        ("postgresql://:5432/x", {"PGHOST": "db.example.org"}, False),
        ("postgresql://localhost/x", {"PGHOST": "db.example.org"}, True),
        ("postgresql://localhost/x", {"PGHOSTADDR": "10.0.0.1"}, False),
        ("postgresql:///x", {"PGHOST": "db.example.org", "PGSSLMODE": "verify-full"}, True),
        ("postgresql:///x?sslmode=disable", {"PGHOST": "db.example.org", "PGSSLMODE": "verify-full"}, False),
        ("postgresql:///x?service=elsewhere", {}, False),
        ("postgresql:///x?service=elsewhere", {"PGSSLMODE": "verify-full"}, False),
        ("postgresql:///x?service=elsewhere&sslmode=verify-full", {}, True),
    ],
)
def test_what_the_library_reads_elsewhere_counts_too(monkeypatch, url, variables, is_safe):
    """The client library of PostgreSQL takes what an address leaves out from variables and files."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with contextlib.nullcontext() if is_safe else pytest.raises(SettingError, match="without TLS"):
        open_bus(BusSettings(url=url, secret=SECRET))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"url": "nats://u:word@nats.example.org"},
            "nats://nats.example.org leaves this machine without TLS; write tls://",
        ),
        ({"url": "postgresql://u:word@db.example.org/x"}, "without TLS; add .sslmode=verify-full"),
        ({"url": "postgresql://db.example.org/x?sslmode=prefer"}, "without TLS"),
        ({"url": "postgresql://localhost,db.example.org/x"}, "without TLS"),
        ({"url": "postgresql:///x?host=db.example.org"}, "without TLS"),
        ({"url": "postgresql://localhost/x?hostaddr=10.0.0.1"}, "without TLS"),
        ({"url": "redis://127.0.0.1"}, "bus.url is nats://, tls:// or postgresql://; found"),
        ({"secret": "short"}, "at least 16 characters"),
        ({"name": "my bus"}, "bus.name"),
        ({"lanes": ("page",)}, 'bus.lanes is pages or browser, or both; found "page"'),
        ({"lanes": ()}, "bus.lanes"),
        ({"name": "x'; DROP TABLE page"}, "bus.name"),
    ],
)
def test_unsafe_or_invalid_settings_are_refused(changes, message):
    """The error does not have the password of the address."""
    with pytest.raises(SettingError, match=message) as raised:
        open_bus(BusSettings(**{"url": "nats://127.0.0.1", "secret": SECRET, **changes}))

    assert "word" not in str(raised.value)
