"""One job for each fetched body, and its answer (contracts §7): what goes to the process that parses, and what comes back.

Nothing here parses: the parent makes and reads these, `examiner` does the work. Only digests, edits and short texts come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidings.detection.noise.memory import Memory
from tidings.document.html.frames import ALONE
from tidings.document.select.extraction import PAGE, WHOLE, Extraction
from tidings.model.interval import Instant
from tidings.model.observed.change import ChangeSet, Masked
from tidings.model.observed.hub import Hub
from tidings.model.observed.reading import Reading
from tidings.model.observed.version import Digest
from tidings.model.watch.interest import Selector
from tidings.model.watch.sentinel import Expression

if TYPE_CHECKING:
    from tidings.detection.doubt.plausibility import Suspicion

STATE = "state"
"""What stands for the extraction where a first version is found to be so already: no text is
counted in it.
"""
EXTRACTION = PAGE
"""The fingerprint of the extraction that takes the whole page."""
WITH_FRAMES = "frames"
"""The fingerprint of the extraction that takes the whole page with its frames: the canonical text is that of its members in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The bytes of a version. `url` is its final URL; `charset` one that is known already, for a stored version."""

    data: bytes
    content_type: str | None = None
    url: str = ""
    charset: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a selector found when it last found one element (`document.targets.Bundle`, as JSON), and what stands in for it since it finds nothing."""

    selector: Selector
    bundle: tuple[Any, ...] = ()
    stand_in: Selector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A selector that finds nothing any more and what stands in for it; `score` is how much alike the two places are, 0 to 1, `before` and
    `after` what they say.
    """

    selector: Selector
    stand_in: Selector
    score: float
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A comparison that somebody waits for: `key` is the subscription's id, `reference` a version number of `Job.references`, or 0 if there is
    nothing to compare with yet and only what is looked at is sought; with `is_first` what holds
    already is found. `seen` are the marks of entries of a feed, and of what must be new, that were
    there before. `targets`
    is what is known of what its selectors found, None if nothing is to be known; with `mends` what they miss is looked for. `extraction` is what the sentinel selects of the page. `number` tells
    several comparisons of one subscription apart. With `shows` the text that is watched comes back with a change. `doubted` is what the look before missed and may have been there all the same (`Absent.names`).
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
    """What is known of a page's noise, and when its versions were looked at: the new one at `at`, references at `times`.

    `kept` are the names of masks that somebody has switched off. With `learns` the new body is a look at the page, after `polls` of it,
    `is_second` if it was made right after the one before, to tell noise from news; `history` are references that are learned from first, where nothing is known yet. `asked` is what all sentinels on the page look at.
    """

    memory: Memory = Memory()
    kept: frozenset[str] = frozenset()
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

    `known` are the stored digests of reference versions, `known_parts` those of parts of them; `last_charset` is the charset of the page's newest version and
    `text_digest` its text digest, "" if there is none. `seed` is the installation's, for digests nobody can aim at. `usual_words` is the
    median of the newest versions, None at a first look, `usual_title` the newest one's title; `asked_url` is where `new` was asked for.
    `is_unframed` says that only the end of the connection ended the body. `depth` is how deep the page's frames are followed
    (`document.frames`). Without `noise` everything that differs is told.
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
    """A member of a version with frames: `key` and `url` are its page's, `sha256` names its body, whose charset is known."""

    key: str
    url: str
    sha256: str
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class FramedJob:
    """A version of a page with frames and all that it is to be compared with, each as its members: the holder of the frames first.

    A reference of one member is a version of when no frame was followed. All else is as in `Job`; that each body is its page was
    judged before.
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
    """A change for subscription `key`, in its comparison `number`, never an empty one. `extraction` names the text whose tokens its edits count.

    A `quiet` one is all noise: it is kept, and nobody is told. `silenced` is what masks left out if that, at the newest polls, was all that would have been
    notified, and its owner has not heard of these masks yet.
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
    """What subscription `key` looks at and the new version does not have, in words of the language; `is_all`: nothing else is left to look at."""

    key: int
    names: tuple[str, ...]
    is_all: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """What subscription `key` sees of a page at its first look, if not the whole: how many words, and how they begin."""

    key: int
    words: int
    first_words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """What subscription `key` sees of the new version: its single values, with `Wanted.shows` a few things of each sort."""

    key: int
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The marks of the entries of a feed, and of what must be new, that subscription `key` sees,
    the oldest first.
    """

    key: int
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What is known now of the selectors of subscription `key`, and which of them were mended in this job."""

    key: int
    targets: tuple[Target, ...]
    mended: tuple[Mended, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedComparison:
    """Why the comparison of subscription `key` could not be made, though others of the same body could."""

    key: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What tells whether a page is what it seems: counts, only scripts and no text, a password to be given, how it begins.

    `note` is what else people should know who watch it.
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
    """What a job did, whoever and however many asked for it: bodies that were read, parts that were taken of them, pairs (of two versions and
    what is sought in them) that were compared, and comparisons of single change types and terms that these were made of.
    """

    bodies: int = 0
    parts: int = 0
    pairs: int = 0
    comparisons: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What a job found. With a `problem` nothing could be compared and `found` is empty; that is never "unchanged". `unread` is a problem
    of the newest version itself: nothing can be compared with it either.

    `media_type` is the kind of document (html, feed, xml, json, text, pdf, binary); `text_changed` whether the visible text differs
    from the page's newest version, False for a first one. `suspicion` is what the body seems to be instead of the page ("" for
    nothing), `why` a sentence for people that names the rule and the evidence. `frames` are the addresses of its frames that `Job.depth`
    follows, in their order. `parts` are the digests of the parts that were looked at, `absent` what was not there, `refused` what could not be compared,
    `selected` what those see that had nothing to compare yet, `readings` the values that are seen now. `work` is what it took. `memory` is what is known of the page's noise now, None
    if nothing was learned; `second_look` says that another look within a minute would tell noise from news. `hub` is who a feed says tells of its news, `updated`
    the newest date of its entries.
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
    second_look: bool = False
    hub: Hub = Hub()
    updated: Instant | None = None
    unread: str = ""
