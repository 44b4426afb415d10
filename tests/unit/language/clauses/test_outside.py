"""Events from outside: Create Event, Drop Event, and sentinels that name them."""

import pytest

from tidings.errors import SentinelError
from tidings.language.build import any_change, event, every, minutes, on_event, sentinel
from tidings.language.parser import parse, read
from tidings.language.write.printer import to_text
from tidings.language.yaml.form import load, to_yaml
from tidings.model.event_type import CreateEvent, DropEvent, EventSource
from tidings.model.watch.sentinel import Command, FetchAt, FetchEvery, FetchOnChange, FetchOnDemand, Point

MINUTE = 60_000_000
HOUR = 60 * MINUTE
HEAD = "Create Sentinel s Using https://x.example Monitor any change "
EVENTS = {"deploy": ("shop",), "done": (), "x": ()}

STATEMENTS = [
    ("create event deploy using WEBHOOK", CreateEvent("deploy", EventSource("webhook"))),
    (
        r'Create Event r Using file "/srv/a \"b\".csv" every 10 min',
        CreateEvent("r", EventSource("file", path='/srv/a "b".csv', every=10 * MINUTE)),
    ),
    (
        'Create Event c Using command "/bin/a b" "-x" ""',
        CreateEvent("c", EventSource("command", argv=("/bin/a b", "-x", ""))),
    ),
    ("Drop Event done", DropEvent("done")),
    ("Drop event", Command("drop", "event")),
]


@pytest.mark.parametrize(("text", "meant"), STATEMENTS)
def test_statements_are_printed_as_they_are_read(text, meant):
    """This is so in sentences and in YAML."""
    assert (meant,) == read(text)
    assert (meant,) == read(to_text(meant))
    assert (meant,) == load(to_yaml([meant])).statements


CLAUSES = [
    ("Fetch on event(deploy)", "fetch", FetchOnDemand(("deploy",))),
    ("Fetch on event(deploy) or on event(x)", "fetch", FetchOnDemand(("deploy", "x"))),
    ("Fetch on demand or on event(x)", "fetch", FetchOnDemand(("x",))),
    ("Fetch 1 hour slack 5 min or on event(x)", "fetch", FetchEvery(HOUR, 5 * MINUTE, ("x",))),
    ("Fetch at 06:00 or on event(x)", "fetch", FetchAt((360,), events=("x",))),
    ("Fetch on change within 5 min or on event(x)", "fetch", FetchOnChange(within=5 * MINUTE, events=("x",))),
    ("From event(deploy)", "start", Point("event", event="deploy")),
    ("From event(deploy) + 1 hour", "start", Point("event", HOUR, event="deploy")),
    ("To event(done) + 1 min", "end", Point("event", MINUTE, event="done")),
]


@pytest.mark.parametrize(("clause", "field", "meant"), CLAUSES)
def test_clauses_with_events_are_printed_as_they_are_read(clause, field, meant):
    """This is so in sentences and in YAML."""
    (found,) = read(HEAD + clause, events=EVENTS)

    assert meant == getattr(found, field)
    assert (found,) == read(to_text(found))
    assert (found,) == load(to_yaml([found])).statements


FAULTS = [
    ("Create Event deploy Using webhook", '1:14: E21 you already have an event "deploy" (hint: use another name, or Drop Event deploy first)'),
    ("Create Event Fetch Using webhook", '1:14: E04 "Fetch" is a keyword of the language and cannot be a name (hint: try Fetch_1)'),
    ("Create Evnt e Using webhook", '1:8: E03 found "Evnt"; expected "event" (hint: did you mean "event"?)'),
    ("Create Event e Using webhok", '1:22: E03 found "webhok"; expected "command", "file" or "webhook" (hint: did you mean "webhook"?)'),
    ('Create Event e Using file "a.csv"', '1:27: E47 "a.csv" is not a complete path; expected "/srv/report.csv"'),
    ('Create Event e Using file "/srv/../etc/passwd"', '1:27: E47 "/srv/../etc/passwd" is not a complete path; expected "/srv/report.csv"'),
    ('Create Event e Using command "ls -l"', '1:30: E47 there is no program "ls -l" (hint: the command does not run in a shell: write each word as a text of its own, "ls" "-l")'),
    ('Create Event e Using command ""', '1:30: E47 a command must begin with its program; expected "/usr/bin/uptime"'),
    ('Create Event e Using file "/a" every 0 s', '1:38: E05 "0 s" has no length; expected more than 0 s'),
    ("Drop Event deploy", '1:12: E46 the event "deploy" cannot be dropped: shop waits for it (hint: Drop shop first, or alter the sentinels that wait)'),
    ("Drop Event deplo", '1:12: E20 there is no event "deplo" (hint: did you mean "deploy"?)'),
    (HEAD + "To event(nothing)", '1:71: E20 there is no event "nothing" (hint: Create Event nothing Using webhook)'),
    (HEAD + "From event(x) - 1 hour", "1:67: E34 a time before event(x) is impossible, because nobody knows when the event happens (hint: event(x) without a minus)"),
    (HEAD + "Fetch on event(x) or on event(x)", '1:86: E17 the event "x" is named twice (hint: keep one)'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line"), FAULTS)
def test_faults_have_place_code_and_hint(text, line):
    """The hint says what to write instead."""
    assert [line] == [str(problem) for problem in parse(text, events=EVENTS).problems]


def test_event_takes_no_clauses():
    """What follows it is refused at its place."""
    (problem,) = parse("Create Event e Using webhook\nMonitor any change", events={}).problems

    assert ("2:1: E03", "an event takes no clauses") == (str(problem)[:8], problem.hint)


def test_earlier_statements_of_the_text_count():
    """An event that the text creates can be named later; sentinels that it drops or alters do not
    wait for it.
    """
    made = f"Create Event new Using webhook {HEAD} From event(new)"
    known = {"deploy": ("shop",)}

    assert () == parse(made, events={}).problems
    assert ["E20"] == [
        p.code for p in parse(f"{HEAD} From event(new) Create Event new Using webhook", events={}).problems
    ]
    assert ["E46"] == [p.code for p in parse(f"{made} Drop Event new", events={}).problems]
    assert () == parse("Drop shop Drop Event deploy Create Event deploy Using webhook", events=known).problems
    assert () == parse(f"{made} Alter s From now Drop Event new", events={}).problems


def test_stored_text_is_read_without_known_events():
    """No event is then unknown."""
    assert () == parse(f"{HEAD} From event(gone) Drop Event gone").problems


def test_events_can_be_named_in_python():
    """Faults have the same words."""
    assert CreateEvent("e", EventSource("command", argv=("a", "b"), every=MINUTE)) == event(
        "e", command=["a", "b"], every=minutes(1)
    )
    assert EventSource("webhook") == event("e").source
    assert EventSource("file", path="/a") == event("e", file="/a").source
    made = sentinel("s", "https://x.example/", monitor=any_change, fetch=on_event("e", otherwise=every(HOUR)))
    assert FetchEvery(HOUR, events=("e",)) == made.fetch
    with pytest.raises(SentinelError, match="E47"):
        event("e", file="relative")


YAML_FAULTS = [
    ("- event: e", "E25"),
    ("- event: e\n  using: webhook\n  monitor: links", "E45"),
    ("- event: e\n  using: {file: /a, command: b}", "E25"),
    ("- event: e\n  using: {every: 1}", "E25"),
    ("- event: e\n  using: {fil: /a}", "E44"),
    ("- drop_event: e\n  using: webhook", "E45"),
]


@pytest.mark.parametrize(("text", "code"), YAML_FAULTS)
def test_faults_of_the_yaml_form_have_codes(text, code):
    """Each has one."""
    assert [code] == [problem.code for problem in load(text).problems]
