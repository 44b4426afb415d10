"""Promise: a keyword sentinel reports these words only, with their counts before and after."""

from __future__ import annotations

from tests.world import World, serve
from tidings.clock import HOUR

HEAD = "<h1>Markets</h1><p>Weather: {weather}</p>"


def page(body: str, weather: str = "rain") -> str:
    """Return a page with irrelevant weather."""
    return f"{HEAD.format(weather=weather)}<p>{body}</p>"


def test_keyword_is_reported_with_its_counts_and_nothing_else(world: World):
    """One more "merger" is 1 → 2, anywhere on the page, in any case; new weather is ignored."""
    world.page("/a", page("A merger of mills."))
    world.add("Create Sentinel s Using {/a} Monitor keywords <merger, takeover> Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/a", page("A merger of mills.", weather="sun"))
        service.pass_time(HOUR)
        assert [] == world.changes()
        world.page("/a", page("Second MERGER today. A merger of mills.", weather="sun"))
        service.pass_time(HOUR)
        world.page("/a", page("A takeover of mills.", weather="sun"))
        service.pass_time(HOUR)
    first, second = world.changes()

    assert (["merger"], []) == (first["inserted"], first["deleted"])
    assert [{"kind": "keywords", "object": "merger", "old": 1, "new": 2}] == first["counts"]
    assert 'keyword "merger" 1 → 2' == first["summary"]
    assert "keywords <merger, takeover>" == first["kind"]
    assert (["takeover"], ["merger"]) == (second["inserted"], second["deleted"])
    assert [True, True] == [p.text_changed for p in world.polls()[1:3]]
    assert [] == world.violations()


def test_reworded_phrase_is_reported_with_both_texts(world: World):
    """The text around the phrase is ignored."""
    terms = "<p>Dear customer, please read this: {} with our partners, always.</p>"
    world.page("/a", terms.format("We may share your data"))
    world.add('Create Sentinel s Using {/a} Monitor phrase "we may share your data" Fetch every 1 hour')

    with serve(world) as service:
        service.settle()
        world.page("/a", terms.format("<b>We</b> may share your&nbsp;data").replace("Dear customer", "Hello"))
        service.pass_time(HOUR)
        assert [] == world.changes()
        world.page("/a", terms.format("We may <i>sell</i> your data").replace("Dear customer", "Hello"))
        service.pass_time(HOUR)
    (change,) = world.changes()

    assert [{"old": "We may share your data", "new": "We may sell your data"}] == change["updated"]
    assert ([], []) == (change["inserted"], change["deleted"])
    assert 'Hello, please read this: phrase "We may share your data" → "We may sell your data"' == change["summary"]
    assert [] == world.violations()


def test_keyword_directions_are_separate(world: World):
    """A direction reports only its own kind: a reworded phrase is neither deleted nor inserted."""
    world.page("/a", "<p>The shop is open. Everything is in stock now, dear friends.</p>")
    for direction in ("inserted", "deleted", "updated"):
        world.add(
            f'Create Sentinel {direction} Using {{/a}} Monitor phrase "everything is in stock now" {direction}'
            " Fetch every 1 hour"
        )

    with serve(world) as service:
        service.settle()
        for text in (
            "<p>The shop is open. Everything is in transit now, dear friends.</p>",
            "<p>The shop is open. Everything is in stock now, dear friends.</p>",
            "<p>The shop is open, dear friends.</p>",
        ):
            world.page("/a", text)
            service.pass_time(HOUR)

    assert [["1.1", "1.2"]] == [[c["from_version"], c["to_version"]] for c in world.changes("updated")]
    assert [["1.2", "1.3"]] == [[c["from_version"], c["to_version"]] for c in world.changes("inserted")]
    assert [["1.3", "1.4"]] == [[c["from_version"], c["to_version"]] for c in world.changes("deleted")]
    assert [] == world.violations()


def test_not_keywords_excludes_these_words(world: World):
    """Where nothing else changed, there is no report."""
    world.page("/a", "<p>Tomatoes 3 euro. Advert: shoes</p>")
    world.add(
        "Create Sentinel s Using {/a} Monitor all words AND NOT keywords <advert, shoes, hats> Fetch every 1 hour"
    )

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>Tomatoes 3 euro. Advert: hats</p>")
        service.pass_time(HOUR)
        assert [] == world.changes()
        world.page("/a", "<p>Tomatoes 4 euro. Shoes!</p>")
        service.pass_time(HOUR)
    (change,) = world.changes()

    assert [{"old": "3", "new": "4"}] == change["updated"]
    assert ([], []) == (change["inserted"], change["deleted"])
    assert [] == world.violations()
