"""The functions that the parent passes to a runner; they import `examiner` where they run.

The parent never parses page content, so it never loads the parsers (contracts §7, §10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidings.detection.job.contract import Body, Examination, FramedJob, Job, Part, Target
    from tidings.document.select.extraction import Extraction
    from tidings.model.observed.change import ChangeSet
    from tidings.model.watch.sentinel import Expression


def examine(job: Job) -> Examination:
    """Return the facts of a new body and the changes for each waiting subscription. A page's
    content never raises.
    """
    from tidings.detection.job import examiner

    return examiner.examine(job)


def examine_framed(job: FramedJob) -> Examination:
    """Return the facts of a version with frames and the changes for each waiting subscription. A
    page's content never raises.
    """
    from tidings.detection.job import framed

    return framed.examine(job)


def compare_framed(
    pair: tuple[tuple[Part, ...], tuple[Part, ...], Expression, int, Extraction],
) -> tuple[ChangeSet, str]:
    """Return the findings of an expression between two versions of a page with frames: (old, new,
    …, depth, selection).
    """
    from tidings.detection.job import framed

    return framed.compare_versions(*pair)


def merge(
    pair: tuple[Body, Body, Expression, Extraction, tuple[Target, ...]],
) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return the passages of two bodies around the words that changed for an expression (old, new,
    …, selection, replaced selectors).
    """
    from tidings.detection.job import merged

    return merged.merge_bodies(*pair)


def compare(pair: tuple[Body, Body, Expression, Extraction, tuple[Target, ...]]) -> tuple[ChangeSet, str]:
    """Return the findings of an expression between two bodies (old, new, …, selection, replaced
    selectors), or nothing and why they could not be compared.
    """
    from tidings.detection.job import examiner

    return examiner.compare_bodies(*pair)
