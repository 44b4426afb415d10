"""A page, its host, and their known state."""

from __future__ import annotations

from typing import Final, Literal

from tidings.model.interval import Instant
from tidings.model.observed.outcome import Validators
from tidings.model.watch.asking import BrowserStep, Header, Login, Value
from tidings.record import dataclass

Health = Literal["ok", "shaky", "error"]
MOVED_SIGHTS: Final = 3
"""Consecutive permanent redirects after which a page counts as moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIdentity:
    """What makes two requests the same page (contracts §3); `key` is the digest of all fields.

    `url` is the rebuilt URL without fragment, `given` the address as the user wrote it, `host` the
    registered domain, or `address:port` for an IP literal. Headers, body and proxy hold plain texts
    and *references* to secrets, so that rotating a secret changes no page; `owner_id` is set if a
    secret or a cookie is among them.
    """

    key: str
    url: str
    given: str
    host: str
    method: str = "GET"
    body: Value | None = None
    render: str = ""
    frames: int = 0
    headers: tuple[Header, ...] = ()
    trust: str = ""
    proxy: Value | None = None
    login: Login | None = None
    steps: tuple[BrowserStep, ...] = ()
    owner_id: int | None = None


@dataclass(frozen=True, slots=True)
class Saturation:
    """Whether a page differs at every poll (`estimation.saturation`).

    How many polls in a row found a difference, how many of these followed directly on another,
    since when the page counts as saturated (None: it does not), and how many polls have found
    nothing new since.
    """

    polls: int = 0
    soon: int = 0
    quiet: int = 0
    since: Instant | None = None


LOST_BODY = -2
"""The size of a body that was stored and cannot be read any more; -1: there is none."""
NO_FURTHER = "the budget did not allow a further request"
"""How the reason of a poll begins that needed more requests than could be paid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageState:
    """The part of a page's row that polls change. Times are instants, None if it has not happened.

    `body_size` and `body_xxh3` (hex) are gate 0; `last_seq` numbers its versions 1, 2, 3 without a
    gap. `polled_at` is the last attempt, `checked_at` the last successful poll, `changed_at` the
    last new version, `text_changed_at` the last change of text. `audited_at` is the last whole
    answer to an unconditional request. `suspect_*` describe a body that is withheld until a second
    poll confirms it (quarantine). `fresh_until` is the end of the last good answer's freshness;
    while `fresh_doubt` is above 0 it is ignored. `health` and `kind` are the state machine of
    sentinels §5.3, `failures` the consecutive failures. `problem` is why its newest version cannot
    be compared, empty if it can.
    """

    page_id: int
    last_seq: int = 0
    body_size: int = -1
    body_xxh3: str = ""
    text_digest: str = ""
    charset: str = ""
    title: str = ""
    final_url: str = ""
    validators: Validators = Validators()
    polled_at: Instant | None = None
    checked_at: Instant | None = None
    changed_at: Instant | None = None
    text_changed_at: Instant | None = None
    health: Health = "ok"
    kind: str = ""
    reason: str = ""
    failures: int = 0
    failing_since: Instant | None = None
    retry_at: Instant | None = None
    polls: int = 0
    changes: int = 0
    unconditional_in: int = 0
    honest_streak: int = 0
    audited_at: Instant | None = None
    suspect_kind: str = ""
    suspect_sha256: str = ""
    suspect_at: Instant | None = None
    fresh_until: Instant | None = None
    fresh_doubt: int = 0
    moved_to: str = ""
    moved_at: Instant | None = None
    moved_sights: int = 0
    saturation: Saturation = Saturation()
    problem: str = ""

    @property
    def lacks_body(self) -> bool:
        """Return whether the body of its newest version is lost: the next poll fetches it anew."""
        return self.body_size == LOST_BODY

    @property
    def lacks_budget(self) -> bool:
        """Return whether its last poll failed because the budget did not allow a further
        request.
        """
        return self.kind == "busy" and self.reason.startswith(NO_FURTHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostState:
    """The stored state of a host, so that its limits hold across restarts.

    `unconditional_at` is when its answers to conditional requests were found unusable; None if they
    are usable.
    """

    name: str
    started_at: Instant | None = None
    paused_until: Instant | None = None
    failures: int = 0
    robots: bytes | None = None
    robots_status: str = ""
    robots_at: Instant | None = None
    unconditional_at: Instant | None = None
