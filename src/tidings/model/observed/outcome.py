"""How a fetch ended. Ordinary outcomes are values: `Unchanged | Fetched | Failed`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from tidings.model.interval import Duration, Instant
from tidings.model.secret import Cookie, Secret
from tidings.model.watch.asking import StepVerb
from tidings.record import dataclass

ErrorKind = Literal[
    "net",
    "address",
    "busy",
    "denied",
    "blocked",
    "404",
    "410",
    "5xx",
    "redirect",
    "size",
    "robots",
    "request",
    "framing",
    "encoding",
    "secret",
    "login",
    "command",
    "fault",
    "disk",
    "damaged",
]
"""Why a page could not be checked. `login`: it was lost. `command`: it failed or did not end.
`fault`: of Tidings itself.
`disk`: what came could not be stored. `damaged`: what is stored of the page makes no
sense. `busy`: 408 425 429 503; `address`: refused
by the guard."""

Conditions = Literal["", "answered", "refused"]
"""What became of the validators that were sent: none were, the answer heeds them, or it came only without them."""

Framing = Literal["length", "chunked", "encoded", "unframed"]
"""How the end of a body was known. `encoded`: only by the end of its Content-Encoding; `unframed`: only by the connection's end."""


@dataclass(frozen=True, slots=True)
class Validators:
    """What the server gave to ask again with, byte for byte; they save work and never prove change."""

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        return bool(self.etag or self.last_modified)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormLogin:
    """How to log in by a form before a page is asked for, with the secrets put in.

    `secret` is the name of the password's secret, which was set at `set_at`; what is kept of the
    login is kept by it, by `owner_id`, by the origin of `url` and by `user`.
    """

    url: str
    user: str | Secret
    password: Secret
    secret: str
    set_at: Instant
    owner_id: int
    success: str = ""
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """A step in the browser with its secret put in; `text` is how the language writes it.

    `place` is a selector with its language before it (`css=#more`), empty for the whole page;
    `wait` is in µs.
    """

    text: str
    verb: StepVerb
    place: str = ""
    value: str | Secret = ""
    wait: Duration = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """One page to be asked for; `url` is already rebuilt (contracts §3). `validators` make it conditional.

    `final_url` is the address that gave the validators, if not `url` itself: they are sent to no other one, since after a redirect
    elsewhere they would say nothing of the page. Headers, body and `cookies` (those that fit each request) are for the origin of `url`
    alone. `timeout` is the time for all of it (µs; None: the setting), `trust` the path of a PEM file. `render` is `browser` for a page
    as a browser shows it, with a picture of it if `screenshot` is set; then validators are not used.
    `steps` are done in the browser before the page is read.
    `login` is done first where it has to be; `origins` are those to which redirects may lead (None:
    any).
    Without `obey_robots` nobody asks for robots.txt; with `robots_ignored` it is read, for its Crawl-delay alone, at the page's own host.
    """

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str | Secret], ...] = ()
    body: str | Secret | None = None
    cookies: tuple[Cookie, ...] = ()
    timeout: Duration | None = None
    trust: str = ""
    proxy: str | Secret = ""
    validators: Validators = Validators()
    final_url: str = ""
    obey_robots: bool = True
    robots_ignored: bool = False
    render: str = ""
    screenshot: bool = False
    steps: tuple[PlayedStep, ...] = ()
    login: FormLogin | None = None
    origins: frozenset[str] | None = None


SECRET_HEADERS: Final = frozenset(
    """set-cookie set-cookie2 cookie authorization proxy-authorization authentication-info proxy-authentication-info www-authenticate
    proxy-authenticate x-csrf-token x-xsrf-token x-auth-token x-access-token x-api-key x-amz-security-token""".split()
)
"""Headers of answers that may hold a secret, in small letters: never kept, compared or told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """304: the server says that the body is the one we have. `fresh`, `pause` and `headers` as in `Fetched`; a header that is not repeated stands."""

    final_url: str
    hops: tuple[str, ...] = ()
    requests: int = 1
    wire_bytes: int = 0
    moved: str = ""
    validators: Validators = Validators()
    fresh: Duration | None = None
    status: int = 304
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: Duration | None = None
    cookies: tuple[Cookie, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A whole body: framing and decoders both ended cleanly. `body` is after Content-Encoding, before charset.

    `fresh` is how long (µs) the server says that this answer stays true, None if it says nothing of it. Of a rendered page `body` is
    what a browser shows, as HTML in UTF-8, and `screenshot` its picture (WebP), if one was asked for and could be had.

    `pause` is how long (µs) the host is to be left alone since its limit of requests is used up, None if it says nothing of that.
    `conditions` says what became of the request's validators.

    `moved` is the address to which permanent redirects (301, 308) led from the page's own, empty if it did not point on for good.
    """

    body: bytes
    final_url: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str | None = None
    hops: tuple[str, ...] = ()
    requests: int = 1
    wire_bytes: int = 0
    framing: Framing = "length"
    encoding: str = ""
    moved: str = ""
    validators: Validators = Validators()
    fresh: Duration | None = None
    pause: Duration | None = None
    conditions: Conditions = ""
    screenshot: bytes = b""
    cookies: tuple[Cookie, ...] = ()
    """what servers have set on the way, where the request has a login"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No body that counts. `reason` is a sentence for people, `retry_after` what the server asked for (µs), if it did.

    `reached` says of a failure of kind `net` that the host was there all the same: it refused, or closed the connection.
    """

    kind: ErrorKind
    reason: str
    status: int | None = None
    retry_after: Duration | None = None
    final_url: str | None = None
    hops: tuple[str, ...] = ()
    reached: bool = False
    requests: int = 1
    wire_bytes: int = 0


Outcome = Unchanged | Fetched | Failed
