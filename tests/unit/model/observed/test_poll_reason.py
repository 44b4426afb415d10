"""The reason of a poll is stored as a text."""

import pytest

from tidings.model.observed.poll_reason import PollReason, Why


@pytest.mark.parametrize("why", [why for why in Why if why is not Why.OTHER])
@pytest.mark.parametrize("of", ["", "deploy", "a: b"])
def test_stored_reason_is_restored(why, of):
    """Its details may have a colon."""
    reason = PollReason(why, of)

    assert reason == PollReason.read(reason.stored)


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("asked for", Why.ASKED),
        ("second look, to tell noise from news", Why.SECOND),
        ("on change", Why.CHANGE),
        ("on change, 5 min later since its server said that it stays fresh", Why.EASED),
        ("on change, sooner than it would be, since the budget has looks to spare", Why.SPARE),
        ("interval, moved to the beginning of its hours", Why.OPENING),
        ("an update was expected, to be seen within 5 min", Why.EXPECTED),
        ("the look for an expected update is late: it was to be made within 5 min", Why.OVERDUE),
        ("needed within 5 min: Then", Why.THEN),
        ("event deploy", Why.EVENT),
        ("frame; robots.txt ignored: it is mine", Why.FRAME),
        ("due", Why.OTHER),
    ],
)
def test_sentence_of_an_older_version_is_restored(sentence, why):
    """It has the same effect as the value that is stored now, and is stored again unchanged."""
    reason = PollReason.read(sentence)

    assert why is reason.why
    assert sentence == reason.stored
