"""Fewer changes like this one: what a proposal would have hidden in 30 days, shown before it is
applied.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from markupsafe import Markup
from starlette.responses import RedirectResponse

from tidings.clock import DAY
from tidings.errors import TidingsError
from tidings.presentation.edits import LISTS, edits_of
from tidings.record import dataclass, replace
from tidings.service.explain import fewer
from tidings.service.show.records import change_record
from tidings.storage.observed import versions
from tidings.storage.watches import changes, inbox, sentinels
from tidings.web import request_body
from tidings.web.markup import lines
from tidings.web.markup.translations import sentence, translate
from tidings.web.problems import ProblemError
from tidings.web.screens.sentinel import alter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.model.interval import Instant
    from tidings.model.observed.version import Version
    from tidings.service.explain.fewer import Proposal
    from tidings.service.show.records import Record
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.changes import StoredChange
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.web.screens.desk import Desk

SINCE: Final = 30 * DAY
MOST: Final = 40
"""Number of newest changes that are compared again."""
EDITS: Final = 3
"""Most edits of a change that are offered as irrelevant."""
NAMES: Final = {"noise": sentence("Not relevant"), "size": sentence("Quiet until more")}


@dataclass(frozen=True, slots=True)
class _FoundProposals:
    change: StoredChange
    owner: SentinelRow
    others: Sequence[StoredChange]


@dataclass(frozen=True, slots=True)
class Preview:
    """How many of the recent changes a proposal would have hidden, which remain, and how many are
    unknown.
    """

    hidden: int
    of: int
    stays: Sequence[tuple[str, Markup]]
    unknown: int


async def show(request: Request, desk: Desk) -> Response:
    """Return the proposals for a change, the selected one with its preview."""
    found = await _find(request, desk)
    how = request.query_params.get("how", "noise")
    how = how if how in NAMES else "noise"
    proposals = _proposals(found, how)
    chosen = _choose(request.query_params.get("edit", "0"), proposals) or 0
    proposal = proposals[chosen] if proposals else None
    return await desk.page(
        request,
        "fewer.html",
        title=translate(NAMES[how]),
        here="inbox",
        how=how,
        names=NAMES,
        id=found.change.row.id,
        sentinel=found.owner.name,
        line=lines.line(_record(found.change)),
        proposals=proposals,
        edits=_list_edits(found, proposals),
        chosen=chosen,
        proposal=proposal,
        preview=None if proposal is None else await _preview(desk, found, proposal),
        fewest=fewer.FEWEST,
    )


async def act(request: Request, desk: Desk) -> Response:
    """Apply a proposal to the sentinel; the inbox offers an undo."""
    found = await _find(request, desk)
    form, asker = await request_body.read_form(request), request.state.asker
    how, given = form.one("how"), form.one("edit")
    proposals = _proposals(found, how if how in NAMES else "noise")
    if (chosen := _choose(given, proposals)) is None:
        raise ProblemError(HTTPStatus.BAD_REQUEST, translate("nothing that could be left out was chosen"))
    proposal, now = proposals[chosen], desk.clock.wall()
    try:
        await desk.store.write(alter, found.owner.name, proposal.text, desk.statement_settings, now, asker)
    except TidingsError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from error
    await desk.store.write(inbox.mark, [found.change.row.id], at=now, is_read=True, reader=asker.owner_id)
    desk.forget_recent()
    return RedirectResponse(f"/sentinels/{quote(found.owner.name)}?undo={found.owner.revision}", HTTPStatus.SEE_OTHER)


async def _find(request: Request, desk: Desk) -> _FoundProposals:
    found = await desk.store.read(_read, str(request.path_params["id"]), desk.clock.wall())
    if found is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, translate("there is no such change, or its sentinel has ended"))
    return found


def _read(c: Connection, change_id: str, now: Instant) -> _FoundProposals | None:
    change = changes.get(c, change_id)
    if change is None:
        return None
    owner = sentinels.get(c, change.row.sentinel_id)
    if owner.state == "ended":
        return None
    others = [
        one for one in changes.listing(c, sentinel_id=owner.id, limit=10 * MOST) if one.row.detected_at >= now - SINCE
    ]
    return _FoundProposals(change, owner, others)


def _record(change: StoredChange) -> Record:
    return change_record(change.row, sentinel=change.sentinel, url=change.url)


def _versions(c: Connection, change: StoredChange) -> tuple[Version | None, Version | None]:
    row = change.row
    return versions.get(c, row.page_id, row.from_seq), versions.get(c, row.page_id, row.to_seq)


def _proposals(found: _FoundProposals, how: str) -> list[Proposal]:
    if how == "size":
        made = fewer.quiet_until_more(found.owner.text, [lines.words(_record(one)) for one in found.others])
        return [] if made is None else [made]
    edits, _ = edits_of(_record(found.change), most=EDITS)
    every = [made for edit in edits if (made := fewer.not_relevant(found.owner.text, edit)) is not None]
    return list({one.sentence: one for one in every}.values())


def _list_edits(found: _FoundProposals, proposals: Sequence[Proposal]) -> list[Markup]:
    """Return the edits that each proposal would ignore, in one line."""
    edits, _ = edits_of(_record(found.change), most=EDITS)
    by_text: dict[str, list[Markup]] = {}
    for edit in edits:
        if (made := fewer.not_relevant(found.owner.text, edit)) is not None:
            by_text.setdefault(made.sentence, []).append(lines.edit_line(edit))
    return [Markup("; ").join(by_text.get(one.sentence, ())) for one in proposals]


def _choose(text: str, proposals: Sequence[Proposal]) -> int | None:
    """Return the index of the proposal that a request names, None for an unknown one."""
    return next((number for number in range(len(proposals)) if str(number) == text), None)


async def _preview(desk: Desk, found: _FoundProposals, proposal: Proposal) -> Preview:
    """Compare the versions of the latest changes again, as the altered sentinel would see them."""
    after = replace(found.owner, text=proposal.text)
    hidden, unknown, stays = 0, 0, []
    checked = found.others[:MOST]
    for one in checked:
        old, new = await desk.store.read(_versions, one)
        if old is None or new is None:
            unknown += 1
            continue
        try:
            record = await desk.comparisons.two_versions(after, page_id=one.row.page_id, old=old, new=new)
        except TidingsError:
            unknown += 1
            continue
        if any(record.get(name) for name in LISTS):
            stays.append((one.row.id, lines.line(_record(one))))
        else:
            hidden += 1
    return Preview(hidden, len(checked), stays, unknown)
