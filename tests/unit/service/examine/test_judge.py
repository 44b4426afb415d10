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


def test_the_body_of_the_newest_version_brings_nothing_new():
    """Neither a 304 nor the same body is a version."""
    assert judge(KNOWN, answer(BODY), SEED) is None
    assert judge(KNOWN, Unchanged(final_url="http://a.example/"), SEED) is None


def test_another_body_is_new_also_of_the_same_length():
    """The length decides nothing where it is equal: the hash does."""
    other = answer(BODY.replace(b"one", b"two"))

    assert other is judge(KNOWN, other, SEED)


def test_a_body_is_new_where_no_version_is():
    """An empty body is a first version too."""
    first = answer(b"")

    assert first is judge(PageState(page_id=1, body_size=0, body_xxh3=xxh3(b"", SEED)), first, SEED)


def test_a_body_is_known_by_the_seed_of_the_installation_only():
    """Hashes of bodies are seeded, so that nobody can make two bodies of one hash."""
    assert is_known(KNOWN, answer(BODY), SEED)
    assert not is_known(KNOWN, answer(BODY), SEED + 1)


def test_another_body_under_the_validators_that_were_sent_is_a_contradiction():
    """A server that repeats a validator says that nothing changed."""
    other = answer(b"<p>another</p>", conditions="answered", validators=Validators(etag='W/"a"'))

    assert is_contradiction(KNOWN, request(etag='"a"'), other, SEED)
    assert not is_contradiction(KNOWN, request(etag='"b"'), other, SEED)


def test_the_known_body_is_none():
    """A whole answer with the body that is known contradicts nothing."""
    same = answer(BODY, conditions="answered", validators=Validators(etag='"a"'))

    assert not is_contradiction(KNOWN, request(etag='"a"'), same, SEED)
