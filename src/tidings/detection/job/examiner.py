"""The examiner: charset, pre-scan, facts, digests and all comparisons of one body (contracts §7).

Pure, and run in a process that can be killed. Old bodies are parsed only if the gates cannot
decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidings.detection.ask.conditions import marks_of as marks_of_seen
from tidings.detection.ask.contexts import with_contexts
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.ask.readings import already, readings, values
from tidings.detection.compare.phrases import MOST_SHARES, measure_changed_share, shares_as_object, shares_in
from tidings.detection.data.items import marks_of
from tidings.detection.doubt.plausibility import Answer, Verdict, judge
from tidings.detection.job.contract import (
    EXTRACTION,
    STATE,
    Absent,
    Body,
    Examination,
    Facts,
    Found,
    Job,
    Marks,
    Mended,
    Readings,
    RefusedComparison,
    Selected,
    Target,
    Targets,
    Wanted,
    Work,
)
from tidings.detection.job.gates import are_equal, derive_old, digest_of, is_current
from tidings.detection.job.quiet import FilteredFindings, Quieter
from tidings.detection.job.selectors import absence, mend, standing, targets_of, use
from tidings.detection.kinds.aims import digests_in, needs_nodes, scopes_of, scopes_of_items
from tidings.detection.kinds.interests import interests_of
from tidings.detection.kinds.registry import KINDS
from tidings.document.document import Document
from tidings.document.extract import extract
from tidings.document.html.frames import ALL, ALONE, addresses_of
from tidings.document.parse import parse
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import WHOLE, Extraction, make_name
from tidings.document.text.words import RULES_VERSION
from tidings.model.observed.change import ChangeSet
from tidings.model.observed.version import Digest
from tidings.model.watch.sentinel import Expression
from tidings.record import replace

_FEW_WORDS = 10
_WORDS_OF_A_LOGIN = 200
_FIRST_WORDS = 24
_LONGEST_FIRST_WORDS = 160


def examine(job: Job) -> Examination:
    """Return the facts of a new body and the changes for each waiting subscription. A page's
    content never raises.
    """
    examiner = _Examiner(job)
    try:
        return examiner.run()
    finally:
        examiner.noise = None  # the two hold each other: without this all of a page waits for a collection


def compare_bodies(
    old: Body, new: Body, expression: Expression, extraction: Extraction = WHOLE, targets: Sequence[Target] = ()
) -> tuple[ChangeSet, str]:
    """Return (the findings of an expression between any two bodies, "") or (nothing, why they could
    not be compared).

    `targets` are the replacements of lost selectors.

    Args:
        old: The old body.
        new: The new body.
        expression: What is asked for.
        extraction: Which part of the page.
    """
    keep_tree = needs_nodes(expression, extraction)
    before, after = (parse_body(body, keep_tree=keep_tree) for body in (old, new))
    use(before, targets)
    use(after, targets)
    problem = before.problem or after.problem
    if problem:
        return ChangeSet(), problem
    try:
        pair = Pair(before, after)
        return with_contexts(evaluate(expression, pair, extraction), pair, scopes_of(expression, extraction)), ""
    except RefusedError as error:
        return ChangeSet(), reason_of(error)


def reason_of(error: RefusedError) -> str:
    """Return the reason of a failed comparison for a problem."""
    text = str(error)
    return text if text.startswith("could not compare") else f"could not compare: {text}"


def parse_body(body: Body, last_good: str = "", *, depth: int = ALONE, keep_tree: bool = False) -> Document:
    """Return the parsed document of a body; `depth` is how deep its frames are followed,
    `keep_tree` whether parts will be extracted.

    Args:
        last_good: The charset of the page's last version; empty for none.
    """
    return parse(
        body.data,
        body.content_type,
        url=body.url,
        charset=body.charset,
        last_good=last_good,
        with_written_frames=depth == ALL,
        keep_tree=keep_tree,
    )


class _Examiner:
    """The state of one job: cached documents and findings."""

    def __init__(self, job: Job) -> None:
        self.job = job
        asked = () if job.noise is None else job.noise.asked  # learning about parts needs them at second polls too
        asked_parts = (*asked, *((wanted.expression, wanted.extraction) for wanted in job.wanted))
        self.keep_tree = any(needs_nodes(*asked_part) for asked_part in asked_parts)
        self.document = parse_body(job.new, job.last_charset, depth=job.depth, keep_tree=self.keep_tree)
        self.digest = Digest(EXTRACTION, RULES_VERSION, "", {})
        self.documents: dict[Body, Document] = {}
        self.digests: dict[int, Digest] = {}
        self.pairs: dict[int, Pair] = {}
        self.changes: dict[tuple[object, ...], FilteredFindings | RefusedComparison] = {}
        self.names = self._names()
        self.parts: dict[Extraction, Digest] = {}
        self.absent: list[Absent] = []
        self.refused: list[RefusedComparison] = []
        self.selected: list[Selected] = []
        self.readings: list[Readings] = []
        self.marks: list[Marks] = []
        self.targets: list[Targets] = []
        self.stand_ins = standing(self.document, (target for wanted in job.wanted for target in wanted.targets or ()))
        use(self.document, self.stand_ins)
        self.verdict: Verdict = ("", "")
        self.is_same_text = False
        self.noise = None if job.noise is None else Quieter(job.noise, self._pair, job.wanted)

    def run(self) -> Examination:
        if self.document.problem:
            return self._examination((), text_changed=False, problem=self.document.problem)
        self.digest = self._digest_of(self.document)
        self._try_last_charset()
        text_changed = self._text_changed()
        if self.noise is not None:
            text_changed = self._without_noise(self.noise, text_changed=text_changed)
        found = tuple(self._find())
        self.is_same_text = bool(self.job.text_digest) and self.job.text_digest == self.digest.text
        self.digest = self._with_shares(self.digest)
        self.verdict = self._verdict()
        return self._examination(found, text_changed=text_changed, problem="")

    def _verdict(self) -> Verdict:
        job = self.job
        newest = max(job.references, default=None)
        reference = None if newest is None else job.references[newest]
        return judge(
            Answer(
                document=self.document,
                data=job.new.data,
                url=job.new.url,
                asked_url=job.asked_url,
                is_unframed=job.is_unframed,
                status=job.status,
                usual_words=job.usual_words,
                usual_title=job.usual_title,
                reference_data=b"" if reference is None else reference.data,
                reference_url="" if reference is None else reference.url,
                reference=lambda: None if newest is None else self._old(newest),
                is_same_text=self.is_same_text,
            )
        )

    def _try_last_charset(self) -> None:
        """Decode the body with the last version's charset if that gives the same text: a lost
        declaration is no change.
        """
        job = self.job
        if (
            not job.text_digest
            or not job.last_charset
            or self.digest.text == job.text_digest
            or self.document.charset == job.last_charset
        ):
            return
        other = parse_body(replace(job.new, charset=job.last_charset), depth=job.depth, keep_tree=self.keep_tree)
        if other.problem or other.textless or other.charset == self.document.charset:
            return
        digest = self._digest_of(other)
        if digest.text == job.text_digest:
            self.document, self.digest = other, digest
            use(self.document, self.stand_ins)

    def _text_changed(self) -> bool:
        """Compare with the newest version; if its digest was made by other rules, recompute it."""
        newest = max(self.job.references, default=None)
        if newest is not None and newest in self.job.known and not is_current(self.job.known[newest]):
            return not self._old(newest).problem and self._digest(newest).text != self.digest.text
        return bool(self.job.text_digest) and self.job.text_digest != self.digest.text

    def _find(self) -> list[Found]:
        found: list[Found] = []
        for wanted in self.job.wanted:
            scopes = scopes_of(wanted.expression, wanted.extraction)
            is_absent = self._is_absent(wanted)
            self._note_marks(wanted)
            self.readings.extend(readings_of(wanted, [self.document]))
            if is_absent or not wanted.reference:
                self._note_parts(scopes)
                if not is_absent and self.keep_tree:
                    self._note_selected(wanted, scopes)
                found.extend(find_already(wanted, [self.document]))
                continue
            asked = (
                *(wanted.reference, wanted.expression, wanted.extraction, wanted.seen, wanted.doubted),
                wanted.shows,
            )
            if asked not in self.changes:
                self.changes[asked] = self._with_contexts(self._change(wanted, scopes), wanted, scopes)
            change = self.changes[asked]
            if isinstance(change, RefusedComparison):
                self.refused.append(replace(change, key=wanted.key))
            elif change.found:
                name = make_name(*scopes)
                found.append(
                    Found(
                        key=wanted.key,
                        reference=wanted.reference,
                        change=change.found,
                        extraction=name,
                        number=wanted.number,
                        quiet=change.is_quiet,
                        silenced=() if self.noise is None else self.noise.note(wanted.key, change),
                    )
                )
        return found

    def _is_absent(self, wanted: Wanted) -> bool:
        """Record the selected parts that the new version lacks; return whether nothing is left to
        compare.
        """
        if not self.keep_tree:
            return False
        lacking = absence(wanted.expression, wanted.extraction, [self.document])
        mended: list[Mended] = []
        if lacking.names and wanted.mends and (mended := mend(self.document, wanted.targets or ())):
            self._use_mended(mended)
            lacking = absence(wanted.expression, wanted.extraction, [self.document])
        if wanted.targets is not None:
            known = targets_of(self.document, wanted.expression, wanted.extraction, wanted.targets)
            self.targets.append(Targets(key=wanted.key, targets=known, mended=tuple(mended)))
        if lacking.names:
            self.absent.append(Absent(key=wanted.key, names=lacking.names, is_all=lacking.is_all))
        return lacking.is_all

    def _change(self, wanted: Wanted, scopes: tuple[Extraction, ...]) -> FilteredFindings | RefusedComparison:
        try:
            is_equal = all(self._is_equal(wanted, scope) for scope in scopes)
            read = self.documents.get(body) if (body := self.job.references.get(wanted.reference)) else None
            if is_equal and (read is None or not read.problem):
                return FilteredFindings()
            pair = self._pair(wanted.reference)
            if pair.old.problem:
                return RefusedComparison(key=wanted.key, reason=pair.old.problem)
            if self.noise is None or (wanted.seen and scopes_of_items(wanted.expression, wanted.extraction)):
                known = pair.knowing(frozenset(wanted.seen)).doubting(frozenset(wanted.doubted))
                return FilteredFindings(evaluate(wanted.expression, known, wanted.extraction))
            return self.noise.quiet(wanted)
        except RefusedError as error:
            return RefusedComparison(key=wanted.key, reason=reason_of(error))

    def _with_contexts(
        self, change: FilteredFindings | RefusedComparison, wanted: Wanted, scopes: tuple[Extraction, ...]
    ) -> FilteredFindings | RefusedComparison:
        if isinstance(change, RefusedComparison) or change.is_quiet or not change.found:
            return change
        pair = self._pair(wanted.reference)
        return replace(change, found=with_contexts(change.found, pair, scopes, shows=wanted.shows))

    def _pair(self, reference: int) -> Pair:
        if reference not in self.pairs:
            self.pairs[reference] = Pair(self._old(reference), self.document)
        return self.pairs[reference]

    def _without_noise(self, noise: Quieter, *, text_changed: bool) -> bool:
        """Learn from this poll about the page's noise; return whether any word that is not noise
        differs from the newest version.
        """
        newest = max(self.job.references, default=None)
        if newest is None:
            return text_changed
        if self.job.noise is not None and self.job.noise.learns:
            if text_changed or not are_equal(self._list_learned_digests(), self._digest(newest), self.digest):
                noise.learn(newest)
            else:
                noise.rest()
        return text_changed and noise.is_news(newest)

    def _list_learned_digests(self) -> frozenset[str]:
        """Return the names of the digests that decide whether there is anything to learn: full
        addresses only if they are watched.
        """
        kinds = {interest.kind for wanted in self.job.wanted for interest in interests_of(wanted.expression)}
        if self.job.noise is not None:
            kinds |= {
                thing.sort.removesuffix(".query") for thing in self.job.noise.memory.of("links.query", "images.query")
            }
        return frozenset(name for kind in {"any", *(kinds & {"links", "images"})} for name in KINDS[kind].digests)

    def _is_equal(self, wanted: Wanted, scope: Extraction) -> bool:
        names = digests_in(wanted.expression, wanted.extraction, scope)
        if scope.is_whole:
            return are_equal(names, self._digest(wanted.reference), self.digest)
        new = self._part(scope)
        name = scope.fingerprint
        parts = self.job.known_parts.get(wanted.reference, ())
        known = next((digest for digest in parts if is_current(digest, name)), None)
        return known is not None and are_equal(names, known, new)

    def _use_mended(self, mended: list[Mended]) -> None:
        """Apply replaced selectors to old versions too, and drop cached results of the missing
        parts.
        """
        found = [Target(selector=one.selector, stand_in=one.stand_in) for one in mended]
        self.stand_ins = (*self.stand_ins, *found)
        for document in self.documents.values():
            use(document, found)
            document.parts.clear()
        self.pairs.clear()
        self.changes.clear()
        lost = {one.selector for one in mended}
        self.parts = {scope: part for scope, part in self.parts.items() if not lost.intersection(scope.selectors)}

    def _names(self) -> dict[Extraction, frozenset[str]]:
        """Return the names of the digests needed for each part of the page."""
        names: dict[Extraction, frozenset[str]] = {}
        for wanted in self.job.wanted:
            for scope in scopes_of(wanted.expression, wanted.extraction):
                more = digests_in(wanted.expression, wanted.extraction, scope)
                names[scope] = names.get(scope, frozenset()) | more
        return names

    def _digest_of(self, document: Document) -> Digest:
        return digest_of(document, seed=self.job.seed, further=self.names.get(document.extraction, ()))

    def _note_parts(self, scopes: tuple[Extraction, ...]) -> None:
        for scope in scopes:
            if not scope.is_whole and not extract(self.document, scope).problem:
                self._part(scope)

    def _note_marks(self, wanted: Wanted) -> None:
        """Record the marks of the entries of a feed, and of what must be new, for their watcher."""
        try:
            marks = [
                mark for scope in scopes_of_items(wanted.expression, wanted.extraction) for mark in self._marks(scope)
            ]
            marks += marks_of_seen(wanted.expression, wanted.extraction, self.document)
        except RefusedError as error:  # also at the first check, where nothing is compared yet
            self.refused.append(RefusedComparison(key=wanted.key, reason=reason_of(error)))
            return
        if marks:
            self.marks.append(Marks(key=wanted.key, marks=tuple(dict.fromkeys(marks))))

    def _marks(self, scope: Extraction) -> tuple[str, ...]:
        part = extract(self.document, scope)
        return () if part.problem or part.missing is not None else marks_of(part)

    def _note_selected(self, wanted: Wanted, scopes: tuple[Extraction, ...]) -> None:
        if all(scope.is_whole for scope in scopes):
            return
        parts = [extract(self.document, scope) for scope in scopes]
        refusal = next((part.problem for part in parts if part.problem), "")
        if refusal:
            self.refused.append(RefusedComparison(key=wanted.key, reason=refusal))
            return
        words = sum(part.words for part in parts)
        first = " … ".join(text for part in parts if (text := first_words_of(part)))
        self.selected.append(Selected(key=wanted.key, words=words, first_words=first[:_LONGEST_FIRST_WORDS]))

    def _part(self, scope: Extraction) -> Digest:
        if scope not in self.parts:
            part = extract(self.document, scope)
            if part.problem:
                raise RefusedError(part.problem)
            self.parts[scope] = self._digest_of(part)
        return self.parts[scope]

    def _with_shares(self, digest: Digest) -> Digest:
        """Return the digest with the share of changed words from version to version, if phrases are
        watched.
        """
        newest = max(self.job.references, default=None)
        if newest is None or not any(
            one.kind == "phrases" for w in self.job.wanted for one in interests_of(w.expression)
        ):
            return digest
        shares = shares_in(self.job.known.get(newest))
        old = self.documents.get(self.job.references[newest])
        if old is not None and not (old.problem or old.textless or self.document.textless):
            share = measure_changed_share(old.tokens, self.document.tokens)
            shares = (share, *shares)[:MOST_SHARES] if share else shares
        return replace(digest, objects={**digest.objects, **shares_as_object(shares)})

    def _digest(self, reference: int) -> Digest:
        known = self.job.known.get(reference)
        if known is not None and is_current(known):
            return known
        if reference not in self.digests:
            self.digests[reference] = self._digest_of(self._old(reference))
        return self.digests[reference]

    def _old(self, reference: int) -> Document:
        body = self.job.references[reference]
        if body not in self.documents:  # versions may be equal: a page that changed back
            known = self.job.known.get(reference)
            shares = shares_in(known)
            old = derive_old(self.document, self.job.new, body, known, self.digest, self.job.seed, shares)
            if old is None:
                old = parse_body(body, depth=self.job.depth, keep_tree=self.keep_tree)
                old = replace(old, changed_shares=shares) if shares else old
            self.documents[body] = old
            use(self.documents[body], self.stand_ins)
        return self.documents[body]

    def _examination(self, found: tuple[Found, ...], *, text_changed: bool, problem: str) -> Examination:
        document = self.document
        return Examination(
            charset=document.charset,
            charset_source=document.charset_source,
            media_type=document.media,
            title=document.title,
            digest=self.digest,
            text_changed=text_changed,
            found=found,
            facts=facts_of(document),
            problem=problem,
            suspicion=self.verdict[0],
            why=self.verdict[1],
            frames=addresses_of(document.frames, document.base, depth=self.job.depth),
            parts=tuple(self.parts.values()),
            absent=tuple(self.absent),
            refused=tuple(self.refused),
            selected=tuple(self.selected),
            readings=tuple(self.readings),
            work=self._work(),
            marks=tuple(self.marks),
            targets=tuple(self.targets),
            memory=None if self.noise is None else self.noise.learned,
            second_poll=self.noise is not None and self.noise.second_poll,
            hub=document.hub,
            updated=document.updated,
            unread=document.problem,
        )

    def _work(self) -> Work:
        documents = (self.document, *self.documents.values())
        return Work(
            bodies=len(documents),
            parts=sum(len(document.parts) for document in documents),
            pairs=len(self.changes),
            comparisons=sum(pair.compared for pair in self.pairs.values()),
        )


def readings_of(wanted: Wanted, members: Sequence[Document]) -> Iterator[Readings]:
    """Yield the readings of a version with these members, if asked for and not empty."""
    read = readings if wanted.shows else values
    if found := read(wanted.expression, wanted.extraction, members):
        yield Readings(key=wanted.key, readings=found)


def find_already(wanted: Wanted, members: Sequence[Document]) -> Iterator[Found]:
    """Yield the values of a first version that already satisfy the expression."""
    if not wanted.is_first:
        return
    if change := already(wanted.expression, wanted.extraction, members):
        yield Found(key=wanted.key, reference=0, change=change, extraction=STATE, number=wanted.number)


def facts_of(document: Document) -> Facts:
    """Return the facts of a document."""
    words = document.words
    return Facts(
        words=words,
        links=len(document.links),
        images=len(document.images),
        scripts_only=document.media == "html" and document.scripts > 0 and words < _FEW_WORDS,
        login=document.password and words < _WORDS_OF_A_LOGIN,
        first_words=first_words_of(document),
        note=document.note,
    )


def first_words_of(document: Document) -> str:
    """Return the beginning of a document's text."""
    return " ".join(document.chunks[:_FIRST_WORDS])[:_LONGEST_FIRST_WORDS]
