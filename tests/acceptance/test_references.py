"""Promise: addresses of receivers that may hold a token are encrypted; statements refer to them,
and they are decrypted when a message is sent.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.cli.main import main
from tidings.clock import DAY, HOUR, MINUTE
from tidings.errors import AddressError, SecretError, UsageError
from tidings.model.event_type import EventType
from tidings.model.observed.unit import EndpointMove, Event
from tidings.model.secret import Secret
from tidings.service.secrets import secrets
from tidings.service.sentinels.apply import apply
from tidings.service.sentinels.register import clauses_of
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import open_database
from tidings.storage.secrets import Vault
from tidings.storage.watches import endpoints, events, sentinels

WATCH = "Create Sentinel {name} Using {{/a}} Monitor all words Fetch every 1 hour slack 1 s {notify}"


def keep(world: World, name: str, text: str) -> None:
    world.write(secrets.set_, Vault(world.directory), name, Secret(text), at=world.clock.now())


def watch(world: World, notify: str, *, name: str = "s") -> None:
    world.page("/a", "<p>count 0</p>")
    world.add(WATCH.format(name=name, notify=notify))


def change(world: World, *counts: int, then: int = 0) -> None:
    """Run the service for one hour per count, then for this long."""
    with serve(world) as service:
        service.settle()
        for count in counts:
            world.page("/a", f"<p>count {count}</p>")
            service.pass_time(HOUR)
        service.pass_time(then)


def addresses(world: World) -> list[str]:
    return [row.address for row in world.read(endpoints.listing)]


def automatic(world: World) -> list[str]:
    """Return the names of the addresses that became secrets automatically."""
    found = world.read(secrets.listing, Vault(world.directory))
    return [row.name for row in found if row.kind == "address"]


def test_literal_address_becomes_a_secret(world: World):
    """The stored text and the endpoint name the secret; the news arrive."""
    hook = world.receiver("/t0ken-of-a-webhook")
    watch(world, f"Notify By webhook {hook} immediate")
    change(world, 1)
    (name,) = automatic(world)

    assert f'Notify by webhook secret "{name}" immediate' in world.sentinel("s").text
    assert [f"secret:{name}"] == addresses(world)
    assert hook == world.read(Vault(world.directory).open, name).value.reveal()
    assert name.startswith("webhook-127.0.0.1-")
    assert 1 == len(world.received)
    assert ["delivered"] == [row.status for row in world.deliveries()]
    assert [] == world.violations()


NAMED = {
    "a webhook": ("webhook https://hooks.slack.example/T0/B0/tok", "hooks.slack.example-"),
    "without its word": ("https://hooks.slack.example/T0/B0/tok", "hooks.slack.example-"),
    "a port": ("https://Hooks.Slack.example:8443/tok?key=tok", "hooks.slack.example-"),
    "a number": ("http://203.0.113.7/tok", "webhook-203.0.113.7-"),
    "IPv6": ("http://[2001:db8::1]/tok", "webhook-2001-db8-1-"),
    "Telegram": ("tgram://123456789:abcdefg_hijklmnop/12315544/", "tgram-"),
    "a scheme in capitals": ("NTFY://tok", "ntfy-"),
}


@pytest.mark.parametrize(("channel", "stem"), NAMED.values(), ids=NAMED)
def test_name_of_an_address_reveals_no_secret(world: World, channel: str, stem: str):
    """It has host or scheme and a keyed digest: no token, user or path; the language can express
    it.
    """
    watch(world, f"Notify By {channel}")
    (name,) = automatic(world)

    assert stem == name[:-8]
    assert "tok" not in name
    secrets.check_name(name)


def test_same_address_has_the_same_name(world: World):
    """In another sentinel, in Errors, in defaults of a tag, after a new master key: one secret, one
    endpoint.
    """
    watch(world, "Notify By https://h.example/tok Errors To ntfy://topic", name="s")
    vault = Vault(world.directory)
    world.write(vault.rotate)
    world.write(vault.forget)
    watch(world, "Notify By console Errors To https://h.example/tok", name="t")
    world.add("Defaults For Tags shop Notify By webhook https://h.example/tok every 1 day")
    watch(world, "Tags shop", name="u")
    first, other = automatic(world)

    assert [f"secret:{first}", f"secret:{other}", ""] == addresses(world)
    assert f'Errors to webhook secret "{first}"' in world.sentinel("t").text
    assert f'Notify by webhook secret "{first}" every 1 day' in world.sentinel("u").text
    held = world.read(sentinels.get_tag_default, "shop")
    assert "h.example/tok" not in held
    assert [(f"{first}", True)] == [
        (channel.address, channel.is_secret)
        for clause in dict(clauses_of(held).stated)["notify"]
        for channel in clause.channels
    ]


def test_two_installations_name_one_address_differently(world: World, make_world: Callable[..., World], tmp_path: Path):
    """The digest is keyed, so that nobody can guess addresses."""
    if world.url:
        pytest.skip("the two would share the database of the server")
    other = make_world(tmp_path / "other")
    for one in (world, other):
        watch(one, "Notify By https://h.example/tok")

    assert automatic(world) != automatic(other)


def test_files_with_literal_addresses_are_applied_once(world: World):
    """`apply` compares what would be stored: the second run changes nothing."""
    world.page("/a", "<p>count 0</p>")
    text = world.text(WATCH.format(name="s", notify="Notify By https://h.example/{token}, ntfy://topic"))
    groups = "Defaults For Tags shop Notify By https://h.example/defaults\n"

    def apply_file(token: str) -> list[str]:
        files = {"a.txt": groups + text.replace("{token}", token)}
        done = world.write(apply, files, settings=world.settings, now=world.clock.now())
        return [step.action for step in done.steps]

    assert [["created"], ["unchanged"], ["altered"], ["altered"]] == [
        apply_file(t) for t in ("one", "one", "two", "one")
    ]
    assert "h.example/" not in world.sentinel("s").text + world.read(sentinels.get_tag_default, "shop")


def test_alter_with_the_same_address_changes_nothing(world: World):
    """The literal address and the reference mean the same endpoint."""
    watch(world, "Notify By https://h.example/tok")
    world.add("Alter s Notify By https://h.example/tok")

    assert 1 == world.sentinel("s").revision
    assert 1 == len(addresses(world))


def test_changed_secret_redirects_the_news(world: World):
    """The next attempt uses the new address; statement, endpoint and page stay."""
    old, new = world.receiver("/old"), world.server.url("/new")
    taken: list[str] = []

    def take(seen: Any, wire: Any) -> None:
        taken.append(json.loads(seen.body)["type"])
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    world.server.pages["/new"] = take
    keep(world, "chat", old)
    watch(world, 'Notify By webhook secret "chat"')

    with serve(world) as service:
        service.settle()
        for count in (1, 2):
            world.page("/a", f"<p>count {count}</p>")
            service.pass_time(HOUR)
            keep(world, "chat", new)

    assert (1, ["change.found"]) == (len(world.received), taken)
    assert ["secret:chat"] == addresses(world)
    assert 1 == world.sentinel("s").revision
    assert ["new", "changed"] == [poll.outcome for poll in world.polls()][:2]


def test_literal_address_is_used_after_its_old_secret_changed(world: World):
    """The old address gets a new secret; references to the changed one stay."""
    watch(world, "Notify By https://h.example/old", name="s")
    (name,) = automatic(world)
    keep(world, name, "https://h.example/new")
    watch(world, "Notify By https://h.example/old", name="t")

    assert [name, f"{name}-2"] == automatic(world)
    assert f'secret "{name}-2"' in world.sentinel("t").text
    assert "https://h.example/new" == world.read(Vault(world.directory).open, name).value.reveal()


def test_news_for_an_unset_secret_wait(world: World):
    """The owner is notified by another endpoint, health shows the command, and setting the secret
    sends them at once.
    """
    hook = world.receiver()
    watch(world, 'Notify By webhook secret "chat" Notify By console Errors To console')

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>count 1</p>")
        service.pass_time(6 * HOUR)
        found = [
            f"{f.detail} | {f.mend}" for f in world.read(lambda c: list(secrets.findings(c, Vault(world.directory))))
        ]
        assert ["the secret chat is not set: messages of s wait | tidings secret set chat"] == found
        keep(world, "chat", hook)
        service.pass_time(MINUTE)

    assert 'webhook secret "chat" gets no messages' in world.console.getvalue()
    assert 'webhook secret "chat" accepts messages again' in world.console.getvalue()
    assert 1 == len(world.received)
    assert {"delivered"} == {row.status for row in world.deliveries()}
    assert [] == world.violations()


def test_disabled_receiver_is_enabled_by_a_new_address(world: World):
    """After 410 the secret is set anew: pending and new news go to the new address."""
    gone = world.receiver("/gone", lambda number: 410)
    keep(world, "chat", gone)
    watch(world, 'Notify By webhook secret "chat"')
    change(world, 1, 2, then=HOUR)
    waiting = [row.status for row in world.deliveries()]
    world.received.clear()
    keep(world, "chat", world.receiver("/new"))
    change(world, 3)

    assert ["waiting", "dead"] == waiting
    assert 2 == len(world.received)


WRONG = {
    "a scheme": ('webhook secret "chat"', "tgram://tok/en", "the secret chat must hold an http:// or https:// address"),
    "no address": ('webhook secret "chat"', "t0ken", "the secret chat must hold an http:// or https:// address"),
    "a page": ('secret "chat"', "gopher://tok.example/en", "the secret chat must hold an address of Apprise"),
    "half an address": ('secret "chat"', "tgram://t0ken", "the secret chat must hold an address of Apprise"),
}


@pytest.mark.parametrize(("channel", "value", "text"), WRONG.values(), ids=WRONG)
def test_secret_without_a_valid_address_is_refused(world: World, channel: str, value: str, text: str):
    """In a new sentinel, and when it is set for an existing one; the error does not repeat it."""
    keep(world, "chat", value)
    with pytest.raises(AddressError, match=text) as raised:
        watch(world, f"Notify By {channel}")
    world.write(secrets.drop, "chat")
    watch(world, f"Notify By {channel}")
    with pytest.raises(AddressError, match=text) as other:
        keep(world, "chat", value)

    assert value not in str(raised.value) + str(other.value)
    assert "t0ken" not in str(raised.value) + str(other.value)


def test_secret_of_a_receiver_cannot_be_dropped(world: World):
    """The error names its sentinels and defaults of tags."""
    keep(world, "chat", "https://h.example/tok")
    watch(world, 'Notify By webhook secret "chat"')
    world.add('Defaults For Tags shop Errors To webhook secret "chat"')
    (named,) = [row for row in world.read(secrets.listing, Vault(world.directory)) if row.name == "chat"]

    assert ("s", "the defaults of shop") == named.sentinels
    with pytest.raises(UsageError, match="s, the defaults of shop would lose the secret chat"):
        world.write(secrets.drop, "chat")


def test_lost_key_stores_no_address_in_plain_text(world: World):
    """The statement is refused with advice; after a drop names start anew."""
    watch(world, "Notify By https://h.example/tok")
    (world.directory / "secrets.key").unlink()
    with pytest.raises(
        SecretError,
        match=r"put your copy of .* back, or, if you have none, let Tidings make new names: tidings secret drop addresses:key",
    ):
        watch(world, "Notify By https://h.example/other", name="t")
    world.write(secrets.drop, "addresses:key")
    watch(world, "Notify By https://h.example/other", name="t")

    assert 2 == len(addresses(world))
    assert not [address for address in addresses(world) if "/other" in address]


def test_message_length_follows_the_service_behind_the_secret(world: World):
    """The secret is set before or after its sentinel is made, or changed to another service later."""
    keep(world, "before", "ntfy://topic")
    watch(world, 'Notify By secret "before", secret "after"')
    first = world.read(endpoints.schemes)

    with serve(world) as service:
        service.settle()
        keep(world, "after", "tgram://123456789:abcdefg_hijklmnop/12315544/")
        service.settle()
        (held,) = service.monitor.watchlist.sentinels.values()
        assert ["ntfy", "tgram"] == [target.scheme for target in held.everybody()]

    assert ["ntfy", ""] == list(first.values())
    assert ["ntfy", "tgram"] == list(world.read(endpoints.schemes).values())


def test_output_and_exports_have_the_reference(world: World, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    """`show`, `list --json`, `deliveries` and `secret list` name the secret only."""
    watch(world, f"Notify By {world.receiver('/t0ken')}")
    change(world, 1)
    (name,) = automatic(world)
    monkeypatch.setenv("TIDINGS_DATA", str(world.directory))
    monkeypatch.setenv("COLUMNS", "200")  # or a table cuts it
    for call in (
        ("show", "s"),
        ("show", "s", "--json"),
        ("list", "--json"),
        ("deliveries",),
        ("deliveries", "--json"),
        ("secret", "list"),
    ):
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        with contextlib.suppress(SystemExit):
            main([*call])
        text = capsys.readouterr().out

        assert name in text, call
        assert "t0ken" not in text, call


def test_news_with_a_lasting_unset_secret_are_never_given_up(world: World):
    """No attempt counts: they wait for more than three days, with the reason."""
    watch(world, 'Notify By webhook secret "chat" Notify By console')
    change(world, 1, then=9 * DAY)

    (waiting,) = [row for row in world.deliveries() if row.kind == "webhook"]
    assert ("waiting", 0) == (waiting.status, waiting.attempt)
    assert "the secret chat is not set" in waiting.error


def test_rolled_back_transaction_stores_no_secret(world: World):
    """A text with an error stores nothing."""
    world.page("/a", "<p>count 0</p>")
    with contextlib.closing(open_database(world.settings)), pytest.raises(AddressError):
        world.add(WATCH.format(name="s", notify="Notify By https://h.example/tok, ntfys://"))

    assert [] == automatic(world)


def test_plain_text_of_older_versions_is_encrypted_at_the_start(world: World):
    """Texts, endpoints, reasons and events, on each database; a second start has nothing to do, and
    news arrive.
    """
    hook = world.receiver("/t0ken")
    watch(world, "Notify By console")
    plain = world.sentinel("s").text.replace("console", f"webhook {hook}, ntfy://t0ken")

    def older(c: Connection) -> list[int]:
        sentinels.rewrite(c, 1, 1, plain)
        events.append(c, [Event(type=EventType.DELIVERY_DEAD, at=1, data={"address": hook})])
        ids = [endpoints.ensure(c, "webhook", hook), endpoints.ensure(c, "apprise", "ntfy://t0ken")]
        endpoints.move(c, [EndpointMove(endpoint_id=ids[0], failing_since=None, reason=f"no answer from {hook}")])
        return ids

    ids = world.write(older)
    play(world, world.settle)
    rows = world.read(endpoints.listing)[1:]
    text = world.sentinel("s").text
    change(world, 1)
    dead = world.events("delivery.dead")

    assert ids == [row.id for row in rows]
    assert [f"secret:{name}" for name in sorted(automatic(world), reverse=True)] == [row.address for row in rows]
    assert text == world.sentinel("s").text
    assert [True, False] == ["secret " in text, "t0ken" in text + str(rows) + str(dead)]
    assert 1 == len(world.received)
