"""What sentinels ask for, as far as their health depends on it."""

from __future__ import annotations

from dataclasses import replace

from tests.planned import make_watched
from tidings.service.health import intents
from tidings.storage.watches.sentinels import SentinelRow

HEAD = "Create Sentinel s1 Using http://h1.example/1 Monitor all words"


def owner(clauses: str = "", *, text: str = "") -> SentinelRow:
    """Return a stored sentinel."""
    return replace(make_watched(1).subscriptions[1].owner.row, text=text or f"{HEAD} {clauses}")


def test_a_text_that_cannot_be_read_means_nothing():
    """Doctor says so elsewhere."""
    assert intents.meaning_of(owner(text="Create nonsense")) is None
    assert intents.meaning_of(owner()) is not None


def test_who_notifies_an_endpoint():
    """By Notify or Errors; a text that cannot be read notifies nobody."""
    hook = "http://127.0.0.1/hook"
    owners = [
        owner(f"Notify By webhook {hook} immediate"),
        replace(owner(f"Notify By console immediate Errors to webhook {hook}"), name="s2"),
        replace(owner("Notify By console immediate"), name="s3"),
        replace(owner(text="Create nonsense"), name="s4"),
    ]

    assert ("s1", "s2") == intents.notifying(owners, "webhook", hook)
    assert () == intents.notifying(owners, "webhook", "http://127.0.0.1/other")


def test_without_replacements_no_selector_is_healed():
    """Nor is one of a text that cannot be read."""
    sub = make_watched(1).subscriptions[1].row

    assert [] == intents.describe_healed(owner(), sub)
    assert [] == intents.describe_healed(owner(text="Create nonsense"), sub)


def test_a_page_is_only_shown_where_a_then_names_it():
    """A plain sentinel has none."""
    sentinel = intents.meaning_of(owner())

    assert sentinel is not None
    assert not intents.is_only_shown(sentinel, "")
