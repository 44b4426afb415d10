"""The job for one fetched body, and its answer (contracts §7): the input and output of the parsing
process.

Nothing here parses: the parent makes and reads these, `examiner` does the work. Only digests, edits
and short texts come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from tidings.detection.noise.memory import Memory
from tidings.document.html.frames import ALONE
from tidings.document.select.extraction import PAGE, WHOLE, Extraction
from tidings.model.interval import Instant
from tidings.model.observed.change import ChangeSet, Masked
from tidings.model.observed.version import Digest, Hub, Reading
from tidings.model.watch.interest import Selector
from tidings.model.watch.sentinel import Expression
from tidings.record import dataclass

if TYPE_CHECKING:
    from tidings.detection.doubt.plausibility import Suspicion

STATE = "state"
"""In place of an extraction if a first version already satisfies the expression: no text is counted
in it.
"""
EXTRACTION = PAGE
"""The fingerprint of the extraction of the whole page."""
WITH_FRAMES = "frames"
"""The fingerprint of the extraction of the whole page with its frames: the canonical text is that
of its members in order.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The bytes of a version. `url` is its final URL; `charset` is known for a stored version."""

    data: bytes
    content_type: str | None = None
    url: str = ""
    charset: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A selector, its last single match (`document.targets.Bundle`, as JSON), and its replacement
    since it matches nothing.
    """

    selector: Selector
    bundle: tuple[Any, ...] = ()
    stand_in: Selector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A selector that matches nothing any more and its replacement; `score` is the similarity of
    the two places, 0 to 1, `before` and `after` are their texts.
    """

    selector: Selector
    stand_in: Selector
    score: float
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A requested comparison: `key` is the subscription's id, `reference` a version number of
    `Job.references`, or 0 if there is nothing to compare with yet and only the selected parts are
    checked; with `is_first` values that already satisfy it are found. `seen` are the marks of
    earlier entries of a feed, and of things that must be new. `targets` are the known matches of
    its selectors, None to track none; with `mends` replacements for lost ones are searched.
    `extraction` is the sentinel's selection. `number` distinguishes several comparisons of one
    subscription. With `shows` the watched text is returned with a change. `doubted` is what the
    previous poll missed, perhaps wrongly (`Absent.names`).
    """

    key: int
    reference: int
    expression: Expression
    extraction: Extraction = WHOLE
    number: int = 0
    is_first: bool = False
    seen: tuple[str, ...] = ()
    targets: tuple[Target, ...] | None = None
    mends: bool = False
    doubted: tuple[str, ...] = ()
    shows: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The noise memory of a page, and when its versions were polled: the new one at `at`,
    references at `times`.

    `switched_off` are the masks that a user has switched off. With `learns` the new body is a poll
    to learn from, the `polls`-th of the page, `is_second` if it was made right after another to
    detect noise; `history` are references to learn from first, if nothing is known yet. `asked` is
    what all sentinels on the page select.
    """

    memory: Memory = Memory()
    switched_off: frozenset[str] = frozenset()
    at: Instant = 0
    times: Mapping[int, Instant] = field(default_factory=dict)
    learns: bool = False
    polls: int = 0
    is_second: bool = False
    history: tuple[int, ...] = ()
    asked: tuple[tuple[Expression, Extraction], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A new body and all that it is to be compared with.

    `known` are the stored digests of reference versions, `known_parts` those of their parts;
    `last_charset` and `text_digest` are those of the page's newest version, "" if there is none.
    `seed` is the installation's, against forged digests. `usual_words` is the median of the newest
    versions, None at the first poll, `usual_title` the newest one's title; `asked_url` is the
    requested address of `new`. `is_unframed` says that only the end of the connection ended the
    body. `depth` is how deep the page's frames are followed (`document.frames`). Without `noise`
    every difference is reported.
    """

    new: Body
    references: Mapping[int, Body]
    known: Mapping[int, Digest]
    wanted: tuple[Wanted, ...]
    last_charset: str = ""
    text_digest: str = ""
    seed: int = 0
    usual_words: int | None = None
    usual_title: str = ""
    status: int = 200
    asked_url: str = ""
    is_unframed: bool = False
    depth: int = ALONE
    known_parts: Mapping[int, tuple[Digest, ...]] = field(default_factory=dict)
    noise: Noise | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A member of a version with frames: `key` and `url` are its page's, `sha256` names its body,
    whose charset is known.
    """

    key: str
    url: str
    sha256: str
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class FramedJob:
    """A version of a page with frames and all that it is to be compared with, each as its members:
    the holder of the frames first.

    A reference of one member dates from before frames were followed. All else is as in `Job`; the
    plausibility of each body was judged before.
    """

    new: tuple[Part, ...]
    references: Mapping[int, tuple[Part, ...]]
    known: Mapping[int, Digest]
    wanted: tuple[Wanted, ...]
    text_digest: str = ""
    seed: int = 0
    depth: int = 0
    noise: Noise | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A non-empty change for subscription `key`, in its comparison `number`. `extraction` names the
    text whose tokens its edits index.

    A `quiet` one is all noise: stored, not reported. `silenced` are the masks that left out
    everything that would have been notified at the newest polls, if the owner does not know of
    them yet.
    """

    key: int
    reference: int
    change: ChangeSet
    extraction: str = PAGE
    number: int = 0
    quiet: bool = False
    silenced: tuple[Masked, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """The selected parts that the new version lacks for subscription `key`, in words of the
    language; `is_all`: nothing else is selected.
    """

    key: int
    names: tuple[str, ...]
    is_all: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """What subscription `key` selects at its first poll, if not the whole: how many words, and how
    they begin.
    """

    key: int
    words: int
    first_words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """What subscription `key` reads in the new version: its single values, with `Wanted.shows` a
    few things of each sort.
    """

    key: int
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The marks of the entries of a feed, and of what must be new, for subscription `key`, the
    oldest first.
    """

    key: int
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """The current matches of the selectors of subscription `key`, and the selectors replaced in
    this job.
    """

    key: int
    targets: tuple[Target, ...]
    mended: tuple[Mended, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedComparison:
    """Why the comparison of subscription `key` failed, though others of the same body did not."""

    key: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts to judge whether a page is what it seems: counts, only scripts and no text, a password
    field, how it begins.

    `note` is a further remark for its watchers.
    """

    words: int
    links: int
    images: int
    scripts_only: bool
    login: bool
    first_words: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a job, whatever the number of its callers: bodies parsed, parts extracted, pairs
    (two versions and an expression) compared, and the comparisons of single change types and terms
    in them.
    """

    bodies: int = 0
    parts: int = 0
    pairs: int = 0
    comparisons: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """The result of a job. With a `problem` nothing could be compared and `found` is empty; that is
    never "unchanged". `unread` is a problem of the newest version itself: nothing can be compared
    with it either.

    `media_type` is the kind of document (html, feed, xml, json, text, pdf, binary); `text_changed`
    whether the visible text differs from the page's newest version, False for a first one.
    `suspicion` is what the body may be instead of the page ("" for nothing), `why` a sentence with
    the rule and the evidence. `frames` are the addresses of the frames that `Job.depth` follows, in
    order. `parts` are the digests of the selected parts, `absent` the missing ones, `refused` the
    failed comparisons, `selected` the first selections, `readings` the current values. `work` is
    the effort. `memory` is the new noise memory, None if nothing was learned; `second_poll` says
    that another poll within a minute would separate noise from changes. `hub` is the feed's hub,
    `updated` the newest date of its entries.
    """

    charset: str
    charset_source: str
    media_type: str
    title: str
    digest: Digest
    text_changed: bool
    found: tuple[Found, ...]
    facts: Facts
    problem: str = ""
    suspicion: Suspicion = ""
    why: str = ""
    frames: tuple[str, ...] = ()
    parts: tuple[Digest, ...] = ()
    absent: tuple[Absent, ...] = ()
    refused: tuple[RefusedComparison, ...] = ()
    selected: tuple[Selected, ...] = ()
    readings: tuple[Readings, ...] = ()
    work: Work = Work()
    marks: tuple[Marks, ...] = ()
    targets: tuple[Targets, ...] = ()
    memory: Memory | None = None
    second_poll: bool = False
    hub: Hub = Hub()
    updated: Instant | None = None
    unread: str = ""
