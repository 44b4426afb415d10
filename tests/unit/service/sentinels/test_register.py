"""From text to rows: all or nothing, the life of a name, and the names that are made up."""

from dataclasses import replace

import pytest

from tidings.clock import DAY, SECOND
from tidings.errors import AddressError, SentinelError, UnknownNameError, UsageError
from tidings.language.parser import is_name, parse
from tidings.model.observed.unit import SentinelMove
from tidings.model.watch.sentinel import Command
from tidings.service.sentinels import register
from tidings.service.sentinels.author import INSTALLATION, Author
from tidings.service.sentinels.register import (
    LONGEST_NAME,
    UNDO,
    automatic_name,
    channel_words,
    statement_for,
)
from tidings.storage.people import accounts
from tidings.storage.watches import endpoints, sentinels, subscriptions

NOW = 1_700_000_000 * SECOND
ONE = "Create Sentinel {} Using https://{}.example/ Monitor any change"


@pytest.fixture
def do(world):
    """Return a function that registers a text."""

    def register_text(text, *, now=NOW, author=None):
        if author is None:
            return register.register(world.database, text, settings=world.settings, now=now)
        return world.write(register.carry_out, text, world.settings, now, "", author)

    return register_text


def texts(world):
    """Return the text of each living sentinel by its name."""
    return {row.name: row.text for row in world.read(sentinels.listing) if row.state != "ended"}


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (ONE.format("Create", "b"), SentinelError),
        ("Drop nobody", SentinelError),
        (ONE.format("b", "b") + ' Notify by webhook secret "none"; Using', SentinelError),
        ("Create Sentinel b Using file:///etc/passwd Monitor any change", (SentinelError, AddressError)),
    ],
)
def test_all_statements_are_written_or_none(world, do, bad, error):
    """The first one is good."""
    with pytest.raises(error):
        do(f"{ONE.format('a', 'a')}; {bad}")

    assert {} == texts(world)


def test_each_kind_of_statement_is_counted(world, do):
    """Nothing at all is something else than nothing new."""
    made = do(f"{ONE.format('a', 'a')}; Create Event e Using webhook; Defaults For Tags t Fetch every 2 hour")
    again = do("Alter a Monitor any change; Drop Event e")
    other = do("Alter a Monitor links; Disable a")

    assert (["a"], 1, 1) == ([row.name for row in made.made], len(made.defaults), len(made.events))
    assert (["a"], [], 1) == ([row.name for row in again.unaltered], [*again.altered], len(again.events_dropped))
    assert (["a"], ["disable"]) == ([row.name for row in other.altered], [c.verb for c, _ in other.commanded])
    assert all(one.is_something for one in (made, again, other))
    assert not do("").is_something


def test_receivers_are_ready_with_their_sentinel(world, do):
    """Also those of an alteration."""
    do(f"{ONE.format('a', 'a')} Notify by email a@x.example, console")
    do("Alter a Notify by email b@x.example")

    found = {(row.kind, row.address) for row in world.read(endpoints.listing)}
    assert {("email", "a@x.example"), ("email", "b@x.example"), ("console", "")} == found


def test_derived_sentinel_stands_for_itself(world, do):
    """Its text names no base; it starts and ends with it, or at once if that has ended."""
    do(f"{ONE.format('base', 'a')} Fetch every 3 hour")
    made = do("Create Sentinel b Using base Monitor links").made[0]

    assert "every 3 hour" in made.text
    assert "Using https://a.example/" in made.text
    assert made.text.endswith("From start(base)\n  To end(base)")
    assert "base" == world.read(sentinels.get, made.base_id).name
    row = world.read(sentinels.find, "base")
    world.write(sentinels.move, SentinelMove(sentinel_id=row.id, state="ended", at=NOW, reason="x"))
    alone = do("Create Sentinel c Using base Monitor links").made[0]
    assert "(base)" not in alone.text
    assert (NOW, None) == (alone.start_at, alone.end_at)
    only = do("Create Sentinel d Using base Monitor links For 2 day").made[0]
    assert NOW + 2 * DAY == only.end_at


@pytest.mark.parametrize(
    ("verbs", "states"),
    [
        ("Disable", ["disabled"]),
        ("Disable Disable", ["disabled", "disabled"]),
        ("Disable Enable", ["disabled", "created"]),
        ("Confirm", ["created"]),
        ("Drop", ["ended"]),
    ],
)
def test_commands_move_a_sentinel(world, do, verbs, states):
    """Each as far as it has an effect."""
    do(ONE.format("a", "a"))

    assert states == [do(f"{verb} a").commanded[0][1].state for verb in verbs.split()]


@pytest.mark.parametrize("verb", ["enable", "disable", "confirm"])
def test_ended_sentinel_takes_no_command(world, do, verb):
    """The message says why it has ended."""
    do(ONE.format("a", "a"))
    row = world.read(sentinels.find, "a")
    end = SentinelMove(sentinel_id=row.id, state="ended", at=NOW, reason="its end has come")
    world.write(sentinels.move, end)

    with pytest.raises(UnknownNameError, match="its end has come"):
        world.write(register.command, Command(verb, "a"), now=NOW)


def test_drop_can_be_undone_for_a_day(world, do):
    """Not later, and only a drop."""
    do(ONE.format("a", "a"))
    with pytest.raises(UsageError, match="was not dropped"):
        world.write(register.take_back, "a", now=NOW)
    do("Drop a")
    (row,) = [world.read(sentinels.last_of, "a")]

    assert DAY == UNDO
    assert [True, False] == [register.can_be_taken_back(row, NOW + UNDO + late) for late in (0, 1)]
    with pytest.raises(UsageError, match="more than a day ago"):
        world.write(register.take_back, "a", now=NOW + UNDO + 1)
    assert "created" == world.write(register.take_back, "a", now=NOW + UNDO).state
    assert not register.can_be_taken_back(world.read(sentinels.find, "a"), NOW)


def test_new_name_stands_in_all_texts(world, do):
    """In those that start or end with it; its revision stays, and the former name is free."""
    do(f"{ONE.format('a', 'a')}; {ONE.format('b', 'b')} From end(a); {ONE.format('c', 'c')} To start(b)")
    row = world.write(register.rename, "a", "z", now=NOW)

    assert ("z", 1) == (row.name, row.revision)
    found = texts(world)
    assert {"z", "b", "c"} == found.keys()
    assert "end(z)" in found["b"]
    assert "start(b)" in found["c"]
    assert row == world.write(register.rename, "z", "z", now=NOW)


@pytest.mark.parametrize(
    ("new", "error", "text"),
    [("1a", UsageError, "such|write for example"), ("create", UsageError, "cannot be a name"), ("b", UsageError, "b")],
)
def test_impossible_name_is_refused(world, do, new, error, text):
    """It says how a name looks; a name that another has stays theirs."""
    do(f"{ONE.format('a', 'a')}; {ONE.format('b', 'b')}")
    with pytest.raises(error, match=text):
        world.write(register.rename, "a", new, now=NOW)
    with pytest.raises(UnknownNameError):
        world.write(register.rename, "nobody", "c", now=NOW)

    assert {"a", "b"} == texts(world).keys()


def test_defaults_of_a_tag_are_set_and_removed(world, do):
    """Each tag has its own text; without clauses it has none. They are of the author alone."""
    anna = world.write(accounts.add, "anna", "editor", "x", at=NOW).id
    author = Author(anna, sees_all=False)
    do("Defaults For Tags s, t Fetch every 2 hour")
    do("Defaults For Tags t Fetch every 3 hour", author=author)
    do("Defaults For Tags s")

    def clauses(tag, who=INSTALLATION):
        found = world.read(lambda c: register.group(c, who)(tag))
        return None if found is None else [word for word, _ in found.stated]

    assert (None, ["fetch"], ["fetch"], None) == (
        clauses("s"),
        clauses("t"),
        clauses("t", author),
        clauses("s", author),
    )
    assert "every 3 hour" in world.read(sentinels.get_tag_default, "t", owner_id=anna)


def test_others_on_a_page_are_named(world, do):
    """Those that have not ended; a sentinel does not name itself."""
    do(f"{ONE.format('a', 'x')}; {ONE.format('b', 'x')}; {ONE.format('c', 'y')}; {ONE.format('d', 'x')}; Drop d")

    assert [["b"], ["a"], []] == [world.read(register.watching, world.read(sentinels.find, n).id) for n in "abc"]


def test_context_has_only_what_its_author_sees(world, do):
    """Of another account there is no sentinel."""
    anna, bob = (world.write(accounts.add, name, "editor", "x", at=NOW).id for name in ("anna", "bob"))
    do(ONE.format("hers", "a"), author=Author(anna, sees_all=False))

    def sees(author):
        return world.read(lambda c: register.lookup(c, author)("hers")) is not None

    assert [True, True, False] == [sees(a) for a in (INSTALLATION, Author(anna, False), Author(bob, False))]
    assert world.read(lambda c: register.lookup(c)("nobody")) is None


def test_sentinel_is_named_by_its_title(world, do):
    """Beside other names; the same name changes nothing."""
    do(f"{ONE.format('page', 'shop')}; {ONE.format('shop-kettle', 'b')}")
    row = world.read(sentinels.find, "page")
    (sub,) = world.read(subscriptions.listing, sentinel_id=row.id)
    world.write(lambda c: c.execute("UPDATE page SET title = 'Kettle' WHERE id = :id", id=sub.page_id))
    named = world.write(register.name_by_title, row.id, url="https://shop.example/", now=NOW)

    assert "shop-kettle-2" == named.name
    assert "Create Sentinel shop-kettle-2 " in named.text
    assert named == world.write(register.name_by_title, row.id, url="https://shop.example/", now=NOW)


@pytest.mark.parametrize(
    ("url", "title", "taken", "name"),
    [
        ("https://www.shop.example/a", "Blue Kettle", (), "shop-blue-kettle"),
        ("https://shop.example/lamps/brass.html", "", (), "shop-brass"),
        ("https://shop.example/lamps/br%C3%A4ss", "", (), "shop-bräss"),
        ("https://shop.example/", "", (), "shop"),
        ("https://shop.example/", "Shop shop Shop", (), "shop"),
        ("https://127.0.0.1/x", "", (), "page-127-0-1-x"),
        ("https://例え.jp/", "日本", (), "例え-日本"),
        ("https://shop.example/", "", ("SHOP", "shop-2"), "shop-3"),
        ("https://monitor.example/", "", (), "monitor-2"),
        ("https://a.example/", "b" * 60, (), "a"),
        (f"https://{'a' * 50}.example/", "b", (), "a" * LONGEST_NAME),
        (f"https://{'a' * 20}.example/", "b" * 19, (), f"{'a' * 20}-{'b' * 19}"),
        (f"https://{'a' * 20}.example/", "b" * 20, (), "a" * 20),
        ("command:/usr/bin/df -h", "", (), "df-h"),
    ],
)
def test_name_is_made_of_host_and_title(url, title, taken, name):
    """It is free, no word of the language, and bounded."""
    assert name == automatic_name(url, title, taken)
    assert not parse(ONE.format(name, "x")).problems


@pytest.mark.parametrize("title", ["हिन्दी समाचार", "עִבְרִית", "العَرَبِيَّة", "தமிழ்", "x̳y", "ﬁ ①", "--", "Using", "a\n-- b"])
def test_a_generated_name_can_be_written(title):
    """Also of a title with marks of vowels, which no name has."""
    assert is_name(automatic_name("https://e.org/", title, ()))


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("https://x.example/hook", "webhook https://x.example/hook"),
        ("http://x.example/a@b daily", "webhook http://x.example/a@b daily"),
        ("me@x.example", "email me@x.example"),
        ("me@x.example every 1 hour", "email me@x.example every 1 hour"),
        ("mailto://me@x.example", "mailto://me@x.example"),
        ("console", "console"),
        ("tgram://token/chat a@b", "tgram://token/chat a@b"),
        ("", ""),
    ],
)
def test_receiver_is_known_by_its_address(target, words):
    """A webhook or e-mail; anything else names its channel."""
    assert words == channel_words(target)


@pytest.mark.parametrize(
    ("every", "line"),
    [("2 hour", "Fetch every 2 hour"), ("at 08:00", "Fetch at 08:00"), (None, "Fetch on change")],
)
def test_add_stands_for_a_statement(every, line):
    """Line by line, with the further clauses last."""
    text = statement_for(
        "https://x.example/", name="a", monitor="links", every=every, notify=[" me@x.example "], clauses=["Tags t"]
    )

    assert [
        "Create Sentinel a Using https://x.example/",
        "Monitor links",
        line,
        "Notify By email me@x.example",
        "Tags t",
    ] == text.splitlines()
    assert not parse(text).problems
    assert 'Sentinel "two words" ' in statement_for(
        "https://x.example/", name="two words", monitor="links", every=None, notify=()
    )


def test_file_is_watched_below_the_allowed_folders(world, tmp_path):
    """The message names them; a command needs its own setting."""
    settings = replace(world.settings, fetch=replace(world.settings.fetch, allow_files=(str(tmp_path),)))

    def read(url):
        (statement,) = parse(f"Create Sentinel a Using {url} Monitor any change", files=True).statements
        return statement

    register.check_pages(read(f"file://{tmp_path}/a.txt"), settings)
    with pytest.raises(AddressError, match="allow_files"):
        register.check_pages(read("file:///etc/passwd"), settings)
