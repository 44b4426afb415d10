"""A change is a non-empty edit."""

import pytest

from tidings.model.observed.change import ChangeSet, Edit, ObjectCount


def test_empty_change_set_is_false():
    """It is, whatever contributed to it."""
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
def test_edit_or_object_is_a_change(found):
    """One edit of the text, or one object more or less, is enough."""
    assert found


def test_texts_alone_are_no_change():
    """Edits are the truth; texts only show people what edits and objects mean."""
    assert not ChangeSet(inserted=("words",))
