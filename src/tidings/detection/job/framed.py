"""The examiner of a page with frames: its members side by side with those of older versions
(sentinels §5.4).

Members are paired by their page, so that a frame that moved within a page is the same frame; a new
or removed one has all its content inserted or deleted. Findings are labelled with the frame's
address. The plausibility of each body was judged before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar
from urllib.parse import quote

from tidings.detection.ask.conditions import marks_of
from tidings.detection.ask.contexts import with_contexts
from tidings.detection.ask.expression import digests_of, evaluate_each
from tidings.detection.ask.pair import Pair
from tidings.detection.job.contract import (
    WITH_FRAMES,
    Absent,
    Body,
    Examination,
    Facts,
    Found,
    FramedJob,
    Marks,
    Part,
    Readings,
    RefusedComparison,
    Wanted,
    Work,
)
from tidings.detection.job.examiner import facts_of, find_already, parse_body, readings_of, reason_of
from tidings.detection.job.gates import are_equal, digest_of, digest_of_members, is_current
from tidings.detection.job.quiet import FilteredFindings, settle
from tidings.detection.job.selectors import absence
from tidings.detection.kinds.aims import needs_nodes, scopes_of
from tidings.detection.noise.mask import NoiseMask
from tidings.detection.noise.memory import Memory
from tidings.document.document import Document
from tidings.document.extract import extract
from tidings.document.html.frames import ALONE, addresses_of
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import WHOLE, Extraction, make_name
from tidings.model.observed.change import ChangeSet, Edit, EditContext, EntryNote, FrameShare
from tidings.model.observed.version import Digest
from tidings.model.watch.interest import Interest
from tidings.model.watch.sentinel import Expression
from tidings.record import dataclass, replace

_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


def examine(job: FramedJob) -> Examination:
    """Return the facts of a version with frames and the changes for each waiting subscription. A
    page's content never raises.
    """
    return _FramedExaminer(job).run()


def compare_versions(
    old: Sequence[Part], new: Sequence[Part], expression: Expression, depth: int, extraction: Extraction = WHOLE
) -> tuple[ChangeSet, str]:
    """Return (the findings of an expression between any two versions, "") or (nothing, why they
    could not be compared).

    Args:
        old: The old page and its frames.
        new: The new page and its frames.
        expression: What is asked for.
        depth: How deep frames are followed.
        extraction: Which part of the pages.
    """
    reader = _VersionReader(depth, keep_tree=needs_nodes(expression, extraction))
    before, after = reader.read(old), reader.read(new)
    problem = before.problem or after.problem
    if problem:
        return ChangeSet(), problem
    try:
        return compare(before, after, expression, extraction), ""
    except RefusedError as error:
        return ChangeSet(), reason_of(error)


@dataclass(frozen=True)
class Whole:
    """A parsed version: its members, each with its document, the holder of the frames first."""

    members: tuple[tuple[Part, Document], ...]
    depth: int

    @property
    def holder(self) -> Document:
        """Return the document that holds the frames."""
        return self.members[0][1]

    @cached_property
    def documents(self) -> Mapping[str, Document]:
        """Return the documents by the keys of their pages."""
        return {part.key: document for part, document in self.members}

    def offsets(self, scopes: Sequence[Extraction]) -> Mapping[str, int]:
        """Return the number of each member's first token in the canonical text of the whole, or of
        these parts of it.
        """
        found, at = {}, 0
        for part, document in self.members:
            found[part.key] = at
            at += sum(extract(document, scope).words for scope in scopes)
        return found

    @cached_property
    def named(self) -> frozenset[str]:
        """Return the addresses of the frames that the holder names."""
        return frozenset(map(_form, addresses_of(self.holder.frames, self.holder.base, depth=self.depth)))

    @property
    def problem(self) -> str:
        """Return why a member cannot be compared, with its address; empty if all can."""
        return next((f"{part.url}: {document.problem}" for part, document in self.members if document.problem), "")

    def digest(self, *, seed: int) -> Digest:
        """Return the digests of the whole."""
        return digest_of_members({key: digest_of(d, seed=seed) for key, d in self.documents.items()}, seed=seed)


def compare(
    old: Whole,
    new: Whole,
    expression: Expression,
    extraction: Extraction = WHOLE,
    *,
    pairs: Sequence[tuple[str, str, Pair]] | None = None,
) -> ChangeSet:
    """Return the findings of an expression between two versions, frame by frame. Raise
    `RefusedError` if they cannot be compared so.

    `pairs` are those of the two, if already made.

    Args:
        old: The old page with its frames.
        new: The new page with its frames.
        expression: What is asked for.
        extraction: Which part of the pages.
    """
    members = [*_pairs(old, new)] if pairs is None else pairs
    found = evaluate_each(expression, [pair for _, _, pair in members], extraction)
    if not any(found):
        return ChangeSet()
    scopes = scopes_of(expression, extraction)
    gone, come = old.offsets(scopes), new.offsets(scopes)
    return _join(
        (url, gone.get(key, 0), come.get(key, 0), with_contexts(change, pair, scopes))
        for (key, url, pair), change in zip(members, found, strict=True)
    )


def _pairs(old: Whole, new: Whole) -> Iterator[tuple[str, str, Pair]]:
    """Yield (key, address, pair) of each member that may differ.

    No pair for a frame that the old page named too but that could not be, or was not, followed: it
    is new to Tidings, not to the page. The same for one that the new page still names and that is
    no longer followed.
    """
    for part, document in new.members:
        before = old.documents.get(part.key)
        if before is None and _form(part.url) not in old.named:
            before = Document(media=document.media, base=document.base)
        if before is not None and before is not document:
            yield part.key, part.url, Pair(before, document)
    for part, document in old.members:
        if part.key not in new.documents and _form(part.url) not in new.named:
            yield part.key, part.url, Pair(document, Document(media=document.media, base=document.base))


def _form(url: str) -> str:
    """Return an address as it is sent, so that the address in a page and the requested one compare
    equal.
    """
    return quote(url, safe=_PRINTABLE, errors="replace")


def _join(found: Iterator[tuple[str, int, int, ChangeSet]]) -> ChangeSet:
    """Return the findings of members as one; the tokens of each are numbered after those of the
    members before it.
    """
    parts = [(url, old, new, change) for url, old, new, change in found if change]
    if not parts:
        return ChangeSet()
    changes = [change for _, _, _, change in parts]
    return ChangeSet(
        kinds=tuple(dict.fromkeys(kind for change in changes for kind in change.kinds)),
        inserted=tuple(text for change in changes for text in change.inserted),
        deleted=tuple(text for change in changes for text in change.deleted),
        updated=tuple(texts for change in changes for texts in change.updated),
        moved=tuple(text for change in changes for text in change.moved),
        edits=tuple(_shift(edit, old, new) for _, old, new, change in parts for edit in change.edits),
        objects=tuple(row for change in changes for row in change.objects),
        places=tuple(place for change in changes for place in change.places),
        frames=tuple(_share(url, change) for url, _, _, change in parts),
        contexts=tuple(_number([(change, change.contexts) for change in changes])),
        entries=tuple(_number([(change, change.entries) for change in changes])),
        title=next((change.title for change in changes if change.title), ""),
        snapshot="\n".join(change.snapshot for change in changes if change.snapshot),
    )


Note = TypeVar("Note", EditContext, EntryNote)


def _number(notes: Sequence[tuple[ChangeSet, Sequence[Note]]]) -> Iterator[Note]:
    """Yield the notes of texts, renumbered for the lists of all members together."""
    at = dict.fromkeys(("updated", "deleted", "inserted", "moved"), 0)
    for change, noted in notes:
        yield from (replace(one, number=one.number + at[one.of]) for one in noted)
        for name in at:
            at[name] += len(getattr(change, name))


def _shift(edit: Edit, old: int, new: int) -> Edit:
    return Edit(edit.op, edit.old_start + old, edit.old_end + old, edit.new_start + new, edit.new_end + new)


def _share(url: str, change: ChangeSet) -> FrameShare:
    return FrameShare(
        url,
        inserted=len(change.inserted),
        deleted=len(change.deleted),
        updated=len(change.updated),
        moved=len(change.moved),
        edits=len(change.edits),
        objects=len(change.objects),
        places=len(change.places),
    )


class _VersionReader:
    """Parses versions; a body that is a member of several is parsed once."""

    def __init__(self, depth: int, *, keep_tree: bool) -> None:
        self._depth = depth
        self._keep_tree = keep_tree
        self._known: dict[tuple[str, str, str, bool], Document] = {}

    def read(self, parts: Sequence[Part]) -> Whole:
        """Return a version with the documents of its members."""
        members = tuple((part, self._document(part, is_holder=place == 0)) for place, part in enumerate(parts))
        return Whole(members, self._depth)

    def documents(self) -> list[Document]:
        """Return the documents parsed so far."""
        return [*self._known.values()]

    def _document(self, part: Part, *, is_holder: bool) -> Document:
        body: Body = part.body
        name = (part.sha256, body.url, body.charset, is_holder)
        if name not in self._known:
            depth = self._depth if is_holder else ALONE
            self._known[name] = parse_body(body, depth=depth, keep_tree=self._keep_tree)
        return self._known[name]


class _FramedExaminer:
    """The state of one job."""

    def __init__(self, job: FramedJob) -> None:
        self.job = job
        keep_tree = any(needs_nodes(wanted.expression, wanted.extraction) for wanted in job.wanted)
        self.reader = _VersionReader(job.depth, keep_tree=keep_tree)
        self.new = self.reader.read(job.new)
        self.digest = self.new.digest(seed=job.seed)
        self.old: dict[int, Whole] = {}
        self.pairs: dict[int, list[tuple[str, str, Pair]]] = {}
        self.changes: dict[
            tuple[int, Expression, Extraction, tuple[str, ...]], FilteredFindings | RefusedComparison
        ] = {}
        self.absent: list[Absent] = []
        self.refused: list[RefusedComparison] = []
        self.readings: list[Readings] = []
        self.marks: list[Marks] = []

    def run(self) -> Examination:
        if self.new.problem:
            return self._examination((), text_changed=False, problem=self.new.problem)
        found = tuple(self._find())
        text_changed = self._text_changed()
        return self._examination(found, text_changed=text_changed, problem="")

    def _find(self) -> Iterator[Found]:
        documents = [document for _, document in self.new.members]
        for wanted in self.job.wanted:
            self._note_marks(wanted, documents)
            lacking = absence(wanted.expression, wanted.extraction, documents)
            if lacking.names:
                self.absent.append(Absent(key=wanted.key, names=lacking.names, is_all=lacking.is_all))
            self.readings.extend(readings_of(wanted, documents))
            if lacking.is_all or not wanted.reference:
                yield from find_already(wanted, documents)
                continue
            asked = (wanted.reference, wanted.expression, wanted.extraction, (*wanted.seen, "", *wanted.doubted))
            if asked not in self.changes:
                self.changes[asked] = self._change(wanted)
            change = self.changes[asked]
            if isinstance(change, RefusedComparison):
                self.refused.append(replace(change, key=wanted.key))
            elif change.found:
                scopes = scopes_of(wanted.expression, wanted.extraction)
                name = WITH_FRAMES if all(scope.is_whole for scope in scopes) else f"{WITH_FRAMES} {make_name(*scopes)}"
                yield Found(
                    key=wanted.key,
                    reference=wanted.reference,
                    change=change.found,
                    extraction=name,
                    number=wanted.number,
                    quiet=change.is_quiet,
                )

    def _note_marks(self, wanted: Wanted, documents: Sequence[Document]) -> None:
        try:
            every = [mark for one in documents for mark in marks_of(wanted.expression, wanted.extraction, one)]
        except RefusedError as error:
            self.refused.append(RefusedComparison(key=wanted.key, reason=reason_of(error)))
            return
        if every:
            self.marks.append(Marks(key=wanted.key, marks=tuple(dict.fromkeys(every))))

    def _change(self, wanted: Wanted) -> FilteredFindings | RefusedComparison:
        known = self.job.known.get(wanted.reference)
        is_plain = all(scope.is_whole for scope in scopes_of(wanted.expression, wanted.extraction))
        names = digests_of(wanted.expression)
        if is_plain and is_current(known, WITH_FRAMES) and known and are_equal(names, known, self.digest):
            return FilteredFindings()
        old = self._whole(wanted.reference)
        if old.problem:
            return RefusedComparison(key=wanted.key, reason=old.problem)
        try:
            doubted, mask = frozenset(wanted.doubted), self._mask(wanted.reference)
            seen = frozenset(wanted.seen)
            pairs = [
                (key, url, pair.knowing(seen).doubting(doubted)) for key, url, pair in self._pairs(wanted.reference)
            ]
            if mask is None:
                return FilteredFindings(compare(old, self.new, wanted.expression, wanted.extraction, pairs=pairs))
            masked = [(key, url, pair.through(mask)) for key, url, pair in pairs]
            real = compare(old, self.new, wanted.expression, wanted.extraction, pairs=masked)
            return settle(real, lambda: compare(old, self.new, wanted.expression, wanted.extraction, pairs=pairs), mask)
        except RefusedError as error:
            return RefusedComparison(key=wanted.key, reason=reason_of(error))

    def _pairs(self, reference: int) -> list[tuple[str, str, Pair]]:
        if reference not in self.pairs:
            self.pairs[reference] = [*_pairs(self._whole(reference), self.new)]
        return self.pairs[reference]

    def _mask(self, reference: int) -> NoiseMask | None:
        """Return a mask of the value classes; no noise is learned on pages with frames."""
        noise = self.job.noise
        if noise is None:
            return None
        return NoiseMask(Memory(), noise.switched_off, noise.times.get(reference, 0), noise.at)

    def _text_changed(self) -> bool:
        """Compare with the newest version, without noise."""
        newest = max(self.job.references, default=None)
        mask = None if newest is None else self._mask(newest)
        if newest is None or mask is None or not self._differs(newest) or self._whole(newest).problem:
            return self._differs(newest)
        return any(pair.through(mask).compare(Interest("words")) for _, _, pair in self._pairs(newest))

    def _differs(self, newest: int | None) -> bool:
        """Return whether the text differs from the newest version; if its digest is not current, by
        its text.
        """
        if newest is None or is_current(self.job.known.get(newest), WITH_FRAMES):
            return bool(self.job.text_digest) and self.job.text_digest != self.digest.text
        old = self._whole(newest)
        if old.problem:
            return False
        return any(pair.old.canonical != pair.new.canonical for _, _, pair in self._pairs(newest))

    def _whole(self, reference: int) -> Whole:
        if reference not in self.old:
            self.old[reference] = self.reader.read(self.job.references[reference])
        return self.old[reference]

    def _examination(self, found: tuple[Found, ...], *, text_changed: bool, problem: str) -> Examination:
        holder = self.new.holder
        return Examination(
            charset=holder.charset,
            charset_source=holder.charset_source,
            media_type=holder.media,
            title=holder.title,
            digest=self.digest,
            text_changed=text_changed,
            found=found,
            facts=self._facts(),
            problem=problem,
            absent=tuple(self.absent),
            refused=tuple(self.refused),
            readings=tuple(self.readings),
            marks=tuple(self.marks),
            work=self._work(),
            unread=self.new.problem,
        )

    def _work(self) -> Work:
        documents = self.reader.documents()
        return Work(
            bodies=len(documents),
            parts=sum(len(document.parts) for document in documents),
            pairs=len(self.changes),
            comparisons=sum(pair.compared for pairs in self.pairs.values() for _, _, pair in pairs),
        )

    def _facts(self) -> Facts:
        each = [facts_of(document) for _, document in self.new.members]
        words = sum(facts.words for facts in each)
        return Facts(
            words=words,
            links=sum(facts.links for facts in each),
            images=sum(facts.images for facts in each),
            scripts_only=all(facts.scripts_only or not facts.words for facts in each)
            and any(facts.scripts_only for facts in each),
            login=words == sum(facts.words for facts in each if facts.login) and words > 0,
            first_words=next((facts.first_words for facts in each if facts.first_words), ""),
            note=next((facts.note for facts in each if facts.note), ""),
        )
