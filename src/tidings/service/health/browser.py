"""Rendering: can pages be shown by a browser here? A finding of `doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from typing import TYPE_CHECKING

from tidings.fetching.browser import chromium
from tidings.service.show.finding import Finding, fail, ok, spell_count, warn
from tidings.storage.observed import pages

if TYPE_CHECKING:
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection

MEND = "python -m pip install 'tidings[browser]'; apt-get install chromium"
NO_SANDBOX = "as root it runs without its sandbox"


def findings(c: Connection, *, settings: Settings) -> Iterator[Finding]:
    """Yield whether the browser and the extra are there; a fault only if a page needs them."""
    rendered = sum(1 for identity, _ in pages.population(c) if identity.render)
    missing = chromium.lack(settings.fetch)
    needs = f"{spell_count(rendered, 'page')} {'is' if rendered == 1 else 'are'} rendered"
    if missing:
        yield fail("browser", f"{needs}, but {missing}", MEND) if rendered else ok("browser", f"not needed; {missing}")
        return
    found = f"{chromium.find(settings.fetch)}, by playwright {metadata.version('playwright')}"
    if not chromium.is_root():
        yield ok("browser", f"{found}; {needs}")
    elif rendered:
        yield warn("browser", f"{found}; {needs}, and {NO_SANDBOX}", "run Tidings as a user of its own")
    else:
        yield ok("browser", f"{found}; not needed ({NO_SANDBOX})")
