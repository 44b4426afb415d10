"""Addresses of receivers are stored as secrets, and named without revealing them (0049)."""

import pytest

from tidings.clock import SECOND
from tidings.errors import AddressError, SecretError
from tidings.language.parser import parse
from tidings.model.secret import Secret
from tidings.model.watch.notifying import Channel
from tidings.model.watch.sentinel import Command, Defaults, Sentinel
from tidings.service.secrets import references
from tidings.service.secrets.references import KEY, References, address_of, check_secrets, check_value
from tidings.service.sentinels import register
from tidings.storage import secrets as rows
from tidings.storage.secrets import Vault
from tidings.storage.watches import endpoints, sentinels

NOW = 1_700_000_000 * SECOND
HOOK = "https://hook.example/c4nary"
ONE = "Create Sentinel {} Using https://{}.example/ Monitor any change {}"


class House:
    def __init__(self, world):
        self.world = world
        self.vault = Vault(world.settings.data)
        self.write, self.read = world.write, world.read

    def refer(self, work):
        """Do work with the references of one transaction."""
        return self.write(lambda c: work(References(c, self.vault, at=NOW)))

    def do(self, text):
        register.register(self.world.database, text, settings=self.world.settings, now=NOW)

    def put(self, name, value):
        self.write(self.vault.put, name, Secret(value), kind="address", at=NOW)

    def open(self, name):
        return self.read(self.vault.open, name).value.reveal()


@pytest.fixture
def house(world):
    return House(world)


def name_twice(*pairs):
    return lambda known: [known.name(*pair) for pair in pairs]


def test_equal_addresses_have_one_name(house):
    """In every transaction; another channel or address has another one, and none shows the token."""
    first = house.refer(name_twice(("webhook", HOOK), ("webhook", HOOK), ("webhook", f"{HOOK}2"), ("apprise", HOOK)))
    again = house.refer(name_twice(("webhook", HOOK)))

    assert first[0] == first[1] == again[0]
    assert 3 == len({*first})
    assert not any("c4nary" in name for name in first)
    assert HOOK == house.open(first[0])
    house.write(house.vault.put, KEY, Secret("ab" * 32), kind="naming", at=NOW)
    assert first[0] != house.refer(name_twice(("webhook", HOOK)))[0], "names are keyed"


@pytest.mark.parametrize(
    ("kind", "address", "stem"),
    [
        ("webhook", "https://Hook.Example/x", "hook.example"),
        ("webhook", "https://127.0.0.1/x", "webhook-127.0.0.1"),
        ("webhook", "https://-/x", "webhook"),
        ("webhook", f"https://{'a' * 70}.example/x", "a" * 60),
        ("webhook", "https://user:pass@hook.example/x", "hook.example"),
        ("apprise", "TGRAM://token/chat", "tgram"),
        ("apprise", "tgram://token@x", "tgram"),
    ],
)
def test_name_begins_with_what_may_be_shown(house, kind, address, stem):
    """The host, or the scheme of a service; then eight digits."""
    (name,) = house.refer(name_twice((kind, address)))

    assert (stem, 8) == (name.rpartition("-")[0], len(name.rpartition("-")[2]))


def test_name_that_has_another_address_now_is_not_used(house):
    """Nor one of its successors; one that cannot be decrypted is set again."""
    (name,) = house.refer(name_twice(("webhook", HOOK)))
    house.put(name, "https://other.example/")
    assert [f"{name}-2"] == house.refer(name_twice(("webhook", HOOK)))
    house.put(f"{name}-2", "https://another.example/")
    assert [f"{name}-3"] == house.refer(name_twice(("webhook", HOOK)))
    assert "https://other.example/" == house.open(name)
    house.write(lambda c: c.execute("UPDATE secret SET value = 'x' WHERE name = :name", name=name))
    assert [name] == house.refer(name_twice(("webhook", HOOK)))
    assert HOOK == house.open(name)


def test_without_the_key_of_names_nothing_is_stored(house):
    """The message says how to go on."""
    house.refer(name_twice(("webhook", HOOK)))
    house.write(lambda c: c.execute("UPDATE secret SET value = 'x' WHERE name = :name", name=KEY))
    with pytest.raises(SecretError, match=f"tidings secret drop {KEY}"):
        house.refer(name_twice(("webhook", "https://new.example/")))

    assert not any(name.startswith("new.example") for name in house.read(rows.names))


def read(text):
    (statement,) = parse(text, known=lambda _: None).statements
    return statement


def test_statement_is_stored_without_literal_addresses(house):
    """Receivers of news and of errors, each once; other channels and references stay."""
    clauses = (
        f'Notify by webhook {HOOK}, email a@x.example immediate Notify by webhook secret "own" immediate'
        f" Errors to webhook {HOOK}, webhook {HOOK}"
    )
    sentinel, defaults = read(ONE.format("a", "a", clauses)), read(f"Defaults For Tags t {clauses}")
    stored, kept = house.refer(lambda known: [known.store_addresses(one) for one in (sentinel, defaults)])

    (name,) = [name for name in house.read(rows.names) if name != KEY]
    hook = Channel("webhook", name, is_secret=True)
    assert isinstance(stored, Sentinel)
    assert isinstance(kept, Defaults)
    own = Channel("webhook", "own", is_secret=True)
    for notify, errors in (
        (stored.notify, stored.errors),
        (dict(kept.clauses.stated)["notify"], dict(kept.clauses.stated)["errors"]),
    ):
        assert [(hook, Channel("email", "a@x.example")), (own,)] == [one.channels for one in notify]
        assert (hook,) == errors
    assert stored.pages == sentinel.pages
    assert Command("drop", "a") == house.refer(lambda known: known.store_addresses(Command("drop", "a")))


def test_altered_clauses_are_stored_without_literal_addresses(house):
    """In the text of the alteration, and in what it makes of the sentinel."""
    house.do(ONE.format("a", "a", ""))
    house.do(f"Alter a Notify by webhook {HOOK} immediate")

    assert HOOK not in house.read(sentinels.find, "a").text
    assert 'secret "hook.example-' in house.read(sentinels.find, "a").text


def test_older_plain_text_is_sealed_in_its_place(house):
    """In texts, defaults and receivers, whose numbers stay; then there is nothing left to do."""
    house.do(ONE.format("a", "a", f"Notify by webhook {HOOK} immediate"))
    house.do(f"Defaults For Tags t Notify by webhook {HOOK} immediate")
    (name,) = [name for name in house.read(rows.names) if name != KEY]
    row = house.read(sentinels.find, "a")
    (endpoint,) = house.read(endpoints.listing)
    plain = row.text.replace(f'secret "{name}"', HOOK)
    assert HOOK in plain
    default = house.read(sentinels.get_tag_default, "t").replace(f'secret "{name}"', HOOK)

    def spoil(c):
        sentinels.rewrite(c, row.id, 1, plain)
        sentinels.put_tag_default(c, "t", default)
        endpoints.refer(c, endpoint.id, HOOK)

    house.write(spoil)
    assert [1, 0] == [house.write(references.seal_older, house.vault, at=NOW) for _ in range(2)]
    assert row.text == house.read(sentinels.find, "a").text
    assert HOOK not in house.read(sentinels.get_tag_default, "t")
    assert [endpoint] == house.read(endpoints.listing)


def test_address_is_read_when_it_is_needed(house):
    """A secret that is not set has none; a plain address is itself."""
    house.put("hook", HOOK)

    assert HOOK == house.read(address_of, house.vault, "secret:hook")
    assert HOOK == house.read(address_of, house.vault, HOOK)
    with pytest.raises(SecretError, match="tidings secret set other"):
        house.read(address_of, house.vault, "secret:other")


@pytest.mark.parametrize(
    ("kind", "value", "is_valid"),
    [
        ("webhook", HOOK, True),
        ("webhook", "tgram://token/chat", False),
        ("webhook", "c4nary", False),
        ("apprise", "json://hook.example/c4nary", True),
        ("apprise", "c4nary", False),
        ("apprise", "nosuch://c4nary", False),
    ],
)
def test_secret_of_a_receiver_is_an_address(house, kind, value, is_valid):
    """Else the error names the secret and never its value; one that is not set is none yet."""
    house.put("hook", value)
    channels = [
        Channel(kind, "hook", is_secret=True),
        Channel(kind, "unset", is_secret=True),
        Channel("email", "a@x.example"),
    ]
    if is_valid:
        check_value(kind, "hook", value)
        house.read(check_secrets, house.vault, channels)
        return
    with pytest.raises(AddressError, match="the secret hook must hold") as caught:
        house.read(check_secrets, house.vault, channels)
    assert "c4nary" not in str(caught.value)
    assert ("an address of Apprise" if kind == "apprise" else "an http:// or https:// address") in str(caught.value)


def test_scheme_of_a_service_is_noted_and_renewed(house):
    """For all its receivers once the secret is known; a webhook has none."""
    house.put("hook", HOOK)
    house.do(ONE.format("a", "a", 'Notify by secret "svc" immediate Notify by webhook secret "hook" immediate'))
    (svc,) = [row.id for row in house.read(endpoints.listing) if row.kind == "apprise"]

    def schemes():
        return house.read(endpoints.schemes)

    assert {} == {id_: scheme for id_, scheme in schemes().items() if scheme}
    house.put("svc", "JSON://x.example/")
    house.write(references.note_schemes, house.vault)
    assert "json" == schemes()[svc]
    house.put("svc", "tgram://token/chat")
    house.write(references.note_schemes, house.vault)
    assert "json" == schemes()[svc], "it is known already"
    house.write(references.note_schemes, house.vault, name="svc")
    assert "tgram" == schemes()[svc]
