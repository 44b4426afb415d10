import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from tidings.clock import SECOND
from tidings.events.occurrence import Occurrence
from tidings.events.rule import Firing
from tidings.language.parser import parse
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.watch.sentinel import Sentinel
from tidings.service.behaviour import Moment
from tidings.service.rules.fetch_on_event import PROMPT, FetchOnEvent
from tidings.service.watch.page_schedule import Needs
from tidings.service.watch.watchlist import WatchedSentinel

AT = 1_700_000_000 * SECOND
PAGE = 7


class Story:
    """A sentinel with one page that is polled on the events `deploy` and `release`."""

    def __init__(self) -> None:
        async def read(*_: Any) -> list[int]:
            return [PAGE]

        self.needs = Needs()
        self.behaviour = FetchOnEvent(SimpleNamespace(read=read), self.needs)  # type: ignore[arg-type]
        self.memory: dict[str, Any] = {}

    def moment(self, at: int = AT, events: str = "on event(deploy) or on event(release)") -> Moment:
        text = f"Create Sentinel s Using https://x.example Monitor links Fetch {events}"
        (sentinel,) = parse(text).statements
        assert isinstance(sentinel, Sentinel)
        held = WatchedSentinel(SimpleNamespace(id=1), sentinel, {})  # type: ignore[arg-type]
        return Moment(held, self.memory, at, 0)

    async def _act(self, rule: str, at: int, **params: Any) -> None:
        rules = {wanted.rule.name: wanted.rule for wanted in (await self.behaviour.arrange(self.moment(at))).wanted}
        occurrence = Occurrence.at("x", at, params)
        await self.behaviour.act(self.moment(at), Firing(rules[f"summons.{rule}"], at, (occurrence,)))
        self.behaviour.note_memory(1, self.memory)

    def happens(self, event: str, at: int) -> None:
        asyncio.run(self._act(f"event.{event}", at))

    def poll(self, begun: int, at: int) -> None:
        asyncio.run(self._act("look", at, page=PAGE, begun=begun))


def test_event_needs_a_poll_that_began_after_it():
    """A poll in flight may have read the page before the event."""
    story = Story()
    story.happens("deploy", AT)
    story.poll(AT - 1, AT + 1)
    assert AT == story.needs.begins(PAGE)

    story.poll(AT, AT + 2)
    assert story.needs.begins(PAGE) is None


def test_events_before_the_poll_are_served_together():
    """The poll begins after the last of them, and is late if the first has waited too long."""
    story = Story()
    story.happens("deploy", AT)
    story.happens("release", AT + SECOND)
    deadline = story.needs.most_urgent(PAGE, AT + SECOND)

    assert deadline is not None
    assert (AT + SECOND, AT + PROMPT) == (deadline.interval.start, deadline.interval.end)
    assert PollReason(Why.EVENT, "release") == deadline.why


@pytest.mark.parametrize(("events", "owed"), [("on event(release)", {}), ("on event(deploy)", {str(PAGE)})])
def test_poll_for_a_removed_event_is_dropped(events: str, owed: Any):
    """The altered sentinel no longer names the event."""
    story = Story()
    story.happens("deploy", AT)
    asyncio.run(story.behaviour.arrange(story.moment(events=events)))

    assert set(owed) == set(story.memory["due"])
