"""Records have one form for instants and problems."""

from types import SimpleNamespace

import pytest

from tidings.clock import SECOND
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.service.show.records import problem_record, rfc3339, spell_gap, spell_poll, spell_reason


def test_instant_has_six_digits():
    """The format is RFC 3339 in UTC with microseconds, so that texts sort like instants."""
    assert [None, "1970-01-01T00:00:00.000000Z", "1970-01-01T00:00:01.500000Z"] == [
        rfc3339(at) for at in (None, 0, 3 * SECOND // 2)
    ]


def test_problem_record_has_its_place_and_details():
    """Details are beside the message."""
    assert {"record": "problem", "where": "s", "message": "no", "kind": "404"} == problem_record(
        "no", where="s", details={"kind": "404"}
    )


def test_gap_is_spelled_in_two_units():
    """A second unit of zero is left out, and less than a minute is a minute."""
    minutes = (0, 5, 60, 75, 24 * 60, 27 * 60 + 30)

    assert ["1 min", "5 min", "1 h", "1 h 15 min", "1 d", "1 d 3 h"] == [spell_gap(m * 60 * SECOND) for m in minutes]


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
