"""A change is a non-empty edit; what differs in nothing is no change."""

import pytest

from tidings.model.observed.change import ChangeSet, Edit, ObjectCount


def test_nothing_found_is_no_change():
    """An empty change set is false, whatever contributed to it."""
    assert not ChangeSet()
    assert not ChangeSet(kinds=("any", "links"))


@pytest.mark.parametrize(
    "found",
    [
        ChangeSet(edits=(Edit("insert", 3, 3, 3, 5),)),
        ChangeSet(objects=(ObjectCount("links", "http://a.example/", 0, 1),)),
    ],
    ids=["edit", "object"],
)
def test_an_edit_or_an_object_is_a_change(found):
    """One edit of the text or one object more or less is a change."""
    assert found


def test_texts_alone_are_no_change():
    """Edits are the truth; texts only say for people what edits and objects mean."""
    assert not ChangeSet(inserted=("words",))
