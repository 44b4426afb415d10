"""When our own network counts as down, and when this is announced."""

from __future__ import annotations

from tidings.clock import HOUR, MINUTE, SECOND
from tidings.service.poll.circuit import NetworkWatch


def _hear(watch: NetworkWatch, at: int, *, reached: bool) -> list[str]:
    for host in ("a", "b", "c"):
        watch.note(host, reached=reached, at=at)
    return _report(watch, at)


def _report(watch: NetworkWatch, at: int) -> list[str]:
    """Return the news, which are stored."""
    news = watch.news(at)
    watch.note_reported(news)
    return [kind for kind, _ in news]


def test_outage_is_announced_after_an_hour():
    """The outage is logged at once as down, and announced once as away. The end has both events
    too.
    """
    watch = NetworkWatch()
    seen = [_hear(watch, n * 20 * MINUTE, reached=False) for n in range(5)]

    assert [["network.down"], [], [], ["network.away"], []] == seen
    assert ["network.up", "network.back"] == _hear(watch, 2 * HOUR, reached=True)


def test_short_outage_is_only_logged():
    """A router was restarted."""
    watch = NetworkWatch()

    assert ["network.down"] == _hear(watch, SECOND, reached=False)
    assert ["network.up"] == _hear(watch, 10 * MINUTE, reached=True)
    assert [] == _hear(watch, 2 * HOUR, reached=True)


def test_two_hosts_are_not_enough_for_an_outage():
    """With fewer than three hosts, the servers may be the cause."""
    watch = NetworkWatch()
    for host in ("a", "b"):
        watch.note(host, reached=False, at=SECOND)

    assert () == watch.news(SECOND)


def test_outage_lasts_until_a_host_is_reached():
    """After a time without polls, another unreachable host does not end it."""
    watch = NetworkWatch()
    _hear(watch, 0, reached=False)
    watch.note("a", reached=False, at=2 * HOUR)

    assert ["network.away"] == _report(watch, 2 * HOUR)
    assert watch.is_down

    watch.note("b", reached=True, at=2 * HOUR + SECOND)

    assert ["network.up", "network.back"] == _report(watch, 2 * HOUR + SECOND)
    assert not watch.is_down


def test_news_that_could_not_be_stored_stays_news():
    """A refused commit hides neither the outage nor its end."""
    watch = NetworkWatch()
    for host in ("a", "b", "c"):
        watch.note(host, reached=False, at=SECOND, reason="no route to host")
    first = watch.news(SECOND)

    assert first == watch.news(SECOND)
    assert ["network.down"] == _report(watch, SECOND)
    assert "no route to host" == watch.reason

    watch.note("a", reached=True, at=2 * SECOND)
    watch.note("b", reached=True, at=2 * SECOND)
    last = watch.news(2 * SECOND)

    assert last == watch.news(2 * SECOND)
    assert ["network.up"] == _report(watch, 2 * SECOND)
    assert () == watch.news(2 * SECOND)
