"""What the parent hands to a runner: functions that are named here and do their work in `examiner`, imported where they run.

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
    """Return what a new body says and what changed for each that waits. A page's content never raises."""
    from tidings.detection.job import examiner

    return examiner.examine(job)


def examine_framed(job: FramedJob) -> Examination:
    """Return what a version with frames says and what changed for each that waits. A page's content never raises."""
    from tidings.detection.job import framed

    return framed.examine(job)


def compare_framed(
    pair: tuple[tuple[Part, ...], tuple[Part, ...], Expression, int, Extraction],
) -> tuple[ChangeSet, str]:
    """Return what an expression finds between two versions of a page whose frames are followed: (old, new, …, depth, what is selected)."""
    from tidings.detection.job import framed

    return framed.compare_versions(*pair)


def merge(
    pair: tuple[Body, Body, Expression, Extraction, tuple[Target, ...]],
) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return the stretches of two bodies around the words that changed for an expression (old, new, …, what is selected, what stands in for selectors)."""
    from tidings.detection.job import merged

    return merged.merge_bodies(*pair)


def compare(pair: tuple[Body, Body, Expression, Extraction, tuple[Target, ...]]) -> tuple[ChangeSet, str]:
    """Return what an expression finds between two bodies (old, new, …, what is selected, what stands in for selectors), or nothing and why they
    could not be compared.
    """
    from tidings.detection.job import examiner

    return examiner.compare_bodies(*pair)
