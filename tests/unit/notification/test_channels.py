import io

import pytest

from tidings.errors import UsageError
from tidings.notification.channels import CHANNELS, Means, build_senders
from tidings.notification.console import Console
from tidings.notification.webhook import Webhook


class Poster:
    async def post(self, url, *, headers, body, timeout_seconds):
        raise NotImplementedError


def test_senders_are_made_of_the_means_given():
    """Client, keys, deadline and stream arrive where they are used."""
    poster, stream = Poster(), io.StringIO()
    senders = build_senders(Means(poster=poster, keys=(b"k",), stream=stream, timeout_seconds=3.0))

    assert {
        "webhook": Webhook(poster, (b"k",), 3.0),
        "url": Webhook(poster, (b"k",), 3.0),
        "console": Console(stream),
    } == senders


def test_unknown_kind_names_those_that_are():
    """Who mistypes a kind reads the list."""
    with pytest.raises(UsageError, match='no channel "pigeon"; there are: console, url, webhook'):
        CHANNELS["pigeon"]
