"""The clauses of sentinels on which their health depends."""

from __future__ import annotations

from dataclasses import replace

from tests.planner import make_watched
from tidings.detection.job.contract import Target
from tidings.model.watch.interest import Selector
from tidings.service.health import intents
from tidings.service.watch.subscription_memory import Remembered
from tidings.storage.watches.sentinels import SentinelRow

HEAD = "Create Sentinel s1 Using http://h1.example/1 Monitor all words"


def owner(clauses: str = "", *, text: str = "") -> SentinelRow:
    """Return a stored sentinel."""
    return replace(make_watched(1).subscriptions[1].owner.row, text=text or f"{HEAD} {clauses}")


def test_unreadable_text_has_no_meaning():
    """Another check of doctor reports the text."""
    assert intents.meaning_of(owner(text="Create nonsense")) is None
    assert intents.meaning_of(owner()) is not None


def test_sentinels_that_notify_an_endpoint():
    """The endpoint may be in Notify or Errors. An unreadable text notifies no endpoint. Sentinels
    with the same receivers are all found.
    """
    hook = "http://127.0.0.1/hook"
    owners = [
        owner(f"Notify By webhook {hook} immediate"),
        replace(owner(f"Notify By console immediate Errors to webhook {hook}"), name="s2"),
        replace(owner("Notify By console immediate"), name="s3"),
        replace(owner(text="Create nonsense"), name="s4"),
        replace(owner(text=f"{HEAD}\n  Notify by console, webhook {hook}"), name="s5"),
        replace(owner(text=f"{HEAD}\n  Notify by console, webhook {hook}"), name="s6"),
        owner(),
    ]

    found = intents.list_notifying(owners)

    assert ["s1", "s2", "s5", "s6"] == [one.name for one in found["webhook", hook]]
    assert ["s2", "s3", "s5", "s6"] == [one.name for one in found["console", ""]]
    assert {"webhook", "console"} == {kind for kind, _ in found} - {"dashboard"}


def test_healed_selector_is_described_with_its_replacement():
    """Without a replacement, or with an unreadable text, the list is empty."""
    sub = make_watched(1).subscriptions[1].row
    target = Target(selector=Selector("css", "#a"), stand_in=Selector("css", "#b"))
    healed = replace(sub, remembered=Remembered(targets=(target,)).text)
    text = f'{HEAD} in css "#a"'

    assert [('css "#a"', 'css "#b"')] == intents.describe_healed(owner(text=text), healed)
    assert [] == intents.describe_healed(owner(text=text), sub)
    assert [] == intents.describe_healed(owner(text="Create nonsense"), healed)


def test_page_that_only_then_names_is_only_shown():
    """A page of the Monitor clause, and one of a plain sentinel, are polled on their own."""
    pages = "Create Sentinel s1 Using http://h1.example/1 As A, http://h1.example/2 As B"
    followed = intents.meaning_of(owner(text=f"{pages} Monitor links of A Then within 10 min check B"))
    plain = intents.meaning_of(owner())

    assert followed is not None
    assert plain is not None
    assert [False, True] == [intents.is_only_shown(followed, label) for label in "AB"]
    assert not intents.is_only_shown(plain, "")
