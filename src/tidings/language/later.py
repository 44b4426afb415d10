"""What the language can say already but Tidings does not do yet, in one table: who builds it deletes its row.

Each is refused by name and place (E40), never ignored.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Later:
    """A word or clause without meaning yet: how it is written, and what to write instead."""

    word: str
    hint: str


LATER: dict[str, Later] = {
    # statements
    "alter": Later("Alter", "Drop the sentinel and create it again"),
    # what
    "within": Later("within", "parts are compared on one page; leave within out"),
    "of": Later("of", "make one sentinel for each page"),
    "in": Later("in", "leave it out: the whole page is watched"),
    "where": Later("where", "leave it out: every such change is told"),
    "table": Later("table", "Monitor all words"),
    "list": Later("list", "Monitor all words"),
    "regex": Later("regex", "Monitor all words"),
    "number": Later("number", "Monitor all words"),
    "items": Later("items", "Monitor all links"),
    "status": Later("status", "Monitor any change; errors of a page are told in any case"),
    "then": Later("Then", "give each page a sentinel of its own"),
    "select": Later("Select", "leave it out: the whole page is watched"),
    "exclude": Later("Exclude", "leave it out: the whole page is watched"),
    # when
    "on demand": Later("Fetch on demand", "Fetch on change, and tidings check NAME whenever you like"),
    "during": Later("During", "leave it out: the page is looked at day and night"),
    # tell
    "best effort": Later("best effort", "write immediate, or every 1 hour"),
    "at": Later("at", "write every 1 day: it counts from the sentinel's start"),
    "quiet": Later("quiet", "leave it out: news come at any hour"),
    "max": Later("max", "write every 1 hour to gather news"),
    "feed": Later("feed", "Notify by dashboard"),
    "stream": Later("stream", "Notify by webhook https://…"),
    "compare moving": Later("Compare moving", "Compare pairwise"),
    "compare every": Later("Compare every", "Compare pairwise"),
    "compare first": Later("Compare first", "Compare pairwise"),
    "history": Later("ChangeHistory", "leave it out: all changes are kept"),
    "presentation": Later("Presentation", "leave it out"),
    # how and how much
    "urgency": Later("Urgency", "Importance says how much a page matters"),
    "life": Later("Life", "leave it out: changes stay worth telling"),
    "class": Later("Class", "leave it out: all pages share one budget"),
}
