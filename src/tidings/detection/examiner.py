"""The examiner: charset, pre-scan, facts, digests and all comparisons of one body (contracts.md §7).

Pure, and run in a process that can be killed. The old bodies are parsed only where the gates cannot tell.
"""

from __future__ import annotations

from dataclasses import replace

from tidings.detection.expression import digests_of, evaluate, spelled
from tidings.detection.gates import are_equal, digest_of, is_current
from tidings.detection.job import EXTRACTION, Body, Examination, Facts, Found, Job
from tidings.detection.pair import Pair
from tidings.detection.plausibility import Answer, Verdict, judge
from tidings.document.canonical import RULES_VERSION
from tidings.document.document import Document
from tidings.document.frames import ALL, ALONE, addresses_of
from tidings.document.parse import parse
from tidings.model.change import ChangeSet
from tidings.model.sentinel import Expression
from tidings.model.version import Digest

_FEW_WORDS = 10
_WORDS_OF_A_LOGIN = 200
_FIRST_WORDS = 24
_LONGEST_FIRST_WORDS = 160


def examine(job: Job) -> Examination:
    """Return what a new body says and what changed for each that waits. A page's content never raises."""
    return _Examiner(job).run()


def compare_bodies(old: Body, new: Body, expression: Expression) -> tuple[ChangeSet, str]:
    """Return (what an expression finds between any two bodies, "") or (nothing, why they could not be compared)."""
    before, after = parsed(old), parsed(new)
    problem = before.problem or after.problem
    if problem:
        return ChangeSet(), problem
    return evaluate(expression, Pair(before, after)), ""


def parsed(body: Body, last_good: str = "", *, depth: int = ALONE) -> Document:
    """Return the document that a body is; `depth` is how deep its frames are followed."""
    return parse(
        body.data,
        body.content_type,
        url=body.url,
        charset=body.charset,
        last_good=last_good,
        with_written_frames=depth == ALL,
    )


class _Examiner:
    """The state of one job: documents and findings made so far, each once."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.document = parsed(job.new, job.last_charset, depth=job.depth)
        self.digest = Digest(EXTRACTION, RULES_VERSION, "", {})
        self.documents: dict[int, Document] = {}
        self.digests: dict[int, Digest] = {}
        self.pairs: dict[int, Pair] = {}
        self.changes: dict[tuple[int, Expression], ChangeSet] = {}
        self.verdict: Verdict = ("", "")

    def run(self) -> Examination:
        if self.document.problem:
            return self._examination((), text_changed=False, problem=self.document.problem)
        self.digest = digest_of(self.document, seed=self.job.seed)
        self._try_last_charset()
        text_changed = self._text_changed()
        found = tuple(self._found())
        problem = next((document.problem for document in self.documents.values() if document.problem), "")
        self.verdict = self._verdict()
        return self._examination(() if problem else found, text_changed=text_changed, problem=problem)

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
                status=job.status,
                usual_words=job.usual_words,
                usual_title=job.usual_title,
                reference_data=b"" if reference is None else reference.data,
                reference_url="" if reference is None else reference.url,
                reference=lambda: None if newest is None else self._old(newest),
            )
        )

    def _try_last_charset(self) -> None:
        """Read the body as the last version was read where that makes the same text: a lost label is no change."""
        job = self.job
        if (
            not job.text_digest
            or not job.last_charset
            or self.digest.text == job.text_digest
            or self.document.charset == job.last_charset
        ):
            return
        other = parsed(replace(job.new, charset=job.last_charset), depth=job.depth)
        if other.problem or other.textless or other.charset == self.document.charset:
            return
        digest = digest_of(other, seed=job.seed)
        if digest.text == job.text_digest:
            self.document, self.digest = other, digest

    def _text_changed(self) -> bool:
        """Compare with the newest version; if its digest was made by other rules, with what today's rules make of it."""
        newest = max(self.job.references, default=None)
        if newest is not None and newest in self.job.known and not is_current(self.job.known[newest]):
            return not self._old(newest).problem and self._digest(newest).text != self.digest.text
        return bool(self.job.text_digest) and self.job.text_digest != self.digest.text

    def _found(self) -> list[Found]:
        found = []
        for wanted in self.job.wanted:
            asked = (wanted.reference, wanted.expression)
            if asked not in self.changes:
                self.changes[asked] = self._change(*asked)
            if change := self.changes[asked]:
                found.append(
                    Found(key=wanted.key, reference=wanted.reference, change=change, kind=spelled(wanted.expression))
                )
        return found

    def _change(self, reference: int, expression: Expression) -> ChangeSet:
        if are_equal(digests_of(expression), self._digest(reference), self.digest):
            return ChangeSet()
        old = self._old(reference)
        if old.problem:
            return ChangeSet()
        if reference not in self.pairs:
            self.pairs[reference] = Pair(old, self.document)
        return evaluate(expression, self.pairs[reference])

    def _digest(self, reference: int) -> Digest:
        known = self.job.known.get(reference)
        if known is not None and is_current(known):
            return known
        if reference not in self.digests:
            self.digests[reference] = digest_of(self._old(reference), seed=self.job.seed)
        return self.digests[reference]

    def _old(self, reference: int) -> Document:
        if reference not in self.documents:
            self.documents[reference] = parsed(self.job.references[reference], depth=self.job.depth)
        return self.documents[reference]

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
        )


def facts_of(document: Document) -> Facts:
    """Return what tells whether a page is what it seems."""
    words = document.words
    first = " ".join(document.chunks[:_FIRST_WORDS])
    return Facts(
        words=words,
        links=len(document.links),
        images=len(document.images),
        scripts_only=document.media == "html" and document.scripts > 0 and words < _FEW_WORDS,
        login=document.password and words < _WORDS_OF_A_LOGIN,
        first_words=first[:_LONGEST_FIRST_WORDS],
    )
