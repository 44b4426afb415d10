"""`tidings search QUERY`: full-text search of all stored versions, now or on a past day."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from typing import TYPE_CHECKING

from tidings.cli.arguments import add_limit
from tidings.cli.output import add_json, progress, short_time, write_beside, write_json, write_line
from tidings.clock import SystemClock
from tidings.errors import StoreError, UsageError
from tidings.language.times import read_moment
from tidings.service.run.indexer import open_indexer
from tidings.service.search import asking
from tidings.service.show.finding import spell_count
from tidings.storage.db.database import open_database
from tidings.storage.search.log import SearchLog
from tidings.storage.watches.events import OWNER
from tidings.storage.write.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.search.snippets import Stretch
    from tidings.service.search.asking import SearchAnswer, SearchRequest
    from tidings.settings import Settings


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "query",
        nargs="*",
        metavar="QUERY",
        help='what to search for: words, "a phrase", this OR that, begin*, site:example.org; to exclude a word, write -- coffee -decaf',
    )
    parser.add_argument(
        "--at", metavar="DATE", help="search the versions at the end of this day, or at this time, e.g. 2026-03-01"
    )
    parser.add_argument(
        *("--changed-since", "--since"),
        metavar="WHEN",
        help="find only pages whose text has changed since this day, e.g. yesterday or 7d",
    )
    parser.add_argument("--site", default="", metavar="HOST", help="find only pages of this site and its subdomains")
    parser.add_argument("--sentinel", default="", metavar="NAME", help="find only pages of this sentinel")
    parser.add_argument("--tag", default="", metavar="TAG", help="find only pages of sentinels with this tag")
    parser.add_argument(
        "--kind",
        default="",
        metavar="KIND",
        help="find only documents of this kind: html, feed, json, xml, csv, pdf, text or binary",
    )
    parser.add_argument("--rebuild", action="store_true", help="build the index again from the stored data")
    add_limit(parser, 10, "the N best results")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the results; return 1 if there are none."""
    if not arguments.query and not arguments.rebuild:
        raise UsageError("give words to search for: tidings search WORDS")
    return asyncio.run(_run(arguments, settings))


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    async with open_indexer(settings, at_once=settings.detect.workers) as (index, indexer):
        if arguments.rebuild:
            await indexer.rebuild()
        behind = await indexer.behind()
        await indexer.catch_up(lambda added: progress(f"indexing {added:,} of {behind:,} versions"))
        progress.clear()
        if arguments.rebuild:
            texts, newest = index.count()
            line = f"{texts:,} texts, {newest:,} of them from the newest versions, in {index.size():,} bytes"
            if arguments.json:
                write_json({"record": "index", "texts": texts, "newest": newest, "bytes": index.size()})
            else:
                write_line(line)
        if not arguments.query:
            return 0
        store = Store(open_database(settings, create=False))
        try:
            answer = await asking.ask(store, index, _make_request(arguments, settings), now=SystemClock().now())
        finally:
            await store.close()
    for result in answer.results if arguments.json else ():
        write_json(asking.record(result))
    if not arguments.json:
        _print(answer, at=arguments.at)
    if settings.search.log:
        _note(answer, settings)
    return 0 if answer.results else 1


def _note(answer: SearchAnswer, settings: Settings) -> None:
    """Log the search; errors are ignored."""
    try:
        with contextlib.closing(SearchLog(settings.data)) as log:
            log.note_search(str(answer.query), owner_id=OWNER, at=SystemClock().now())
    except StoreError as error:
        write_beside(f"warning: this search is not counted: {error}")


def _make_request(arguments: argparse.Namespace, settings: Settings) -> SearchRequest:
    zone, at, since = settings.serve.zone, arguments.at, arguments.changed_since
    now = SystemClock().now()
    return asking.SearchRequest(
        text=" ".join(arguments.query),
        site=arguments.site,
        sentinel=arguments.sentinel,
        tag=arguments.tag,
        kind=arguments.kind,
        at=None if at is None else read_moment(at, zone, now, is_end=True),
        changed_since=None if since is None else read_moment(since, zone, now),
        limit=arguments.limit,
    )


def _print(answer: SearchAnswer, *, at: str | None) -> None:
    for result in answer.results:
        since = short_time(asking.record(result)["since"])[:10]
        write_line(f"{result.rank}. {_spell(result.title)}")
        until = (
            ""
            if at is None or result.text.until is None
            else f" until {short_time(asking.record(result)['until'])[:10]}"
        )
        write_line(f"   {result.page.url}  ·  {', '.join(result.page.sentinels)}  ·  since {since}{until}")
        if result.snippet:
            write_line(f"   {_spell(result.snippet)}")
    if not answer.results:
        when = f" on {at}" if at else ""
        write_line(f"no watched page contains {answer.query}{when}")
        if answer.suggested:
            write_beside(f"did you mean {answer.suggested}?")
        write_beside(
            "`tidings changes --limit 0` lists all that was reported; --at DATE searches the versions of a day"
        )
        return
    more = answer.count - len(answer.results)
    sites = ", ".join(f"{count:,} of {host}" for host, count in answer.sites[:5])
    write_line()
    rest = f", {more:,} more with --limit 0" if more else ""
    write_line(f"{spell_count(answer.count, 'page')}{rest}: {sites}")


def _spell(stretches: Sequence[Stretch]) -> str:
    """Return a snippet as one text; matches are in square brackets where bold is not possible."""
    return "".join(f"[{piece}]" if is_hit else piece for piece, is_hit in stretches)
