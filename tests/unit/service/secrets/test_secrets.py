"""Secrets as their owner manages them: set, listed, dropped, and what is wrong with them."""

import pytest

from tidings.clock import SECOND
from tidings.errors import AddressError, UnknownNameError, UsageError
from tidings.model.secret import Secret
from tidings.service.people import accounts
from tidings.service.secrets import secrets
from tidings.service.secrets.secrets import MOST_BYTES, Named, basic, check_name, findings, list_unusable
from tidings.service.sentinels import register
from tidings.service.sentinels.author import Author
from tidings.storage import secrets as rows
from tidings.storage.secrets import SESSION, SIGNING, Vault
from tidings.storage.watches import endpoints, sentinels

NOW = 1_700_000_000 * SECOND
ONE = 'Create Sentinel {} Using https://{}.example/ Monitor any change Header "X" secret "{}"'
HOOK = 'Create Sentinel {} Using https://{}.example/ Monitor any change Notify by webhook secret "{}" immediate'
JAR = "# Netscape HTTP Cookie File\nx.example\tFALSE\t/\tTRUE\t0\tname\tvalue\n"


class House:
    def __init__(self, world):
        self.world = world
        self.vault = Vault(world.settings.data)
        self.write, self.read = world.write, world.read

    def set(self, name, value="value", **more):
        return self.write(secrets.set_, self.vault, name, Secret(value), at=NOW, **more)

    def do(self, text):
        register.register(self.world.database, text, settings=self.world.settings, now=NOW)

    def row(self, name):
        return self.read(rows.find_row, name)

    def findings(self):
        return [(one.status, one.detail) for one in self.read(lambda c: list(findings(c, self.vault)))]

    def fail(self):
        """Let all pages fail."""
        self.write(lambda c: c.execute("UPDATE page SET kind = '401', health = 'error'"))


@pytest.fixture
def house(world):
    return House(world)


@pytest.mark.parametrize(
    ("name", "is_valid"),
    [
        ("api-token", True), ("a", True), ("_a.b-c1", True), ("a" * 100, True), ("a" * 101, False), ("", False), ("1a", False),
        ("a b", False), ("a:b", False), ('a"', False), ("a\n", False),
    ],
)  # fmt: skip
def test_name_of_a_secret_is_a_word(name, is_valid):
    """As the language reads it."""
    if is_valid:
        check_name(name)
    else:
        with pytest.raises(UsageError):
            check_name(name)


@pytest.mark.parametrize(
    ("value", "more", "error"),
    [
        ("", {}, UsageError),
        ("x" * (MOST_BYTES + 1), {}, UsageError),
        ("é" * (MOST_BYTES // 2 + 1), {}, UsageError),
        ("no jar", {"jar": True}, UsageError),
        ("\ud800" * MOST_BYTES, {}, UsageError),
    ],
)
def test_value_that_cannot_be_used_is_not_stored(house, value, more, error):
    """Its error does not repeat it."""
    with pytest.raises(error) as caught:
        house.set("key", value, **more)

    assert house.row("key") is None
    assert not value or value not in str(caught.value)


def test_longest_value_is_stored(house):
    """Of so many bytes, and encrypted."""
    house.set("key", "é" * (MOST_BYTES // 2))

    assert "é" * (MOST_BYTES // 2) == house.read(house.vault.open, "key").value.reveal()
    assert ("text", NOW) == (house.row("key").kind, house.row("key").set_at)


def test_kind_of_a_secret_is_known(house):
    """A jar of cookies, a key that signs, an address that was one before."""
    house.set("jar", JAR, jar=True)
    house.do("Create Sentinel a Using https://a.example/ Monitor links Notify by webhook https://x.example/h immediate")
    (address,) = [name for name in house.read(rows.names) if name.startswith("x.example")]
    house.set(address, "https://y.example/h")

    assert ("cookies", "address") == (house.row("jar").kind, house.row(address).kind)
    with pytest.raises(AddressError):
        house.set(address, "no address")
    with pytest.raises(UsageError):
        house.set(SIGNING, JAR, jar=True)


def test_receiver_of_a_new_secret_is_known_by_its_service(house):
    """The service limits what fits into a message."""
    house.do('Create Sentinel a Using https://a.example/ Monitor links Notify by secret "svc" immediate')
    house.set("svc", "json://x.example/")

    assert ["json"] == [*house.read(endpoints.schemes).values()]


def test_page_in_error_is_polled_again_with_its_secret(house):
    """The sentinels on it are named; one that is not in error, or needs another secret, is not."""
    house.do(f"{ONE.format('a', 'a', 'key')}; {ONE.format('b', 'b', 'other')}")
    for name in "ab":
        house.write(
            lambda c, name=name: c.execute(
                "UPDATE subscription SET active = 1 WHERE sentinel_id = :id", id=sentinels.find(c, name).id
            )
        )

    assert [] == house.set("key")
    house.fail()
    assert ["a"] == house.set("key")
    assert [] == house.set("unused")
    assert 1 == house.read(lambda c: c.value("SELECT count(*) FROM request"))


def test_listing_has_the_stored_and_the_missing_ones(house):
    """By name, with the sentinels and defaults that use each; never a session or a value."""
    house.do(f"{ONE.format('a', 'a', 'key')}; {ONE.format('b', 'b', 'key')}; {HOOK.format('c', 'c', 'hook')}")
    house.do('Defaults For Tags t Notify by webhook secret "hook" immediate')
    house.set("key")
    house.set("alone")
    house.write(house.vault.put, f"{SESSION}key:x", Secret("v"), kind="session", at=NOW)

    found = house.read(secrets.listing, house.vault)
    assert [
        Named("alone", "text", NOW, ()),
        Named("hook", "", None, ("c", "the defaults of t")),
        Named("key", "text", NOW, ("a", "b")),
    ] == found
    assert [True, None, True] == [one.record()["opens"] for one in found]
    assert "value" not in found[2].record()


def test_name_in_quoted_text_is_no_use_of_a_secret(house):
    """It is part of another text."""
    house.do('Create Sentinel a Using https://a.example/ Monitor keywords <"secret \\"key\\"">')

    assert {} == house.read(secrets.users)


def test_used_secret_is_dropped_only_by_force(house):
    """Its sessions go with it."""
    house.do(ONE.format("a", "a", "key"))
    house.set("key")
    house.set("key2")
    for name in ("key", "key2"):
        house.write(house.vault.put, f"{SESSION}{name}:x", Secret("v"), kind="session", at=NOW)

    with pytest.raises(UsageError, match="a would lose"):
        house.write(secrets.drop, "key")
    assert ("a",) == house.write(secrets.drop, "key", force=True)
    assert {"key2", f"{SESSION}key2:x"} == {*house.read(rows.names)}
    with pytest.raises(UnknownNameError):
        house.write(secrets.drop, "key")
    assert () == house.write(secrets.drop, "key2")


def test_token_of_an_event_goes_with_the_event(house):
    """It is no secret that one drops."""
    house.do("Create Event deploy Using webhook")
    (name,) = house.read(rows.names)

    with pytest.raises(UsageError, match="Drop Event deploy"):
        house.write(secrets.drop, name, force=True)


def test_findings_say_what_is_wrong_and_how_to_mend_it(house, tmp_path):
    """Nothing stored, all well, readable by others, keys of an interrupted rotation, a lost key."""
    assert [("ok", "none stored")] == house.findings()
    house.set("key")
    assert [("ok", "1 stored, each can be decrypted")] == house.findings()
    path = house.vault.key_file.path
    path.chmod(0o644)
    assert ("fail", f"{path} can be read by other users") == house.findings()[0]
    path.chmod(0o600)
    house.vault.key_file.add()
    assert [("warn", f"{path} has 2 keys, because a rotation was interrupted")] == house.findings()[:1]
    path.unlink()
    house.vault.key_file.add()
    assert "fail" == house.findings()[0][0]
    path.write_text("nonsense\n")
    (only,) = house.findings()
    assert "fail" == only[0]


def test_receiver_without_its_secret_is_a_finding(house):
    """Of a living sentinel, with those whose messages wait."""
    house.do(f"{HOOK.format('a', 'a', 'hook')}; {HOOK.format('b', 'b', 'hook')}")
    assert [("fail", "the secret hook is not set: messages of a, b wait")] == house.findings()
    house.do("Drop a; Drop b")
    assert [("ok", "none stored")] == house.findings()


def test_login_of_a_user_is_the_text_of_its_header():
    """RFC 7617, in UTF-8."""
    assert "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==" == basic("Aladdin", Secret("open sesame")).reveal()
    assert "Basic dGVzdDoxMjPCow==" == basic("test", Secret("123£")).reveal()


def test_cookie_that_no_request_can_carry_is_named():
    """The others of the jar are used."""
    assert () == list_unusable(Secret(JAR))


def test_secrets_of_one_name_have_their_own_users(house):
    """What a sentinel of an account uses is not the secret of the installation of that name."""
    settings, vault = house.world.settings, house.vault
    text = 'Create Sentinel {} Using https://shop.example/{} Monitor price Header "X" secret "key"'

    def write(c):
        accounts.add(c, "ada", "admin", "x", at=NOW)
        anna = accounts.add(c, "anna", "editor", "x", at=NOW).id
        for owner_id in (1, anna):
            secrets.set_(c, vault, "key", Secret("value"), owner_id=owner_id, at=NOW)
        register.carry_out(c, text.format("all", "a"), settings, NOW, "")
        register.carry_out(c, text.format("annas", "b"), settings, NOW, "", Author(anna, sees_all=False))
        found = [secrets.users(c, owner_id=owner_id) for owner_id in (1, anna)]
        secrets.drop(c, "key", owner_id=anna, force=True)
        return found, [row.set_at for row in secrets.listing(c, vault)]

    assert ([{"key": ("all",)}, {"key": ("annas",)}], [NOW]) == house.write(write)
