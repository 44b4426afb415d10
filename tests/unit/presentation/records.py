"""A change record for tests."""

from typing import Any


def record(**other: Any) -> dict[str, Any]:
    """Return a change record (contracts §12) with some fields replaced."""
    return {
        "record": "change",
        "id": "c1",
        "sentinel": "price",
        "page": "3",
        "url": "https://shop.example/a?x=1&y=2",
        "kind": "words",
        "from_version": "3.1",
        "to_version": "3.2",
        "inserted": [],
        "deleted": [],
        "updated": [{"old": "5", "new": "6"}],
        "moved": [],
        "counts": [],
        "summary": '1 text updated: "5" → "6"',
        "quiet": False,
        "modified_at": None,
        "polled_at": "2023-11-14T22:13:19.000000Z",
        "detected_at": "2023-11-14T22:13:20.000000Z",
        **other,
    }
