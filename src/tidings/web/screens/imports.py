"""Import a file of another program: what each of its jobs would become, then the sentinels."""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from tidings.service.imports.upload import Upload, UploadResult, import_upload
from tidings.web import request_body
from tidings.web.markup.translations import sentence, translate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.service.sentinels.author import Author
    from tidings.web.request_body import SentFile
    from tidings.web.screens.desk import Desk

SHOWN: Final = 100
"""Most jobs listed of a grade."""
GRADES: Final[Mapping[str, tuple[str, str, str]]] = {
    "refused": ("alert", "bad", sentence("Left out")),
    "approximated": ("wave", "warn", sentence("Differ")),
    "translated": ("check", "ok", sentence("Mean the same")),
}
"""The grades, the worst first: icon, tone and heading."""


async def show(request: Request, desk: Desk) -> Response:
    """Return the form."""
    return await _screen(request, desk)


async def act(request: Request, desk: Desk) -> Response:
    """Show what a sent file would become, or import the file that was shown."""
    form, files = await request_body.read_files(request)
    asker, learns = request.state.asker, form.one("schedule") == "learn"
    copy, is_dry = form.one("copy"), form.one("act") != "import"
    file = files.get("file") or (desk.uploads.get(copy, asker.owner_id) if copy else None)
    if file is None:
        gone = translate("The file is no longer here. Choose it again.") if copy else translate("Choose a file first.")
        return await _screen(request, desk, problem=gone)
    found = await _take(desk, file, asker.author, learns=learns, is_dry=is_dry)
    if found.problem:
        return await _screen(request, desk, problem=found.problem)
    if not is_dry:
        desk.uploads.drop(copy)
        desk.forget_recent()
        return await _screen(request, desk, found=found, learns=learns, is_stored=True)
    copy = copy if copy and "file" not in files else desk.uploads.keep(file, asker.owner_id)
    return await _screen(request, desk, found=found, copy=copy, learns=learns)


async def _take(desk: Desk, file: SentFile, author: Author, *, learns: bool, is_dry: bool) -> UploadResult:
    upload = Upload(
        desk.statement_settings, file.name, file.content, desk.clock.wall(), author, learns=learns, is_dry=is_dry
    )
    return await desk.work_apart(import_upload, upload, author.owner_id)


async def _screen(
    request: Request,
    desk: Desk,
    *,
    found: UploadResult | None = None,
    copy: str = "",
    problem: str = "",
    **values: Any,
) -> Response:
    jobs = [] if found is None else found.jobs
    counts = Counter(one.grade for one in jobs)
    groups = [
        (grade, *row, counts[grade], [one for one in jobs if one.grade == grade][:SHOWN])
        for grade, row in GRADES.items()
        if counts[grade]
    ]
    return await desk.page(
        request,
        "imports.html",
        title=translate("Import"),
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        found=found,
        groups=groups,
        known=sum(one.is_known for one in jobs),
        copy=copy,
        problem=problem,
        is_stored=values.get("is_stored", False),
        learns=values.get("learns", False),
    )
