"""Events of calendars are named by their name, time and place."""

from tidings.document.text.calendars import is_of_events, name_events, write_time

TEAM = "BEGIN:VEVENT\nUID:1\nDTSTART;TZID=Europe/Berlin:20261203T100000\nSUMMARY:Team\\, all\nLOCATION:Hall 2\nEND:VEVENT\n"
PARTY = "BEGIN:VEVENT\nSUMMARY:Party\nDTSTART:20270601\nEND:VEVENT\n"


def name(text: str, begin: str, end: str) -> str:
    """Return the events of the part of a text from one text to the end of another."""
    start = text.index(begin)
    return name_events(text, start, text.index(end, start) + len(end))


def test_event_around_a_part_is_named():
    """A part that leaves the event without another has none."""
    text = f"BEGIN:VCALENDAR\n{TEAM}{PARTY}END:VCALENDAR"

    assert "Team, all, 2026-12-03 10:00" == name(text, "Hall", "Hall")
    assert "Party, 2027-06-01" == name(text, "Party", "Party")
    assert ["", ""] == [name(text, "BEGIN", "VCAL"), name(text, "20270601", "END:VEVENT")]


def test_new_events_are_named_with_their_place():
    """The part may begin within the event before, whose rest then follows the part; if that event
    changed as well, it is named.
    """
    same = TEAM + PARTY.replace("END", "LOCATION:Hall 2\nEND")
    other = TEAM.replace("Hall 2", "Room 5") + PARTY.replace("END", "LOCATION:Hall 2\nEND")

    assert "Party, 2027-06-01" == name(TEAM + PARTY, "BEGIN:VEVENT\nSUMMARY:Party", "END:VEVENT")
    assert "Party, 2027-06-01, Hall 2" == name(same, "LOCATION", "DTSTART:20270601")
    assert "Team, all, 2026-12-03 10:00: LOCATION:Room 5; Party, 2027-06-01, Hall 2" == name(
        other, "LOCATION", "DTSTART:20270601"
    )
    assert is_of_events(PARTY)
    assert not is_of_events("SUMMARY:Party")


def test_times_are_written_as_people_read_them():
    """Another text stays."""
    assert ["2026-12-03 10:00 UTC", "2026-12-03", "soon", ""] == [
        write_time(text) for text in ("20261203T100000Z", "20261203", "soon", "")
    ]
