from tidings.model.observed.outcome import Fetched, FetchRequest, Unchanged, Validators
from tidings.model.observed.page import PageState
from tidings.service.examine.judge import is_contradiction, is_known, judge, xxh3

SEED = 7
BODY = b"<p>one lantern</p>"
KNOWN = PageState(page_id=1, last_seq=3, body_size=len(BODY), body_xxh3=xxh3(BODY, SEED))


def answer(body: bytes, **more) -> Fetched:
    return Fetched(body=body, final_url="http://a.example/", status=200, **more)


def request(**validators) -> FetchRequest:
    return FetchRequest(url="http://a.example/", validators=Validators(**validators))


def test_newest_body_is_no_new_version():
    """A 304 is none either."""
    assert judge(KNOWN, answer(BODY), SEED) is None
    assert judge(KNOWN, Unchanged(final_url="http://a.example/"), SEED) is None


def test_different_body_of_equal_length_is_new():
    """The hashes differ."""
    other = answer(BODY.replace(b"one", b"two"))

    assert other is judge(KNOWN, other, SEED)


def test_first_body_is_new():
    """The first body may be empty."""
    first = answer(b"")

    assert first is judge(PageState(page_id=1, body_size=0, body_xxh3=xxh3(b"", SEED)), first, SEED)


def test_hash_of_a_body_uses_the_seed_of_the_installation():
    """Nobody can make two bodies with the same hash."""
    assert is_known(KNOWN, answer(BODY), SEED)
    assert not is_known(KNOWN, answer(BODY), SEED + 1)


def test_new_body_with_the_sent_validator_is_a_contradiction():
    """The server says with the validator that nothing has changed."""
    other = answer(b"<p>another</p>", conditions="answered", validators=Validators(etag='W/"a"'))

    assert is_contradiction(KNOWN, request(etag='"a"'), other, SEED)
    assert not is_contradiction(KNOWN, request(etag='"b"'), other, SEED)


def test_known_body_is_no_contradiction():
    """The answer is complete, with an equal body."""
    same = answer(BODY, conditions="answered", validators=Validators(etag='"a"'))

    assert not is_contradiction(KNOWN, request(etag='"a"'), same, SEED)
