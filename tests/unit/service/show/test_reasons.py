from types import SimpleNamespace

import pytest

from tidings.model.observed.poll_reason import PollReason, Why
from tidings.service.show.reasons import spell_poll, spell_reason


@pytest.mark.parametrize("why", list(Why))
def test_each_reason_has_a_sentence(why):
    """The placeholder of the sentence is filled."""
    assert spell_reason(PollReason(why, "5 min")) or why is Why.OTHER
    assert "{" not in spell_reason(PollReason(why, "5 min"))


@pytest.mark.parametrize("sentence", ["asked for", "event deploy, late", "frame; robots.txt ignored: mine", "due"])
def test_sentence_of_an_older_version_is_shown_unchanged(sentence):
    """Nothing of it is lost."""
    assert sentence == spell_reason(PollReason.read(sentence))


def test_reason_of_a_frame_names_ignored_robots():
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
def test_note_of_a_poll_replaces_its_reason(note, expected):
    """A note that robots.txt was ignored is added to the reason."""
    assert expected == spell_poll(SimpleNamespace(reason=PollReason(Why.INTERVAL), note=note))  # type: ignore[arg-type]
