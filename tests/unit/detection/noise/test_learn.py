"""Learning of noise from polls and second polls."""

from itertools import pairwise

from tidings.detection.find.findings import finding_of_words
from tidings.detection.noise import learn
from tidings.detection.noise.memory import Memory
from tidings.detection.noise.places import place_of
from tidings.detection.noise.polls import NumberedPoll
from tidings.document.parse import parse


def page(shown):
    rows = "".join(
        f"<p>{chr(97 + n % 20)}{chr(97 + n // 20)}row {chr(97 + n)}name costs {shown}{n} and not more than that</p>"
        for n in range(60)
    )
    return parse(rows.encode(), "text/html")


def test_poll_learns_a_limited_number_of_places(monkeypatch):
    """A page with thousands of changes costs as much as one with four."""
    old, new = page("x"), page("y")
    asked = []

    def count_calls(*given):
        asked.append(given)
        return place_of(*given)

    monkeypatch.setattr(learn, "place_of", count_calls)
    found = learn.learn_from_poll(Memory(), old, new, finding_of_words(old, new).edits, NumberedPoll(1, 1))

    assert learn.MOST_NEW == len(found.things) < 60
    assert len(asked) <= 2 * learn.MOST_NEW


def feed(first, visits, count=3):
    """Return a page of entries with counted visits; `visits` are those of the first, each next one
    has a few more.
    """
    entries = range(first, first + count)
    return parse(
        "".join(
            f"<h2>{WORDS[n % len(WORDS)]} of number {n}</h2><p>The text of this one, visited {visits + 7 * n} times</p>"
            for n in entries
        ).encode(),
        "text/html",
    )


WORDS = "amber hazel ocean vivid cedar jolly quilt xenon ember lemon solar zebra grape noble umbra birch".split()


def learn_poll(memory, old, new, polls, *, is_second=False):
    edits = finding_of_words(old, new).edits
    return learn.learn_from_poll(memory, old, new, edits, NumberedPoll(polls, polls, is_second=is_second))


def prove():
    memory = Memory()
    for poll in range(1, 7):
        memory = learn_poll(memory, feed(0, 100 * poll), feed(0, 100 * poll + 50), poll, is_second=poll in {2, 3, 4})
    return memory


def spread(memory):
    return [thing for thing in memory.masks if thing.is_spread]


def test_noise_of_entries_holds_for_later_entries():
    """The entries in which second polls found it are long gone; visits are noise in each new one."""
    memory = prove()
    assert spread(memory)
    for poll in range(7, 107):
        memory = learn_poll(memory, feed(poll, 10_000 + poll), feed(poll, 20_000 + poll), poll)

    assert spread(memory)
    assert len(memory.things) <= 64


def test_noise_without_an_entry_is_forgotten():
    """If nothing between the same words differs, the proof is removed with its places."""
    memory = prove()
    for poll in range(7, 57):
        old, new = (parse(f"<p>Other words of {poll} are here {side}</p>".encode(), "text/html") for side in "ab")
        memory = learn_poll(memory, old, new, poll)

    assert [] == spread(memory)


def test_quiet_second_polls_of_new_entries_end_the_proof():
    """Visits that stay within a minute are news again."""
    memory = prove()
    for poll in range(7, 27):
        old, new = feed(poll, 100), feed(poll, 100, count=2)
        memory = learn_poll(memory, old, new, poll, is_second=True)

    assert [] == spread(memory)


def items(order):
    """Return a list in an order."""
    rows = "".join(f"<li>{WORDS[int(number)]} {WORDS[int(number) + 6]}</li>" for number in order)
    return parse(f"<p>the things that we sell</p><ul>{rows}</ul><p>contact us</p>".encode(), "text/html")


def test_part_of_a_noisy_order_is_no_own_place():
    """An order with the same first or last items is the same noise."""
    memory = Memory()
    orders = ["012345", "534120", "315402", "315420", "315402", "425130", "524130"]
    for poll, (old, new) in enumerate(pairwise(orders), 1):
        memory = learn_poll(memory, items(old), items(new), poll, is_second=poll in {2, 3})

    assert ["order"] == [thing.name for thing in memory.things]


def node(took, number):
    return parse(
        f"<p>the things that we sell</p><p>Page made in {took} ms by node {number}</p><p>contact us</p>".encode(),
        "text/html",
    )


def test_noise_beside_another_difference_gets_a_second_poll():
    """Earlier ones found the same node by chance; the next learns that it is noise too, and then
    nothing is in doubt.
    """
    memory = Memory()
    for poll in range(1, 8):
        memory = learn_poll(memory, node(poll, 1), node(poll + 50, 1), poll, is_second=poll in {2, 4})
    before = [thing.is_doubtful for thing in memory.masks]
    memory = learn_poll(memory, node(8, 1), node(9, 2), 8)
    doubted = [thing.is_doubtful for thing in memory.masks]
    memory = learn_poll(memory, node(9, 2), node(10, 5), 9, is_second=True)
    memory = learn_poll(memory, node(10, 5), node(11, 7), 10)

    assert ([False], [True]) == (before, doubted)
    assert [(False, 2)] == [(thing.is_doubtful, thing.template.count("")) for thing in memory.masks]
