"""The examiner with its tables loaded: the process from which workers are forked imports this once.

What is read or compiled at the first page (tables of walls, patterns, methods of dataclasses) takes
as long as sixty pages. A worker that is forked after an examination has it, and so has each that
takes its place. If the examination fails, the workers do without it.
"""

from __future__ import annotations

import contextlib
import pickle
from typing import Final

from tidings.detection.job.contract import Body, Job, Noise, Wanted
from tidings.detection.job.examiner import examine
from tidings.model.watch.interest import Interest

_PAGE: Final = b"""<!doctype html><title>News</title><h1>News</h1><ul><li><a href="/n/%d?s=%d">Item %d</a> at 12:3%d</ul>
<p>%d of 1,000 sold for \xe2\x82\xac %d.50, 2024-05-0%d <img src="/i/%d.png">"""
_HOUR: Final = 3_600_000_000


def practise() -> None:
    """Examine a page of our own twice: as a first version, and beside it another one."""
    old, new = (Body(data=_PAGE % ((n,) * 8), content_type="text/html", url="https://a.example/") for n in (1, 2))
    first = examine(Job(new=old, references={}, known={}, wanted=()))
    job = Job(
        new=new,
        references={1: Body(data=old.data, content_type=old.content_type, url=old.url, charset=first.charset)},
        known={1: first.digest},
        wanted=(Wanted(key=1, reference=1, expression=Interest("any")),),
        last_charset=first.charset,
        text_digest=first.digest.text,
        usual_words=first.facts.words,
        usual_title=first.title,
        asked_url=new.url,
        noise=Noise(at=2 * _HOUR, times={1: _HOUR}, learns=True, polls=2),
    )
    pickle.loads(pickle.dumps(examine(pickle.loads(pickle.dumps(job)))))  # noqa: S301 - both are our own


with contextlib.suppress(Exception):  # otherwise no worker would start, and no page be compared
    practise()
