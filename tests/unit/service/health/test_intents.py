"""The clauses of sentinels on which their health depends."""

from __future__ import annotations

from dataclasses import replace

from tests.planned import make_watched
from tidings.service.health import intents
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
    """The endpoint may be in Notify or Errors. An unreadable text notifies no endpoint."""
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
    """A sentinel with an unreadable text has none either."""
    sub = make_watched(1).subscriptions[1].row

    assert [] == intents.describe_healed(owner(), sub)
    assert [] == intents.describe_healed(owner(text="Create nonsense"), sub)


def test_page_of_a_plain_sentinel_is_not_only_shown():
    """Only a Then clause names such a page."""
    sentinel = intents.meaning_of(owner())

    assert sentinel is not None
    assert not intents.is_only_shown(sentinel, "")
