"""How a page is requested: method, headers, body, frames, browser, proxy (contracts §3: most of it
identifies the page); and commands as sources of pages.

The output of a local program has an address `command:` that encodes its words. Only the sentence
`Using command "…" "…"` makes such an address; an address found on a page never counts as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, Protocol
from urllib.parse import quote, unquote

from tidings.model.interval import Duration
from tidings.record import dataclass

LONGEST_TIMEOUT: Duration = 600_000_000
"""The longest `Timeout` (µs) that a sentinel may set for a request."""


@dataclass(frozen=True, slots=True)
class Value:
    """A literal text, or, with `is_secret`, the *name* of a secret whose text is filled in when a
    request leaves.
    """

    text: str
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """A request header. Cookies are the header `Cookie`."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Login:
    """A login by a form (`Login form …`).

    `url` is the page with the form, `password` the name of the secret, `success` a CSS selector
    that matches only when logged in, empty for "no form with a password". `via` are further origins
    to which the form may send the password, and to which redirects may lead.
    """

    url: str
    user: Value
    password: str
    success: str = ""
    via: tuple[str, ...] = ()


StepVerb = Literal["click", "fill", "select", "press", "wait", "scroll"]
MOST_STEPS = 20
FEWEST_TYPED = 4
"""The least length (characters) of a secret that a step types; a shorter one occurs in any text and
cannot be masked.
"""
LONGEST_WAIT: Duration = 60_000_000
"""The longest time (µs) that one step may wait."""


@dataclass(frozen=True, slots=True)
class BrowserStep:
    """An action in the browser before a page is read (`Render browser steps (…)`).

    `place` is where, in the `language` `css`, `xpath` or `text`; both are empty for the whole page.
    `value` is what is typed, chosen or pressed. `wait` is how long a step waits (µs) that waits for
    no place.
    """

    verb: StepVerb
    language: str = ""
    place: str = ""
    value: Value | None = None
    wait: Duration = 0


Render = tuple[str, bool, tuple[BrowserStep, ...]]
"""What `Render` says: `browser` or nothing, whether a picture is stored, the steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How the pages of a sentinel are requested.

    `timeout` is for the whole request (µs; None: the setting), `trust` the path of a PEM file with
    trusted certificates, `render` is `browser` or empty, `screenshot` stores a picture of each
    rendered version. `frames` is how deep frames are followed (sentinels §5.4): 0 framesets only, 1
    nothing, 2 the page and all its frames. `robots_ignored` is why robots.txt is ignored, empty if
    it is obeyed. `login` is performed first, None if there is none. `steps` are performed in the
    browser before the page is read.
    """

    method: str = "GET"
    body: Value | None = None
    headers: tuple[Header, ...] = ()
    timeout: Duration | None = None
    trust: str = ""
    proxy: Value | None = None
    render: str = ""
    screenshot: bool = False
    steps: tuple[BrowserStep, ...] = ()
    frames: int = 0
    robots_ignored: str = ""
    login: Login | None = None


PLAIN = Asking()
"""A plain GET."""


class Asks(Protocol):
    """What has headers, a body and a proxy: an `Asking`, a page's identity."""

    @property
    def headers(self) -> tuple[Header, ...]:
        """Return the request headers."""
        ...

    @property
    def body(self) -> Value | None:
        """Return the body."""
        ...

    @property
    def proxy(self) -> Value | None:
        """Return the proxy's address."""
        ...

    @property
    def login(self) -> Login | None:
        """Return the login."""
        ...

    @property
    def steps(self) -> tuple[BrowserStep, ...]:
        """Return the browser steps."""
        ...


def secret_names(asks: Asks) -> tuple[str, ...]:
    """Return the names of the secrets that a request needs, without duplicates."""
    values = [*(header.value for header in asks.headers), asks.body, asks.proxy]
    if asks.login is not None:
        values += [asks.login.user, Value(asks.login.password, is_secret=True)]
    values += [step.value for step in asks.steps]
    return tuple(dict.fromkeys(value.text for value in values if value is not None and value.is_secret))


SCHEME: Final = "command:"
HOST: Final = "command"
"""The host of all commands: it has no gap, since no server is asked."""
_PLAIN: Final = "/-_.:=,@+~"


def is_command(url: str) -> bool:
    """Return whether an address is that of a command."""
    return url[: len(SCHEME)].lower() == SCHEME


def url_of(argv: Sequence[str]) -> str:
    """Return the address of a command; equal words give equal addresses."""
    import shlex

    return SCHEME + quote(shlex.join(argv), safe=_PLAIN)


def argv_of(url: str) -> tuple[str, ...]:
    """Return the words of the command at an address. Raise `ValueError` if it has none."""
    import shlex

    argv = tuple(shlex.split(unquote(url[len(SCHEME) :], errors="strict")))
    if not argv or not argv[0]:
        message = "it names no program"
        raise ValueError(message)
    return argv
