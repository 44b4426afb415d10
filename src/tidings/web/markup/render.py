"""From values to a page: the templates, the frame of every screen, and its content security policy.

Scripts, stylesheets and pictures come from this service only, none inline. `STATIC` is served under
`/static/HASH/NAME` and may be cached for ever.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import mimetypes
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from tidings import __version__
from tidings.model.watch.sentinel import State
from tidings.notification.channel import KINDS
from tidings.settings import table
from tidings.web.markup import formats
from tidings.web.markup.sentences import Sentences, catalogue
from tidings.web.markup.translations import draw, get_language, translate
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.requests import Request


HERE: Final = Path(__file__).parent
STATIC: Final = HERE / "static"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a screen may do in a browser."""
LEAST_PACKED: Final = 512
"""Smallest body, in bytes, worth compressing."""
LEVEL: Final = 5
_FOR_EVER: Final = "public, max-age=31536000, immutable"


@cache
def environment() -> Environment:
    """Return the templates; every value is escaped unless it is `Markup`."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[Sentences],
    )
    made.filters.update(span=formats.span, number=formats.number, text=formats.text, brief=formats.brief)
    made.globals.update(
        _=draw, count=formats.count, translate=translate, version=__version__, asset=asset, language=get_language
    )
    return made


def _list_tables() -> Iterator[str]:
    """Yield the sentences of tables that screens show: help of settings, states of sentinels."""
    yield from (row.help for row in table())
    yield from get_args(State)
    yield from sorted(KINDS)


_SERVICE: Final = (
    "archive/*.py", "bus/*.py", "detection/ask/*.py", "detection/data/differences.py", "detection/data/tabular.py",
    "detection/doubt/*.py", "detection/job/*.py", "detection/kinds/*.py", "detection/noise/*.py", "document/**/*.py",
    "fetching/**/*.py", "isolation/*.py", "language/**/*.py", "model/**/*.py", "notification/*.py", "presentation/**/*.py",
    "scheduling/bounds/*.py", "search/*.py", "service/*.py", "service/collections/*.py", "service/examine/*.py",
    "service/explain/*.py", "service/health/*.py", "service/imports/*.py", "service/machines/*.py", "service/notify/*.py",
    "service/on_demand/*.py", "service/people/*.py", "service/plan/*.py", "service/poll/*.py", "service/rules/*.py",
    "service/run/*.py", "service/search/*.py", "service/secrets/*.py", "service/sentinels/*.py", "service/show/*.py",
    "service/sources/*.py", "service/upkeep/*.py", "service/watch/*.py", "storage/*.py", "storage/*/*.py", "web/*.py",
    "errors.py", "registry.py",
)  # fmt: skip
"""The modules whose sentences screens show: troubles, reasons, findings, problems."""


def _list_service() -> list[Path]:
    return sorted({path for pattern in _SERVICE for path in HERE.parents[1].glob(pattern)})


def write_catalogue() -> str:
    """Return the content of `translations/en.json`: every sentence of the screens, in English."""
    return (
        json.dumps(
            catalogue(
                environment(), HERE.parent, HERE.parents[1] / "service" / "health", _list_service(), _list_tables()
            ),
            ensure_ascii=False,
            indent=1,
            sort_keys=True,
        )
        + "\n"
    )


@cache
def asset(name: str) -> str:
    """Return the address of a file of `static/`, with the file's hash, so that it may be cached for
    ever.
    """
    return f"/static/{hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]}/{name}"


async def static(request: Request, desk: object) -> Response:
    """Respond with a file of `static/`. Raises `ProblemError` (404) for any other.

    Under the hash of another version, as in an upgrade of several processes, it is not cached.
    """
    del desk
    name = str(request.path_params["name"])
    if name not in {path.name for path in STATIC.iterdir()}:
        raise ProblemError(HTTPStatus.NOT_FOUND, "not found")
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    caching = _FOR_EVER if request.url.path == asset(name) else "no-store"
    return pack(request, (STATIC / name).read_bytes(), HTTPStatus.OK, {"cache-control": caching}, kind)


def pack(request: Request, body: bytes, status: int, headers: Mapping[str, str], media_type: str) -> Response:
    """Return a response, compressed if the client accepts it. Never mixes attacker-chosen text with
    a secret.

    Args:
        request: The request.
        body: The uncompressed body.
        status: The status of the response.
        headers: Further headers.
        media_type: The media type of the body.
    """
    coding: dict[str, str] = {}
    if "gzip" in request.headers.get("accept-encoding", "") and len(body) > LEAST_PACKED:
        body, coding = gzip.compress(body, LEVEL, mtime=0), {"content-encoding": "gzip"}
    return Response(body, status, {**headers, **coding, "vary": "accept-encoding"}, media_type)
