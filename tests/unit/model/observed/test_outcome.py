"""How a fetch ended is a value of one of three kinds, and says what it did."""

import re
from typing import get_args

from tidings.model.observed import outcome
from tidings.model.observed.outcome import ErrorKind, Failed, Fetched, FetchRequest, Unchanged, Validators


def test_validators_without_any_are_false():
    """A request is conditional only if the server gave something to ask again with."""
    assert [False, True, True, False] == [
        bool(Validators()),
        bool(Validators(etag='"1"')),
        bool(Validators(last_modified="Sat, 01 Jan 2000 00:00:00 GMT")),
        bool(Validators(etag="", last_modified="")),
    ]


def test_kinds_of_error_are_a_fixed_list():
    """The kinds that users see are a fixed list: each a lower-case word or a status."""
    assert {
        "net", "address", "busy", "denied", "blocked", "404", "410", "5xx", "redirect", "size", "robots", "request",
        "framing", "encoding", "secret", "disk", "damaged", "fault", "login", "command", "scope",
    } == set(get_args(ErrorKind))  # fmt: skip
    assert [] == [kind for kind in get_args(ErrorKind) if not re.fullmatch(r"[a-z]+|[45][0-9x]{2}", kind)]


def test_an_outcome_is_one_of_three():
    """There is no fourth way for a fetch to end."""
    assert {Unchanged, Fetched, Failed} == set(get_args(outcome.Outcome))


def test_every_outcome_counts_its_requests():
    """Robots, retries and redirects count: an outcome stands for one request at least (I-5)."""
    ended: list[outcome.Outcome] = [
        Unchanged(final_url="u"),
        Fetched(body=b"", final_url="u", status=200),
        Failed(kind="net", reason="r"),
    ]

    assert [1, 1, 1] == [end.requests for end in ended]


def test_a_request_obeys_robots_unless_told_otherwise():
    """Good manners are the default; so is a plain GET without conditions."""
    request = FetchRequest(url="http://a.example/")

    assert (True, "GET", False) == (request.obey_robots, request.method, bool(request.validators))
