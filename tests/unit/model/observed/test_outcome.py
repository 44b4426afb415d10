"""The outcome of a fetch is a value of one of three kinds."""

import re
from typing import get_args

from tidings.model.observed import outcome
from tidings.model.observed.outcome import ErrorKind, Failed, Fetched, FetchRequest, Unchanged, Validators


def test_empty_validators_are_false():
    """A request is conditional only if the server sent a validator."""
    assert [False, True, True, False] == [
        bool(Validators()),
        bool(Validators(etag='"1"')),
        bool(Validators(last_modified="Sat, 01 Jan 2000 00:00:00 GMT")),
        bool(Validators(etag="", last_modified="")),
    ]


def test_kinds_of_errors_are_a_fixed_list():
    """Each kind that users see is a lower-case word or a status."""
    assert {
        "net", "address", "busy", "denied", "blocked", "404", "410", "5xx", "redirect", "size", "robots", "request",
        "framing", "encoding", "secret", "disk", "damaged", "fault", "login", "command", "scope",
    } == set(get_args(ErrorKind))  # fmt: skip
    assert [] == [kind for kind in get_args(ErrorKind) if not re.fullmatch(r"[a-z]+|[45][0-9x]{2}", kind)]


def test_outcome_has_three_kinds():
    """A fetch does not end in another way."""
    assert {Unchanged, Fetched, Failed} == set(get_args(outcome.Outcome))


def test_every_outcome_counts_its_requests():
    """Robots, retries and redirects count: an outcome has at least one request (I-5)."""
    ended: list[outcome.Outcome] = [
        Unchanged(final_url="u"),
        Fetched(body=b"", final_url="u", status=200),
        Failed(kind="net", reason="r"),
    ]

    assert [1, 1, 1] == [end.requests for end in ended]


def test_request_obeys_robots_by_default():
    """A plain GET without conditions is the default too."""
    request = FetchRequest(url="http://a.example/")

    assert (False, "GET", False) == (request.robots_ignored, request.method, bool(request.validators))
