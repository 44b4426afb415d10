"""Input and output types of the API: requests are parsed by them (unknown fields are refused), and
the OpenAPI document is generated from them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Limit = Annotated[int, Meta(ge=1, le=500, description="how many at most")]
NO_NUL = r"^[^\x00]*$"
Cursor = Annotated[str, Meta(max_length=200, pattern=NO_NUL, description="`next` of the page before")]
Words = Annotated[str, Meta(max_length=200, pattern=NO_NUL)]
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=NO_NUL)]
Moment = datetime | None
Role = Literal["reader", "editor", "admin"]
Scope = Literal["read", "edit", "admin"]


class Taken(Struct, kw_only=True, forbid_unknown_fields=True):
    """A request's input."""


class Given(Struct, kw_only=True):
    """A response."""


class Nothing(Taken):
    """No query."""


class Listing(Taken):
    """One page of a list."""

    limit: Limit = 50
    cursor: Cursor = ""


class SentinelQuery(Listing):
    """Filter of sentinels."""

    q: Words = ""
    tag: Words = ""
    state: Literal["living", "enabled", "disabled", "created", "waiting", "ended", "all"] = "living"


class CollectionQuery(Listing):
    """Which pages of a collection: words of title or address."""

    q: Words = ""


class ChangeQuery(Listing):
    """Filter of changes."""

    sentinel: Words = ""
    tag: Words = ""
    kind: Words = ""
    q: Words = ""
    shown: Literal["unread", "kept", "all", "quiet"] = "all"
    since: Annotated[str, Meta(max_length=40, extra_json_schema={"format": "date-time"})] | None = None


class SearchQuery(Listing, kw_only=True):
    """A search: words as on the screen, and filters."""

    q: Annotated[str, Meta(min_length=1, max_length=1_000)]
    site: Words = ""
    sentinel: Words = ""
    tag: Words = ""
    kind: Words = ""
    at: Annotated[str, Meta(max_length=40, extra_json_schema={"format": "date-time"})] | None = None
    changed_since: Annotated[str, Meta(max_length=40, extra_json_schema={"format": "date-time"})] | None = None
    limit: Annotated[int, Meta(ge=1, le=100, description="how many at most")] = 20


class DeliveryQuery(Listing):
    """Filter of deliveries."""

    sentinel: Words = ""
    status: Literal["waiting", "delivered", "dead", ""] = ""


class PlanQuery(Taken):
    """The part of the plan to return."""

    sentinel: Words = ""
    limit: Limit = 50


class CompareQuery(Taken):
    """The two versions to compare, and the sentinel whose view is used."""

    old: Annotated[int, Meta(ge=1, le=2**53)]
    new: Annotated[int, Meta(ge=1, le=2**53)]
    sentinel: Words = ""


class StreamQuery(Taken):
    """Where a stream begins, and whether it continues."""

    after: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    follow: bool = True


class NewText(Taken):
    """Statements of the language."""

    text: Annotated[str, Meta(min_length=1, max_length=500_000)]


class Alteration(Taken):
    """The fields to change; omitted ones stay."""

    text: Annotated[str, Meta(min_length=1, max_length=500_000)] | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    tags: Annotated[list[Words], Meta(max_length=100)] | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    until: Annotated[str, Meta(max_length=100, description="With `enabled` false: when it is enabled again")] = ""


class Bulk(Taken):
    """One action on many sentinels."""

    names: Annotated[list[Name], Meta(min_length=1, max_length=5_000)]
    act: Literal["check", "pause", "enable", "drop", "tags"]
    tags: Annotated[list[Words], Meta(max_length=100)] = []


class Mark(Taken):
    """The asker's mark of a change."""

    read: bool | UnsetType = UNSET
    kept: bool | UnsetType = UNSET


class MarkMany(Mark, kw_only=True):
    """The asker's mark of many changes."""

    ids: Annotated[list[Name], Meta(max_length=5_000)]


class MaskSwitch(Taken):
    """Whether a mask hides what it covers."""

    off: bool


class NewUser(Taken):
    """A new account; without a role the first one is an admin, others are readers."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    password: Annotated[str, Meta(min_length=1, max_length=1_024)]
    role: Role | UnsetType = UNSET


class UserAlteration(Taken):
    """The fields of an account to change; `checks_per_day` null: no limit."""

    role: Role | UnsetType = UNSET
    checks_per_day: Annotated[float, Meta(ge=1, le=10000000)] | UnsetType | None = UNSET
    password: Annotated[str, Meta(min_length=1, max_length=1_024)] | UnsetType = UNSET


class NewToken(Taken):
    """A new token; without a user it is the installation's and sees everything."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    scope: Scope = "read"
    user: Words = ""
    days: Annotated[int, Meta(ge=1, le=3_650)] | None = None


class Problem(Given):
    """An error (RFC 9457), with advice."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    record: Literal["problem"]
    where: str
    message: str
    hint: str | UnsetType = UNSET
    problems: list[dict[str, Any]] | UnsetType = UNSET


class Me(Given):
    """The authenticated asker."""

    name: str
    role: Literal["reader", "editor", "admin"]
    sees_all: bool
    version: str


class Sentinel(Given):
    """A sentinel; `pages` is the number of pages it watches."""

    record: Literal["sentinel"]
    id: str
    name: str
    state: Literal["created", "waiting", "enabled", "disabled", "ended"]
    reason: str
    text: str
    tags: list[str]
    class_: str = msgspec.field(name="class")
    start_at: Moment
    end_at: Moment
    resume_at: Moment
    created_at: Moment
    revision: int
    pages: int
    owner: str
    ended_at: Moment


class SentinelPage(Given):
    """A page of the list of sentinels; `next` is null on the last one."""

    items: list[Sentinel]
    next: str | None


class Registered(Given):
    """The result of statements."""

    made: list[Sentinel]
    altered: list[Sentinel]
    unaltered: list[Sentinel]
    warnings: list[dict[str, Any]]


class Asked(Given):
    """How many checks were requested."""

    requests: int


class Dropped(Given):
    """Until when a drop can be undone by `restore`."""

    sentinel: Sentinel
    undo_until: Moment


class BulkResult(Given):
    """The result for one of many."""

    name: str
    done: bool
    problem: str


class BulkResults(Given):
    """The result for each."""

    items: list[BulkResult]


class Trial(Given):
    """What statements would watch."""

    items: list[dict[str, Any]]
    warnings: list[dict[str, Any]]


class Page(Given):
    """The state of a watched page."""

    record: Literal["page"]
    id: str
    url: str
    title: str
    health: str
    reason: str
    sentinels: list[str]
    versions: int
    polls: int
    checked_at: Moment
    changed_at: Moment


class PageOfPages(Given):
    """A page of the list of watched pages."""

    items: list[Page]
    next: str | None


class Version(Given):
    """A stored version of a page."""

    record: Literal["version"]
    id: str
    number: int
    page: str
    url: str
    sha256: str
    bytes: int
    title: str
    content_type: str
    charset: str
    text_changed: bool
    frames: int
    screenshot: str | None
    fetched_at: Moment
    modified_at: Moment


class VersionPage(Given):
    """A page of the list of versions, the newest first."""

    items: list[Version]
    next: str | None


class Poll(Given):
    """A poll and its result."""

    record: Literal["poll"]
    id: str
    page: str
    url: str
    at: Moment
    outcome: str | None
    text_changed: bool
    status: int | None
    bytes: int
    cost: float
    requests: int
    reason: str
    kind: str | UnsetType = UNSET
    partial: bool | UnsetType = UNSET


class PollPage(Given):
    """A page of the list of polls, the newest first."""

    items: list[Poll]
    next: str | None


class Mask(Given):
    """Noise on a page, masked or offered for masking."""

    record: Literal["mask"]
    id: str
    sentinel: str
    page: str
    url: str
    of: str
    kind: str
    where: str
    why: str
    showed: str
    shows: str
    since: Moment
    off: bool


class Masks(Given):
    """All masks of a page."""

    items: list[Mask]


class Change(Given):
    """A change; its texts are described in `docs/reference/content.md`. `read` and `kept` are the
    asker's own marks.
    """

    record: Literal["change"]
    id: str | None
    sentinel: str
    page: str
    url: str
    kind: str
    from_version: str
    to_version: str
    summary: str
    quiet: bool
    modified_at: Moment
    polled_at: Moment
    detected_at: Moment
    read: bool | UnsetType = UNSET
    kept: bool | UnsetType = UNSET
    sequence: int | UnsetType | None = UNSET


class ChangePage(Given):
    """A page of the list of changes, the newest first."""

    items: list[Change]
    next: str | None


class FoundPage(Given):
    """A page found; `marks` are the matches in the snippet, in characters."""

    record: Literal["result"]
    rank: int
    page: str
    url: str
    title: str
    kind: str
    version: str
    since: Moment
    until: Moment
    sentinels: list[str]
    snippet: str
    marks: list[list[int]]


class PageOfCollection(Given):
    """A page of a collection."""

    url: str
    title: str
    page: str
    checked_at: Moment
    changed_at: Moment
    changes: int
    health: str
    found_at: Moment


class LeftOut(Given):
    """Addresses that a collection left out for one reason."""

    reason: str
    count: int


class Collection(Given):
    """A collection as it stands, and some of its pages, those that changed last first."""

    name: str
    scope: list[str]
    depth: int
    budget_a_day: float
    watched: int
    waiting: int
    gone: int
    left_out: list[LeftOut]
    items: list[PageOfCollection]
    next: str | None


class SearchPage(Given):
    """A page of search results, the best first, and their counts by facet.

    `suggested` is the query with a word spelled otherwise, where it finds something and this one
    nothing. `behind` is how many versions the index still lacks, for those who see everything.
    """

    items: list[FoundPage]
    next: str | None
    count: int
    sites: dict[str, int]
    kinds: dict[str, int]
    suggested: str | None
    changed_within: dict[str, int]
    behind: int | None


class Marked(Given):
    """How many changes were marked."""

    marked: int


class Delivery(Given):
    """A message and its receiver."""

    record: Literal["delivery"]
    id: str
    sentinel: str
    channel: str
    address: str
    status: Literal["waiting", "delivered", "dead"]
    changes: int
    first_sequence: int
    last_sequence: int
    subject: str
    attempts: int
    due_at: Moment
    created_at: Moment
    finished_at: Moment
    error: str


class DeliveryPage(Given):
    """A page of the list of deliveries, the newest first."""

    items: list[Delivery]
    next: str | None


class Receiver(Given):
    """A receiver of messages, and what became of those of sentinels that you see; `failing` if it
    did not accept the last one, `off` if nothing is sent to it until it accepts a test.
    """

    record: Literal["receiver"]
    id: int
    channel: str
    address: str
    state: Literal["on", "failing", "off"]
    failing_since: Moment
    reason: str
    delivered: int
    median_seconds: float | None
    last_delivered_at: Moment
    waiting: int
    dead: int
    sentinels: list[str]


class ReceiverPage(Given):
    """A page of the list of receivers, in the order of their numbers."""

    items: list[Receiver]
    next: str | None


class Tested(Given):
    """The result of a test message; `reason` says why it was not accepted."""

    channel: str
    address: str
    accepted: bool
    reason: str


class Planned(Given):
    """A coming check."""

    record: Literal["plan"]
    kind: str
    sentinel: str
    page: str
    url: str
    at: Moment
    reason: str


class Plan(Given):
    """The next checks, and the budget."""

    items: list[Planned]
    polls_per_day: float
    spent_today: float
    words: list[str]


class Health(Given):
    """What needs attention, the worst first."""

    status: Literal["ok", "warn", "fail"]
    items: list[dict[str, Any]]


class Setting(Given):
    """A setting; a secret one is shown without its value."""

    name: str
    value: Any
    help: str
    is_secret: bool


class Settings(Given):
    """All settings."""

    items: list[Setting]


class Tags(Given):
    """The tags of sentinels that have not ended."""

    items: list[str]


class PublicPage(Given):
    """A public page: `path` is its address on this service, `owner` the account whose sentinels it
    shows, none for the installation's.
    """

    record: Literal["published_tag"]
    tag: str
    token: str
    path: str
    owner: str | None
    created_at: Moment


class PublicPages(Given):
    """Public pages by tag."""

    items: list[PublicPage]


class User(Given):
    """An account, without its password."""

    record: Literal["user"]
    name: str
    role: Role
    created_at: Moment
    checks_per_day: float | None


class Users(Given):
    """All accounts."""

    items: list[User]


class Removed(Given):
    """How many sentinels were removed with an account."""

    sentinels: int


class Export(User):
    """All stored data of an account."""

    shared_tags: list[str]
    public_pages: list[PublicPage]
    tokens: list[dict[str, Any]]
    sentinels: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    searches: list[dict[str, Any]]
    marks: list[dict[str, Any]]


class Token(Given):
    """A token; `token` itself is only in the response that creates it."""

    record: Literal["token"]
    name: str
    scope: Scope
    user: str
    created_at: Moment
    expires_at: Moment
    used_at: Moment
    token: str | UnsetType = UNSET


class Tokens(Given):
    """All tokens."""

    items: list[Token]


class Revoked(Given):
    """The revoked token."""

    revoked: str
