"""`tidings queries`: the searches on this machine and the pages worth a check because of them;
import another log, delete this one.
"""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING

from tidings.cli.arguments import add_limit, read_text
from tidings.cli.output import add_json, table, write_json, write_line
from tidings.clock import SystemClock
from tidings.errors import UsageError
from tidings.search.ranking import LEAST_CLICKS
from tidings.service.search import appraise as workloads
from tidings.service.search.appraise import rates
from tidings.service.show.finding import spell_count
from tidings.storage.db.database import open_database
from tidings.storage.observed import pages
from tidings.storage.search.index import SearchIndex
from tidings.storage.search.log import SearchLog, has_log
from tidings.storage.watches.events import OWNER

if TYPE_CHECKING:
    from tidings.settings import Settings

ACTIONS = ("list", "pages", "import", "erase")
_NOTHING = "nothing was searched for yet"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=ACTIONS,
        default="list",
        help="list: list the searches (default); pages: list the pages whose changes matter most to searchers; import: import searches; erase: erase all",
    )
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="for import: a CSV with the columns query and frequency, or one query on each line",
    )
    add_limit(parser, 50, "the N most frequent searches")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run one of them."""
    if (arguments.action == "import") != (arguments.file is not None):
        needs = "needs a FILE" if arguments.action == "import" else "takes no file"
        raise UsageError(f"tidings queries {arguments.action} {needs}")
    if arguments.action != "import" and not has_log(settings.data):
        if not arguments.json:
            write_line(_NOTHING)
        return 0
    rows = list(workloads.rows_of(read_text(arguments.file))) if arguments.action == "import" else []
    if not settings.data.is_dir():
        raise UsageError(f"there is no data directory {settings.data}; `tidings add URL` makes one")
    log = SearchLog(settings.data)
    try:
        match arguments.action:
            case "import":
                count = log.bring(rows, owner_id=OWNER, at=SystemClock().now())
                write_line(f"{spell_count(count, 'query', 'queries')} counted")
            case "pages":
                _pages(settings, limit=arguments.limit, as_json=arguments.json)
            case "erase":
                write_line(f"{spell_count(log.erase(), 'query', 'queries')} forgotten")
            case _:
                _list(log, settings, limit=arguments.limit, as_json=arguments.json)
    finally:
        log.close()
    return 0


def _pages(settings: Settings, *, limit: int, as_json: bool) -> None:
    """Print the pages whose refreshes improve search results most."""
    with contextlib.closing(SearchIndex(settings.data)) as index:
        found = list(rates(index, at=SystemClock().now()))[:limit]
    with contextlib.closing(open_database(settings, create=False)) as database:
        known = {one[0]: database.read(pages.identity, one[0]).given for one in found}
    if as_json:
        for page_id, gained, a_day in found:
            record = {"record": "gain", "page": str(page_id), "url": known[page_id]}
            write_json({**record, "gained": gained, "a_day": a_day})
        return
    if not found:
        write_line("no page has changed since counting began")
        return
    table(
        [(f"{gained:.3g}", f"{a_day:.3g}", known[page_id]) for page_id, gained, a_day in found],
        ("GAINED", "A DAY", "PAGE"),
    )


def _list(log: SearchLog, settings: Settings, *, limit: int, as_json: bool) -> None:
    index = SearchIndex(settings.data)
    try:
        found = workloads.workload(index, log, at=SystemClock().now())
    finally:
        index.close()
    shown = found.queries[:limit]
    if as_json:
        for one in shown:
            record = {"record": "query", "query": one.logged.text, "searches": one.logged.searches}
            write_json({**record, "counts": one.logged.weight, "score": one.score, "kept": one.is_kept})
        return
    if not shown:
        write_line(_NOTHING)
        return
    rows = [
        (f"{one.logged.searches:,}", f"{one.logged.weight:.1f}", "yes" if one.is_kept else "no", one.logged.text)
        for one in shown
    ]
    table(rows, ("SEARCHES", "COUNTS", "OF THESE PAGES", "QUERY"))
    fitted = (
        "fitted" if found.clicks >= LEAST_CLICKS else f"usual; Tidings learns it after {LEAST_CLICKS:,} opened results"
    )
    opened = spell_count(found.clicks, "result")
    write_line()
    write_line(f"{opened} opened; a result at rank r has the weight r^-{found.exponent:.2f} ({fitted})")
