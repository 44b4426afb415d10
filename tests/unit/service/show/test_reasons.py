from types import SimpleNamespace

import pytest

from tidings.model.observed.poll_reason import PollReason, Why
from tidings.service.show.reasons import spell_poll, spell_reason


@pytest.mark.parametrize("why", list(Why))
def test_each_reason_has_a_sentence(why):
    """And what it names is in it."""
    assert spell_reason(PollReason(why, "5 min")) or why is Why.OTHER
    assert "{" not in spell_reason(PollReason(why, "5 min"))


@pytest.mark.parametrize("sentence", ["asked for", "event deploy, late", "frame; robots.txt ignored: mine", "due"])
def test_an_older_sentence_is_shown_as_it_is(sentence):
    """Nothing of it is lost."""
    assert sentence == spell_reason(PollReason.read(sentence))


def test_a_frame_says_why_robots_are_not_obeyed():
    """The words are those that older versions have stored."""
    assert "frame" == spell_reason(PollReason(Why.FRAME))
    assert "frame; robots.txt ignored: mine" == spell_reason(PollReason(Why.FRAME, "mine"))


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("", "interval"),
        ("robots.txt ignored: mine", "interval; robots.txt ignored: mine"),
        ("no answer", "no answer"),
    ],
)
def test_how_a_poll_ended_goes_before_why_it_was_made(note, expected):
    """But where the note says only that robots.txt was not obeyed."""
    assert expected == spell_poll(SimpleNamespace(reason=PollReason(Why.INTERVAL), note=note))  # type: ignore[arg-type]
