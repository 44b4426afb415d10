from __future__ import annotations

from importlib import metadata

import pytest

from tests.stores import World, products
from tidings.fetching.address import identify
from tidings.fetching.browser import chromium
from tidings.model.watch.asking import Asking
from tidings.model.watch.sentinel import FetchOnChange, Interest, Sentinel, Watched
from tidings.service.health import browser
from tidings.storage.watches import sentinels

__all__ = ["products"]

GONE = "no Chromium was found on PATH"


@pytest.fixture
def world(products, tmp_path):
    with products.fresh("sqlite", tmp_path / "data") as settings:
        world = World(settings)
        yield world
        world.database.close()


def watch_rendered(world: World) -> None:
    page = Watched("http://app.example/")
    asking = Asking(render="browser")
    sentinel = Sentinel(name="app", pages=(page,), monitor=Interest("any"), fetch=FetchOnChange(), asking=asking)
    world.write(
        sentinels.create,
        sentinel,
        text="Create Sentinel app Using http://app.example/ Monitor any change Render browser",
        pages=[(page, identify(page.url, asking))],
        state="enabled",
        start_at=None,
        end_at=None,
        at=world.at,
    )


def find(world: World):
    (finding,) = world.read(lambda c: list(browser.findings(c, settings=world.settings)))
    return finding


def test_a_browser_that_is_not_there_is_a_fault_only_if_a_page_needs_it(world, monkeypatch):
    """Doctor says what to install, and how many pages wait for it."""
    monkeypatch.setattr(chromium, "lack", lambda settings: GONE)
    before = find(world)
    watch_rendered(world)
    after = find(world)

    assert ("ok", f"not needed; {GONE}") == (before.status, before.detail)
    assert ("fail", f"1 page is rendered, but {GONE}", browser.MEND) == (after.status, after.detail, after.mend)


@pytest.mark.parametrize(("root", "statuses"), [(True, ("ok", "warn")), (False, ("ok", "ok"))])
def test_doctor_says_that_root_has_no_sandbox(world, monkeypatch, root, statuses):
    """The browser's place is told; as root its missing sandbox is a warning once pages are rendered."""
    monkeypatch.setattr(chromium, "lack", lambda settings: "")
    monkeypatch.setattr(chromium, "find", lambda settings: "/usr/bin/chromium")
    monkeypatch.setattr(chromium, "is_root", lambda: root)
    monkeypatch.setattr(metadata, "version", lambda name: "1.65.2")
    before = find(world)
    watch_rendered(world)
    after = find(world)

    assert statuses == (before.status, after.status)
    assert all("/usr/bin/chromium, by playwright 1.65.2" in finding.detail for finding in (before, after))
    assert root == (browser.NO_SANDBOX in after.detail)
