"""Phrases to the letter of the thesis."""

from hypothesis import given
from hypothesis import strategies as st

from tidings.detection.compare.instances import STRICT, Rules
from tidings.detection.compare.phrases import compare_phrase

BOX_1 = Rules(box=1, exact=True, resolved=False)
words = st.lists(st.sampled_from("abpq"), max_size=30)


def rows(old, new, rules=STRICT):
    change = compare_phrase(old.split(), new.split(), ["p", "q"], rules)
    return [(edit.status, edit.old, edit.new) for edit in change.edits]


def test_rows_are_signatures_with_counts():
    """Two more of one signature are one i+, two fewer are one d-."""
    once, thrice = "a p q b", "a p q b a p q b a p q b"

    assert [("i+", (3, 3), (9, 11))] == rows(once, thrice, BOX_1)
    assert [("d-", (9, 11), (3, 3))] == rows(thrice, once, BOX_1)


def test_shortest_text_between_the_boxes_is_used():
    """The thesis leaves it open; an update is most likely there."""
    assert [("u", (1, 3), (5, 8))] == rows("a p q b", "a x x x a p x q b", BOX_1)


@given(old=words, new=words)
def test_rows_are_the_difference_of_counts(old, new):
    """Each signature that one page has more often than the other is one row, and there are no
    others.
    """
    change = compare_phrase(old, new, ["p", "q"], BOX_1)

    def signatures(words):
        found = [
            (tuple(words[max(0, at - 1) : at]), tuple(words[at + 2 : at + 3]))
            for at in range(len(words) - 1)
            if words[at : at + 2] == ["p", "q"]
        ]
        return {each: found.count(each) for each in found}

    before, after = signatures(old), signatures(new)
    more = [each for each in after if after[each] > before.get(each, 0)]
    fewer = [each for each in before if before[each] > after.get(each, 0)]

    assert len(more) == sum(edit.status[0] == "i" for edit in change.edits)
    assert len(fewer) == sum(edit.status[0] in "du" for edit in change.edits)
    assert len([each for each in fewer if each in after]) == sum(edit.status == "d-" for edit in change.edits)
