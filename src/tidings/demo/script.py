"""The town's script: its pages, and what happens on them when. It is determined by a seed.

Each page has a story, a generator of (seconds since its last edit, what happened, the page's new
content). Most of them are slow, as most watched pages are; a bus stop and a bakery are not.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import count, cycle
from typing import Final, Literal

from tidings.record import dataclass

Beat = tuple[float, str, str]
Story = Callable[[random.Random], Iterator[Beat]]
Media = Literal["html", "feed"]

CLOCK: Final = "{clock}"
ADVERT: Final = "{advert}"
"""The part that the server fills in anew at each poll."""


@dataclass(frozen=True, slots=True)
class DemoPage:
    """A page of the town, and what its sentinel monitors. `restless`: it differs at every poll."""

    name: str
    title: str
    story: Story
    monitor: str = "all words"
    media: Media = "html"
    restless: bool = False


@dataclass(frozen=True, slots=True)
class TownEdit:
    """An edit of a page, `at` seconds after the town wakes up. `news` says whether the watched part
    changes.
    """

    at: float
    place: str
    text: str
    content: str
    news: bool = True


@dataclass(frozen=True, slots=True)
class ServerTrouble:
    """From `begin` to `end` (seconds) a page's server answers 500, truncates its body, or serves a
    wall with status 200.
    """

    place: str
    begin: float
    end: float
    kind: Literal["500", "cut", "wall"]

    def holds(self, at: float) -> bool:
        """Return whether it applies at an instant."""
        return self.begin <= at < self.end


FIRST_EDIT: Final = 2.0
KILLS: Final = (36.0, 180.0)
"""When the service is killed, and how long after that again (seconds)."""
TROUBLES: Final = (
    ServerTrouble("library", 9.0, 21.0, "500"),
    ServerTrouble("tickets", 22.0, 36.0, "wall"),
    ServerTrouble("cinema", 44.0, 56.0, "cut"),
)


def opening(seed: int) -> Mapping[str, str]:
    """Return the initial content of each page."""
    return {place.name: next(_beats(place, seed))[2] for place in PLACES}


def edits(seed: int) -> Iterator[TownEdit]:
    """Yield the town's edits in order of time, without end."""
    return heapq.merge(*(_edits(place, seed) for place in PLACES), key=lambda edit: (edit.at, edit.place))


QUIET: Final = "("
"""How a story marks what its sentinel does not ask for."""


def _edits(place: DemoPage, seed: int) -> Iterator[TownEdit]:
    beats = _beats(place, seed)
    next(beats)
    at = FIRST_EDIT
    for gap, text, content in beats:
        at += gap
        yield TownEdit(round(at, 3), place.name, text, content, news=not text.startswith(QUIET))


def _beats(place: DemoPage, seed: int) -> Iterator[Beat]:
    return place.story(random.Random(f"{seed}:{place.name}"))


# -- pages ----------------------------------------------------------------------------------------


def page(title: str, *parts: str) -> str:
    """Return an HTML page; parts that do not begin with `<` become paragraphs."""
    body = "\n".join(part if part.startswith("<") else f"<p>{escape(part, quote=False)}</p>" for part in parts)
    return f"<!doctype html>\n<html lang=en><title>{title}</title>\n<h1>{title}</h1>\n{body}\n</html>\n"


def feed(title: str, items: Sequence[str]) -> str:
    """Return an Atom feed, the newest item first."""
    entries = "\n".join(
        f'<entry><title>{escape(item)}</title><link href="/items/{number}"/></entry>'
        for number, item in reversed(list(enumerate(items, 1)))
    )
    head = f'<?xml version="1.0"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><title>{title}</title>'
    return f"{head}\n{entries}\n</feed>\n"


# -- stories --------------------------------------------------------------------------------------

LIMIT: Final = 30


def _kettle(rng: random.Random) -> Iterator[Beat]:
    def show(price: int) -> str:
        return page(
            "The tea shop", "Kettle, 1.7 litres, brushed steel.", f"It costs {price} euro.", "Ready for collection."
        )

    price = 34
    yield 0.0, "", show(price)
    prices = iter((31, 29))
    for gap in (0.0, 5.0):
        price = next(prices)
        yield gap, _price(price, below=price < LIMIT), show(price)
    while True:
        before, price = price, price + rng.choice([step for step in (-4, -3, -2, 2, 3, 4) if 22 <= price + step <= 38])
        yield rng.uniform(9, 20), _price(price, below=price < LIMIT <= before), show(price)


def _price(price: int, *, below: bool) -> str:
    return f"the kettle: {price}, below {LIMIT}" if below else f"the kettle costs {price} now"


def _course(rng: random.Random) -> Iterator[Beat]:
    def show(state: str) -> str:
        return page("University of the town", "Astronomy for beginners, Tuesdays at six.", f"Enrolment: {state}.")

    yield 0.0, "", show("closed")
    for round_ in count():
        places = rng.randint(3, 6)
        yield 4.0 if round_ == 0 else rng.uniform(20, 40), "the course opens", show(f"open, {places} places")
        for left in range(places - 1, 0, -1):
            yield rng.uniform(6, 14), f"({left} left)", show(f"open, {left} {'place' if left == 1 else 'places'}")
        yield rng.uniform(6, 14), "the course is full", show(f"full, waiting list {round_ + 1}")


_NOTICES: Final = (
    "The choir rehearses on Thursday evening in the old school, and new voices are welcome.",
    "A grey cat with one white paw has been found near the harbour and is well.",
    "The library sells books that nobody reads any more, on Saturday from nine to noon.",
    "Who has lost a set of keys with a small wooden fish? Ask for them at the bakery.",
    "The bridge at the mill is closed to carts until the new planks have been laid.",
)
_THINGS: Final = (
    "a ladder",
    "an oven",
    "a cello",
    "a pram",
    "a sledge",
    "a desk",
    "two chairs",
    "a map",
    "a lamp",
    "a kite",
)


def _board(rng: random.Random) -> Iterator[Beat]:
    notices = list(_NOTICES)
    yield 0.0, "", page("The notice board", *notices)
    notices.insert(0, notices.pop())
    yield 7.0, "a paragraph moves up", page("The notice board", *notices)
    for number in count(1):
        if number % 2:
            notices.append(f"For sale: {rng.choice(_THINGS)}, {rng.randint(5, 90)} euro (notice {number // 2 + 1}).")
            yield rng.uniform(10, 22), "a notice is added", page("The notice board", *notices)
        else:
            notices.insert(0, notices.pop(rng.randrange(2, len(_NOTICES))))
            yield rng.uniform(10, 22), "a paragraph moves up", page("The notice board", *notices)


_ITEMS: Final = (
    "Mayor opens the new bridge", "Storm keeps the ferries in", "Baker wins the prize again", "Museum shows old maps",
    "School roof is repaired", "Market moves to the square", "Record catch at the harbour", "Chess club beats the city",
)  # fmt: skip


def _gazette(rng: random.Random) -> Iterator[Beat]:
    items = ["Spring fair begins in May", "Town gets a town crier"]
    yield 0.0, "", feed("The Gazette", items)
    for number, title in enumerate(cycle(rng.sample(_ITEMS, len(_ITEMS)))):
        items = [*items, title if number < len(_ITEMS) else f"{title} ({number // len(_ITEMS) + 1})"]
        yield 2.0 if number == 0 else rng.uniform(8, 18), "the feed gets an item", feed("The Gazette", items)


def _square(rng: random.Random) -> Iterator[Beat]:
    links = ['<a href="/stalls">Stalls</a>', '<a href="/parking">Parking</a>']

    def show() -> str:
        banner = f"<p>It is {CLOCK}. <b>{ADVERT}</b> <img src='/adverts/{ADVERT}.png' alt=''></p>"
        return page("The market square", banner, f"<nav>{' '.join(links)}</nav>")

    yield 0.0, "", show()
    for number in count(1):
        links.append(f'<a href="/fair/{number}">Fair {number}</a>')
        yield 34.0 if number == 1 else rng.uniform(60, 120), "a link is added", show()


def _bus(rng: random.Random) -> Iterator[Beat]:
    lines = {4: 0, 7: 0, 12: 0}

    def show() -> str:
        rows = "".join(
            f"<tr><td>Line {line}<td>{f'{late} min late' if late else 'on time'}</tr>" for line, late in lines.items()
        )
        return page("The bus stop", f"<table>{rows}</table>")

    yield 0.0, "", show()
    while True:
        line = rng.choice([4, 7, 12])
        lines[line] = rng.choice([late for late in range(10) if late != lines[line]])
        yield rng.uniform(1.5, 3.5), f"line {line} +{lines[line]} min", show()


_BREADS: Final = ("rye", "spelt", "walnut", "potato", "oat", "barley", "olive", "onion", "seed", "milk")


def _bakery(rng: random.Random) -> Iterator[Beat]:
    bread, price = "rye", 4
    yield 0.0, "", page("The bakery", f"Fresh from the oven: {bread} bread, {price} euro a loaf.")
    while True:
        bread = rng.choice([kind for kind in _BREADS if kind != bread])
        price = rng.randint(3, 6)
        content = page("The bakery", f"Fresh from the oven: {bread} bread, {price} euro a loaf.")
        yield rng.uniform(3, 7), f"now {bread} bread", content


def _pool(rng: random.Random) -> Iterator[Beat]:
    degrees = 21
    yield 0.0, "", page("The swimming pool", f"The water has {degrees} degrees.", "Lanes 1 to 4 are free.")
    while True:
        degrees += rng.choice([step for step in (-2, -1, 1, 2) if 15 <= degrees + step <= 27])
        content = page("The swimming pool", f"The water has {degrees} degrees.", "Lanes 1 to 4 are free.")
        yield rng.uniform(12, 25), f"the water has {degrees} degrees", content


def _library(rng: random.Random) -> Iterator[Beat]:
    yield 0.0, "", page("The library", "Open from 9 to 17.", "New: a history of the mill.")
    for number in count(1):
        hour = 18 + number % 4
        content = page("The library", f"Open from 9 to {hour}.", f"New: the diary of a ferryman, volume {number}.")
        yield 12.0 if number == 1 else rng.uniform(50, 90), "the library: new hours", content


def _cinema(rng: random.Random) -> Iterator[Beat]:
    films = ("The Lighthouse Keeper", "Night Ferry", "Two Umbrellas", "The Last Tram", "Snow on the Pier")
    shuffled = rng.sample(films, len(films))
    yield 0.0, "", page("The cinema", f"Tonight: {shuffled[0]}, at eight.")
    for number in count(1):
        film = shuffled[number % len(films)]
        content = page(
            "The cinema", f"Tonight: {film}, at {('eight', 'nine', 'ten')[number % 3]}.", f"Hall {number % 2 + 1}."
        )
        yield rng.uniform(18, 35), "another film", content


def _tickets(rng: random.Random) -> Iterator[Beat]:
    left = 80
    yield 0.0, "", page("The ticket office", "Summer concert on the pier.", f"{left} seats are left.")
    while True:
        left = left - rng.randint(1, 9) if left > 9 else 80 + rng.randint(1, 9)
        content = page("The ticket office", "Summer concert on the pier.", f"{left} seats are left.")
        yield rng.uniform(40, 90), f"{left} seats are left", content


def _museum(rng: random.Random) -> Iterator[Beat]:
    """Its pages are rebuilt again and again with the same content."""
    for number in count():
        build = f"<div class='b{rng.randint(1000, 9999)}'>Open on Sunday. Two rooms of old maps.</div><!-- build {number} -->"
        yield 0.0 if number == 0 else rng.uniform(9, 16), "(markup)", page("The museum", build)


_QUIET: Final = (
    "archive", "baths", "bridge", "chapel", "chemist", "choir", "college", "council", "court", "dentist", "doctor", "ferry",
    "florist", "fountain", "garden", "grocer", "harbour", "hospital", "inn", "jetty", "kennel", "mill", "orchard", "quarry",
)  # fmt: skip
_NEWS: Final = (
    "Closed on Friday.", "Open again from Monday.", "The roof is being repaired.", "Ring twice, please.", "A new apprentice starts.",
    "Visits only by arrangement.", "The meeting has been put off.", "Helpers are wanted.", "Lost gloves wait here.",
)  # fmt: skip


def _slow(name: str) -> Story:
    """Return the story of a page that hardly ever changes, as most watched pages do."""

    def story(rng: random.Random) -> Iterator[Beat]:
        title = f"The {name}"
        yield 0.0, "", page(title, f"This is the page of the {name}.")
        for number in count(1):
            yield (
                rng.uniform(40, 900),
                f"the {name}: a new notice",
                page(title, f"Notice {number}: {rng.choice(_NEWS)}"),
            )

    return story


PLACES: Final = (
    DemoPage("kettle", "The tea shop", _kettle),
    DemoPage("course", "University of the town", _course, monitor="keywords <open>"),
    DemoPage("board", "The notice board", _board),
    DemoPage("gazette", "The Gazette", _gazette, media="feed"),
    DemoPage("square", "The market square", _square, monitor="all links", restless=True),
    DemoPage("bus", "The bus stop", _bus),
    DemoPage("bakery", "The bakery", _bakery),
    DemoPage("pool", "The swimming pool", _pool),
    DemoPage("library", "The library", _library),
    DemoPage("cinema", "The cinema", _cinema),
    DemoPage("tickets", "The ticket office", _tickets),
    DemoPage("museum", "The museum", _museum),
    *(DemoPage(name, f"The {name}", _slow(name)) for name in _QUIET),
)
