"""Promise: a server that handles conditional requests wrongly hides no change and causes no false
alarm; it gets no more of them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.fakes import Page, Seen, Wire, response
from tests.world import World, play, serve
from tidings.clock import DAY, HOUR

TEXT = "<h1>Notes</h1><p>" + "plain words of a page that goes on for a while " * 8 + "</p>"
HTML = {"Content-Type": "text/html; charset=utf-8"}
FEED = "<rss version='2.0'><channel><title>F</title>{}</channel></rss>"
ITEMS = "".join(f"<item><title>Entry {n}</title><guid>{n}</guid></item>" for n in range(5))


def is_conditional(seen: Seen) -> bool:
    return bool(seen.headers.keys() & {"if-none-match", "if-modified-since"})


def answering(world: World, path: str, body: list[str], to_conditions: Callable[[], Page], **headers: str) -> None:
    """Serve the newest of `body` on a path, and answer conditional requests as `to_conditions`
    says.
    """

    def answer(seen: Seen, wire: Wire) -> None:
        data = body[-1].encode()
        whole = Page(data, {**HTML, **headers}, etag=f'"{len(data)}"')
        wire.send(response(to_conditions() if is_conditional(seen) else whole))

    world.server.pages[path] = answer


@pytest.mark.parametrize("status", [412, 403])
def test_server_that_refuses_validators_gets_none(world: World, status: int):
    """No error is notified, the next check finds the change; other processes send none either."""
    body = [TEXT]
    answering(world, "/a", body, lambda: Page(b"", status=status))
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        body.append(TEXT + "<p>news</p>")
    conditional = sum(map(is_conditional, world.server.seen))
    play(world, lambda monitor: world.pass_time(monitor, 5 * HOUR))

    assert [] == world.events("page.error")
    assert 1 == len(world.changes())
    assert 1 == conditional == sum(map(is_conditional, world.server.seen))
    assert [] == world.violations()


def test_denied_page_is_requested_twice_only_the_first_time(world: World):
    """A 403 may be caused by the validators: the first one is verified without them."""
    answers = [Page(TEXT.encode(), HTML, etag='"1"')]
    world.server.pages["/a"] = lambda seen, wire: wire.send(response(answers[-1], seen))
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        answers.append(Page(b"", status=403))
        service.pass_time(2 * DAY)

    assert ["page.error"] == [e.type for e in world.events("page.error")]
    assert len(world.polls()) + 1 == len(world.server.seen)


NOTHING = {
    "nothing": b"",
    "an empty page": b"<html><body></body></html>",
    "words": b"Not Modified",
    "another tag": b"",
}


@pytest.mark.parametrize("kind", NOTHING)
@pytest.mark.parametrize("has_etag", [True, False])
def test_empty_200_instead_of_304_is_no_alarm(world: World, kind: str, has_etag: bool):
    """Its validators are not sent again, and nothing is notified."""
    tag = f'"{len(TEXT)}"' if has_etag else None
    answering(world, "/a", [TEXT], lambda: Page(NOTHING[kind], HTML, etag=tag))
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    play(world, lambda monitor: world.pass_time(monitor, 2 * DAY))

    assert [] == world.changes()
    assert [] == world.events("page.error")
    assert 1 == len(world.versions())
    assert 1 == sum(map(is_conditional, world.server.seen))


def test_empty_feed_instead_of_304_is_no_alarm(world: World):
    """Its five entries are not reported as removed."""
    feed = {"Content-Type": "application/rss+xml"}
    body = [FEED.format(ITEMS)]
    answering(world, "/f", body, lambda: Page(FEED.format("").encode(), feed, etag=f'"{len(body[0])}"'), **feed)
    world.add("Create Sentinel s Using {/f} Monitor items Fetch every 1 hour")

    play(world, lambda monitor: world.pass_time(monitor, 2 * DAY))

    assert [] == world.changes()


def test_doubtful_page_is_polled_without_validators(world: World):
    """An empty body with a new ETag is doubted; the second poll is unconditional."""
    answering(world, "/a", [TEXT], lambda: Page(b"", HTML, etag='"other"'))
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    play(world, lambda monitor: world.pass_time(monitor, 2 * DAY))

    assert [] == world.changes()
    assert [] == world.events("page.error")


def test_page_whose_etag_never_changes_is_watched(world: World):
    """A change under the same ETag is notified at the check that finds it."""
    body = [TEXT]
    answering(world, "/a", body, lambda: Page(body[-1].encode(), HTML, etag='"1"'), ETag='"1"')

    def answer(seen: Seen, wire: Wire) -> None:
        wire.send(response(Page(body[-1].encode(), {**HTML, "ETag": '"1"'})))

    world.server.pages["/a"] = answer
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(2 * HOUR)
        for n in range(5):
            body.append(f"{TEXT}<p>news {n}</p>")
            service.pass_time(HOUR)

    assert 5 == len(world.changes())
