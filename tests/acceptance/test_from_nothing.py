"""Promise: a page that is empty or missing at its first check is reported so, and its later content
is notified.
"""

from __future__ import annotations

import pytest

from tests.fakes import Page
from tests.world import World, serve
from tidings.clock import HOUR, MINUTE

FULL = "<html><head><title>Recalls</title></head><body><ul><li>Recall of the red lamp</li></ul></body></html>"
EMPTY = {
    "a list without items": "<html><head><title>Recalls</title></head><body><ul></ul></body></html>",
    "no bytes": "",
    "a comment": "<html><body><!-- soon --></body></html>",
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("monitor_text", ["any change", 'any change where contains "recall"'])
def test_content_after_an_empty_baseline_is_notified(world: World, name: str, monitor_text: str):
    """An empty page is a baseline from its first check on."""
    world.page("/p", EMPTY[name])
    world.add(f"Create Sentinel a Using {{/p}} Monitor {monitor_text} Fetch every 1 hour Notify By console")

    with serve(world) as service:
        service.settle()
        world.page("/p", FULL)
        service.pass_time(HOUR + MINUTE)

    assert [True] == ["empty now" in e.data["note"] for e in world.events("page.first")]
    assert 1 == len(world.changes())
    assert "Recall of the red lamp" in str(world.changes())
    assert [] == world.violations()


@pytest.mark.parametrize(("status", "hours"), [(404, 1), (500, 12)])
def test_page_that_appears_after_an_error_is_notified_with_its_first_words(world: World, status: int, hours: int):
    """This holds however short the page was missing."""
    world.server.pages["/p"] = Page(b"not here", status=status)
    world.add("Create Sentinel a Using {/p} Monitor any change Fetch every 1 hour Notify By console")

    with serve(world) as service:
        service.settle()
        service.pass_time(hours * HOUR - 59 * MINUTE)
        world.page("/p", FULL)
        service.pass_time(48 * HOUR)

    assert 1 == world.console.getvalue().count('the page now exists, it begins "Recall of the red lamp"')
    assert [] == world.violations()
