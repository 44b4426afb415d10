"""Values on the bus arrive unchanged, or are refused."""

from __future__ import annotations

import pytest

from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, PlayedStep, Unchanged, Validators
from tidings.model.secret import Cookie, Secret
from tidings.service.machines.wire import VisitCipher, WireError, agree, make_key, pack, restore, sign, unpack

COOKIE = Cookie("sid", Secret("c"), "a.example", expires_at=5)
VALUES = [
    FetchRequest(url="http://a.example/"),
    FetchRequest(
        url="http://a.example/ü?x=%20",
        method="POST",
        headers=(("A", "b"), ("C", Secret("d\nü"))),
        body=Secret("x=1"),
        cookies=(COOKIE,),
        timeout=7,
        validators=Validators('"e"', None),
        steps=(PlayedStep("click", "click", "css=#a", Secret("v"), 3),),
        origins=frozenset({"http://a.example"}),
    ),
    Fetched(
        body=bytes(range(256)),
        final_url="http://a.example/",
        status=200,
        headers={"a": "b"},
        screenshot=b"w",
        cookies=(COOKIE,),
    ),
    Unchanged(final_url="http://a.example/", fresh=9, hops=("http://b.example/",)),
    Failed(kind="net", reason="no", reached=True),
]


@pytest.mark.parametrize("value", VALUES, ids=["small", "large", "fetched", "unchanged", "failed"])
def test_value_round_trips(value):
    """Each field has its type, and secrets stay secrets."""
    assert value == restore(type(value), unpack(pack(value)))


@pytest.mark.parametrize(
    "form",
    [
        None,
        7,
        [],
        {},
        {"kind": "net"},
        {"kind": "odd", "reason": "x"},
        {"kind": "net", "reason": 5},
        {"kind": "net", "reason": "x", "requests": "many"},
        {"kind": "net", "reason": "x", "requests": True},
        {"kind": "net", "reason": "x", "hops": [1]},
        {"kind": "net", "reason": "x", "more": 1},
        {1: "net"},
    ],
)
def test_value_of_another_type_is_refused(form):
    """A foreign poller cannot put a text in place of a number."""
    with pytest.raises(WireError):
        restore(Failed, form)


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x93", b"\xc7\x01\x02a", b"\xd4\x07a", b"\xa1\xff"])
def test_invalid_bytes_are_refused(data):
    """The bytes are truncated, of no format, or of an unknown kind."""
    with pytest.raises(WireError):
        unpack(data)


def test_lone_surrogate_is_refused():
    """A statement may have one, but it has no UTF-8."""
    with pytest.raises(WireError):
        pack("\ud800")


def make_pair(secrets=("s", "s"), visits=("v", "v")):
    """Return both ends of a visit."""
    (one, one_public), (two, two_public) = make_key(), make_key()
    first = agree(one, two_public, secret=secrets[0], visit=visits[0])
    second = agree(two, one_public, secret=secrets[1], visit=visits[1])
    return VisitCipher(first, is_service=True), VisitCipher(second, is_service=False)


def test_both_ends_decrypt_each_other():
    """This holds for any number of messages in both directions. Without the key, nothing can be
    read.
    """
    service, poller = make_pair()

    for number in range(3):
        assert ["word", number] == poller.decrypt(service.encrypt(["word", number]))
        assert ["page", number] == service.decrypt(poller.encrypt(["page", number]))
    assert b"word" not in service.encrypt(["word"])


@pytest.mark.parametrize(("secrets", "visits"), [(("s", "t"), ("v", "v")), (("s", "s"), ("v", "w"))])
def test_another_secret_or_visit_decrypts_nothing(secrets, visits):
    """The keys depend on both."""
    service, poller = make_pair(secrets, visits)

    with pytest.raises(WireError, match=r"bus\.secret"):
        poller.decrypt(service.encrypt(["word"]))


def test_altered_or_replayed_message_is_refused():
    """An older message and an own one are refused too. The next message is read."""
    service, poller = make_pair()
    first, second, third = (service.encrypt([number]) for number in range(3))
    assert [1] == poller.decrypt(second)

    for data in (second, first, third[:-1] + bytes([third[-1] ^ 1]), b"", poller.encrypt(["mine"])):
        with pytest.raises(WireError):
            poller.decrypt(data)
    assert [2] == poller.decrypt(third)


def test_signature_depends_on_its_parts_in_order():
    """Moving bytes from one part to the next changes it."""
    assert sign("s", b"ab", b"c") == sign("s", b"ab", b"c")
    assert 4 == len({sign("s", b"ab", b"c"), sign("s", b"a", b"bc"), sign("s", b"c", b"ab"), sign("t", b"ab", b"c")})


def test_invalid_public_key_is_refused():
    """The key is too short, or the point for which every shared secret is zero."""
    key, _ = make_key()

    for public in (b"", bytes(31), bytes(32)):
        with pytest.raises(WireError):
            agree(key, public, secret="s", visit="v")
