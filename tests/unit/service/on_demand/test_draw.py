"""Two stored versions drawn with their stored change."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tidings.detection.job.contract import Body
from tidings.document.select.extraction import WHOLE
from tidings.model.observed.change import ChangeSet, Edit
from tidings.model.watch.interest import Interest
from tidings.service.on_demand.draw import Drawing, render, view

OLD = Body(data=b"<title>t</title><p>one apple</p><p>seen 7 times</p>", content_type="text/html")
NEW = Body(data=b"<title>t</title><p>one pear</p><p>seen 8 times</p>", content_type="text/html")
DRAWING = Drawing(old=OLD, new=NEW, expression=Interest("words"), extraction=WHOLE)
APPLE = ChangeSet(kinds=("words",), updated=(("apple", "pear"),), edits=(Edit("replace", 1, 2, 1, 2),))


def test_stored_change_is_drawn_from_its_edits():
    """Noise at the time of the change is not marked, though it differs."""
    drawn, compared = view(replace(DRAWING, found=APPLE)), view(DRAWING)

    assert drawn is not None
    assert compared is not None
    assert (1, 1, 0) == drawn.words
    assert (2, 2, 0) == compared.words
    assert "<ins>pear</ins>" in drawn.html.replace(' class="moved"', "")
    assert "<ins>8</ins>" not in drawn.html


def test_edits_of_other_rules_are_compared_again():
    """The stored edits are beyond the present words."""
    beyond = replace(APPLE, edits=(Edit("replace", 1, 99, 1, 99),))
    drawn = view(replace(DRAWING, found=beyond))

    assert drawn is not None
    assert (2, 2, 0) == drawn.words


@pytest.mark.parametrize("body", [Body(data=b"%PDF-1.4 broken", content_type="application/pdf")])
def test_unreadable_version_is_not_drawn(body):
    """The reason is shown instead."""
    assert view(replace(DRAWING, new=body)) is None
    assert "cannot be read" in render((OLD, body)).why_not


def test_a_value_before_a_full_stop_has_no_space_in_either_version():
    """The space between what went and what came belongs to neither."""
    bodies = (Body(data=f"<p>from pier {n}. Tickets</p>".encode(), content_type="text/html") for n in (3, 1))
    old, new = bodies
    drawn = view(replace(DRAWING, old=old, new=new, view="two"))

    assert drawn is not None
    assert (True, True) == ("<del>3</del>. Tickets" in drawn.html, "<ins>1</ins>. Tickets" in drawn.html)
    assert "pier  " not in re.sub(r"<[^>]*>|removed: |added: ", "", drawn.html)
