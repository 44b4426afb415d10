"""Promise: a server that answers conditional requests with an empty 200 causes no change, and gets
no more of them.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.world import World, play
from tidings.clock import HOUR
from tidings.storage.observed import pages

WORDS = b"plain words of a page that goes on for a while " * 8


@pytest.mark.parametrize("nothing", [b"", b"<html><body></body></html>", b"Not Modified"])
def test_empty_200_is_ignored_and_validators_are_not_sent_again(world: World, nothing: bytes) -> None:
    """The doubtful answer is polled again without validators."""
    asked: list[bool] = []

    def answer(request: Any, wire: Any) -> None:
        is_conditional = "if-none-match" in {name.lower() for name in request.headers}
        asked.append(is_conditional)
        body = nothing if is_conditional else b"<h1>Notes</h1><p>" + WORDS + b"</p>"
        head = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "a"\r\nContent-Length: %d\r\n\r\n' % len(body)
        wire.send(head + body)

    world.server.pages["/a"] = answer
    world.add("Create Sentinel a Using {/a} Monitor all words Fetch every 1 hour")

    play(world, lambda monitor: world.pass_time(monitor, 14 * HOUR))

    assert [] == world.changes()
    assert 1 == sum(asked)
    assert ["ok"] == [page.health for page in world.read(states)]
    assert [] == world.violations()


def states(connection: Any) -> list[Any]:
    """Return the states of all pages."""
    return [state for _, state in pages.listing(connection)]
