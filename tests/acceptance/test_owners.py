"""Promise: an account uses only its own secrets and changes only what it may alter (0094)."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.acceptance.test_secrets import keep
from tests.asgi import following
from tests.people import ORIGIN, People, with_people
from tests.rows import list_changed
from tests.world import World, play
from tidings.clock import HOUR
from tidings.model.secret import Secret
from tidings.model.watch.sentinel import Command
from tidings.service.people import accounts as accounts_of
from tidings.service.run.monitor import Monitor
from tidings.service.sentinels import register
from tidings.service.sentinels.edit import is_of_files
from tidings.storage.people import accounts
from tidings.storage.people import tokens as token_rows
from tidings.storage.secrets import Vault
from tidings.storage.watches import changes, outside, sentinels, subscriptions
from tidings.web.api import stream

CANARY = "c4nary-of-the-installation"
PLAIN = {"content-type": "text/plain"}
JSON = {"content-type": "application/json"}


def play_story(world: World, story: Any) -> None:
    """Play a story among people."""

    def act(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, act)


def own(world: World, who: str) -> int:
    """Return the number of an account."""
    return int(world.read(accounts.get_by_name, who).id)


def shown(world: World) -> list[str]:
    """Return the paths that were requested with the canary in any header, or in a body."""
    return [
        seen.path
        for seen in world.server.seen
        if any(CANARY in value for value in seen.headers.values()) or CANARY.encode() in (seen.body or b"")
    ]


async def send(people: People, who: str, text: str, way: str) -> Any:
    """Send statements in one of the ways that take them."""
    match way:
        case "api":
            return await people.ask(who, "POST", "/api/v1/sentinels", headers=PLAIN, body=text.encode())
        case "preview":
            return await people.ask(who, "POST", "/api/v1/preview", headers=PLAIN, body=text.encode())
        case "yaml":
            headers = {"content-type": "application/yaml"}
            return await people.ask(who, "POST", "/api/v1/sentinels", headers=headers, body=text.encode())
        case "patch":
            name = text.split()[2]
            body = json.dumps({"text": text}).encode()
            return await people.ask(who, "PATCH", f"/api/v1/sentinels/{name}", headers=JSON, body=body)
        case "screen":
            return await people.send(who, f"/sentinels/{text.split()[2]}", {"act": "text", "text": text})
        case _:
            return await people.send(who, "/new", {"act": way, "text": text})


def test_secrets_of_the_installation_are_only_for_admins(world: World) -> None:
    """No way in which an editor can write statements sends such a secret; for an admin it is sent."""
    keep(world, "bank", CANARY)
    for path in ("/evil", "/bobs"):
        world.page(path, "<p>one 1</p>")
    every = "Monitor all words Fetch every 1 hour"
    asks = ('Header "X" secret "bank"', 'Header "Cookie" secret "bank"', 'Method "POST" Body secret "bank"')

    async def story(people: People) -> None:
        made = world.text(f"Create Sentinel bobs Using {{/bobs}} {every}")
        assert 201 == (await send(people, "bob", made, "api")).status
        for ask in asks:
            fresh = world.text(f"Create Sentinel fresh Using {{/evil}} {every} {ask}")
            for way in ("api", "preview", "try", "save"):
                answer = await send(people, "bob", fresh, way)
                assert (422, False) == (answer.status, CANARY in answer.body.decode()), (way, ask)
            altered = world.text(f"Create Sentinel bobs Using {{/bobs}} {every} {ask}")
            common = world.text(f"Create Sentinel common Using {{/b}} {every} {ask}")
            for text in (altered, common, altered.replace("/bobs", "/evil")):
                for way in ("patch", "screen", "preview", "try"):
                    assert 422 == (await send(people, "bob", text, way)).status, (way, text)
            for text in (f"Alter bobs {ask}", f"Alter common {ask}"):
                for way in ("api", "save"):
                    assert 422 == (await send(people, "bob", text, way)).status, (way, text)
        await world.pass_time(people.monitor, HOUR)
        assert [] == shown(world)
        fresh = world.text(f"Create Sentinel fresh Using {{/evil}} {every} {asks[0]}")
        assert 201 == (await send(people, "ada", fresh, "api")).status
        await world.pass_time(people.monitor, HOUR)
        assert ["/evil"] == [*dict.fromkeys(shown(world))]

    play_story(world, story)


def test_a_request_that_a_sentinel_makes_already_can_be_kept(world: World) -> None:
    """An editor alters other clauses of a sentinel that uses a secret of the installation; no other
    request has that secret, nor a sentinel derived from it.
    """
    keep(world, "bank", CANARY)
    world.page("/bank", "<p>one 1</p>")
    world.page("/evil", "<p>one 1</p>")
    text = world.text(
        'Create Sentinel account Using {/bank} Monitor all words Fetch every 1 hour Header "X" secret "bank"'
    )

    async def story(people: People) -> None:
        assert 201 == (await send(people, "ada", text, "api")).status
        world.write(lambda c: sentinels.give(c, sentinels.find(c, "account").id, own(world, "bob")))
        for way in ("patch", "screen", "preview"):
            answer = await send(people, "bob", text.replace("1 hour", f"{2 + len(way)} hour"), way)
            assert answer.status in {200, 303}, (way, answer.body)
        assert 200 == (await send(people, "bob", "Alter account Monitor any change", "api")).status
        derived = world.text("Create Sentinel more Using account Monitor links")
        other = text.replace("/bank", "/evil")
        for way in ("patch", "screen", "preview"):
            assert 422 == (await send(people, "bob", other, way)).status, way
        assert 422 == (await send(people, "bob", derived, "api")).status
        await world.pass_time(people.monitor, 9 * HOUR)
        assert {"/bank"} == set(shown(world))

    play_story(world, story)


def test_an_editor_uses_their_own_secrets(world: World) -> None:
    """Under the name of a secret of the installation, too; another editor cannot use them."""
    keep(world, "bank", CANARY)
    world.page("/bobs", "<p>one 1</p>")
    text = world.text(
        'Create Sentinel bobs Using {/bobs} Monitor all words Fetch every 1 hour Header "X" secret "bank"'
    )

    async def story(people: People) -> None:
        vault = Vault(world.directory)
        world.write(lambda c: vault.put(c, "bank", Secret("bobs own"), owner_id=own(world, "bob"), at=1))
        assert 422 == (await send(people, "anna", text, "api")).status
        assert 201 == (await send(people, "bob", text, "api")).status
        await world.pass_time(people.monitor, HOUR)
        assert [("bobs own", "/bobs")] == [
            (seen.headers["x"], seen.path) for seen in world.server.seen if "x" in seen.headers
        ][:1]
        assert [] == shown(world)

    play_story(world, story)


def test_receivers_by_secret_are_those_of_sentinels_that_one_may_alter(world: World) -> None:
    """An editor writes an address, which is stored as a secret, and may repeat it; the receivers of
    another account they cannot name.
    """
    every = "Monitor all words Fetch every 1 hour"

    async def story(people: People) -> None:
        annas = world.sentinel("annas").text
        name = annas.partition('webhook secret "')[2].partition('"')[0]
        assert name
        stolen = world.text(f'Create Sentinel bobs Using {{/a}} {every} Notify by webhook secret "{name}"')
        assert [422, 422] == [(await send(people, "bob", stolen, way)).status for way in ("api", "preview")]
        for statement in (
            f'Alter common Notify by webhook secret "{name}"',
            f'Defaults For Tags x Notify by webhook secret "{name}"',
        ):
            assert 422 == (await send(people, "bob", statement, "api")).status
        mine = world.text(f"Create Sentinel bobs Using {{/a}} {every} Notify by webhook {{/hook-of-bob}}")
        assert 201 == (await send(people, "bob", mine, "api")).status
        kept = world.sentinel("bobs").text
        assert 'webhook secret "' in kept
        assert 200 == (await send(people, "bob", kept.replace("1 hour", "2 hour"), "patch")).status
        assert 201 == (await send(people, "bob", kept.replace("bobs", "again"), "api")).status

    play_story(world, story)


async def edit_everywhere(people: People, who: str, text: str) -> None:
    """Replace the text of a sentinel by each way that does so."""
    for number, way in enumerate(("patch", "screen"), start=3):
        answer = await send(people, who, text.replace("1 hour", f"{number} hour"), way)
        assert answer.status in {200, 303}, (way, answer.body)


def test_edits_do_not_mark_a_sentinel_as_made_by_files(world: World) -> None:
    """Neither altered nor unchanged nor with another page, by the screen, the API or undo."""

    async def story(people: People) -> None:
        text = world.sentinel("common").text
        await send(people, "ada", text, "screen")
        await edit_everywhere(people, "ada", text)
        await people.send("ada", "/sentinels/common", {"act": "undo", "revision": "1"})
        await edit_everywhere(people, "ada", text.replace("/b\n", "/a\n"))
        assert [False] == list({world.read(is_of_files, row.id) for row in world.read(sentinels.listing, ended=True)})

    play_story(world, story)


def test_edits_keep_the_owner_also_with_another_page(world: World) -> None:
    """By the owner and by an admin."""

    async def story(people: People) -> None:
        for who in ("anna", "ada"):
            for way in ("screen", "patch"):
                before = world.sentinel("annas")
                there, other = ("/a\n", "/b\n") if "/a\n" in before.text else ("/b\n", "/a\n")
                answer = await send(people, who, before.text.replace(there, other), way)
                after = world.sentinel("annas")
                assert answer.status in {200, 303}, answer.body
                assert (own(world, "anna"), True) == (after.owner_id, after.id != before.id), (who, way)
        assert 404 == (await people.ask("bob", "GET", "/sentinels/annas")).status

    play_story(world, story)


def test_undo_is_of_the_same_sentinel_after_it_was_renamed(world: World) -> None:
    """Its earlier text comes back under the present name; whoever has the old name now is left
    alone.
    """

    async def story(people: People) -> None:
        first = world.text("Create Sentinel first Using {/b} Monitor all words Fetch every 1 hour")
        assert 201 == (await send(people, "bob", first, "api")).status
        assert 200 == (await send(people, "bob", first.replace("1 hour", "2 hour"), "patch")).status
        body = json.dumps({"name": "second"}).encode()
        assert 200 == (await people.ask("bob", "PATCH", "/api/v1/sentinels/first", headers=JSON, body=body)).status
        other = world.text("Create Sentinel first Using {/a} Monitor links")
        assert 201 == (await send(people, "anna", other, "api")).status
        annas = world.sentinel("first")
        answer = await people.send("bob", "/sentinels/second", {"act": "undo", "revision": "1"})
        assert 303 == answer.status
        assert annas == world.sentinel("first")
        assert (own(world, "bob"), True) == (
            world.sentinel("second").owner_id,
            "1 hour" in world.sentinel("second").text,
        )
        assert ["annas", "common", "first", "second"] == world.read(sentinels.names)

    play_story(world, story)


def test_an_edit_is_one_statement_under_its_name(world: World) -> None:
    """Events, defaults and other sentinels beside it are refused, and nothing of them is stored."""

    async def story(people: People) -> None:
        text = world.sentinel("common").text
        for more in ("Create Event deploy Using webhook", "Defaults For Tags x Fetch every 2 hour", "Drop annas"):
            for both in (f"{text}\n{more}", f"{more}\n{text}", more):
                for way in ("screen", "patch"):
                    path = "/sentinels/common" if way == "screen" else "/api/v1/sentinels/common"
                    answer = (
                        await people.send("ada", path, {"act": "text", "text": both})
                        if way == "screen"
                        else await people.ask(
                            "ada", "PATCH", path, headers=JSON, body=json.dumps({"text": both}).encode()
                        )
                    )
                    assert 422 == answer.status, (way, both)
        assert {} == world.read(sentinels.list_tag_defaults)

    play_story(world, story)


def test_a_free_name_shows_nothing_of_who_had_it(world: World) -> None:
    """Neither on a screen nor by the API or a feed, when another account takes the name of a
    dropped sentinel; its first owner sees no more of the name either.
    """

    async def story(people: People) -> None:
        world.page("/a", "<title>A</title><p>c4nary of anna</p>")
        await world.pass_time(people.monitor, HOUR)
        paths = [
            "/sentinels/annas", "/api/v1/sentinels/annas", "/api/v1/changes?sentinel=annas", "/?s=all&sentinel=annas",
            "/api/v1/deliveries?sentinel=annas", "/api/v1/sentinels/annas/feed.atom", "/feeds/annas.atom",
            "/api/v1/sentinels/annas/feed.json", "/search?q=anna&sentinel=annas", "/account", "/api/v1/pages",
        ]  # fmt: skip
        assert b"c4nary" in (await people.ask("anna", "GET", "/sentinels/annas")).body
        assert 200 == (await people.ask("anna", "DELETE", "/api/v1/sentinels/annas", headers={"if-match": "*"})).status
        text = world.text("Create Sentinel annas Using {/b} Monitor all words Notify by feed")
        assert 201 == (await send(people, "bob", text, "api")).status
        found = {path: (await people.ask("bob", "GET", path)).body for path in paths}
        assert [] == [path for path, body in found.items() if b"c4nary" in body]
        assert [404] == [(await people.ask("anna", "GET", "/sentinels/annas")).status]

    play_story(world, story)


def test_feed_of_all_has_what_one_sees(world: World) -> None:
    """Also for the owner of a sentinel called `all`, for whom it is no other feed."""

    async def story(people: People) -> None:
        world.page("/a", "<title>A</title><p>c4nary of anna</p>")
        text = world.text("Create Sentinel all Using {/b} Monitor all words Notify by feed")
        assert 201 == (await send(people, "bob", text, "api")).status
        await world.pass_time(people.monitor, HOUR)
        found = {who: await people.ask(who, "GET", "/feeds/all.atom") for who in people.headers}
        assert {200} == {answer.status for answer in found.values()}
        assert ["ada", "anna", "admin", "edit", "read"] == [who for who in found if b"c4nary" in found[who].body]

    play_story(world, story)


def test_a_change_leads_to_the_next_one_that_the_reader_sees(world: World) -> None:
    """Newer and older changes of other accounts are passed over."""

    async def story(people: People) -> None:
        others = {one.row.id for one in world.read(changes.listing, sentinel="annas")}
        (shared,) = [one.row.id for one in world.read(changes.listing, sentinel="common")]
        linked = {who: (await people.ask(who, "GET", f"/changes/{shared}")).body.decode() for who in ("ada", "bob")}
        assert [True, False] == [any(id_ in linked[who] for id_ in others) for who in ("ada", "bob")]

    play_story(world, story)


def test_defaults_and_events_of_an_editor_are_their_own(world: World) -> None:
    """New sentinels of others do not have the defaults, and nobody else waits for, drops or learns
    of the event; those of an admin are for all.
    """

    async def story(people: People) -> None:
        default = "Defaults For Tags work Fetch every {} hour"
        assert 200 == (await send(people, "bob", default.format(7), "api")).status
        assert 200 == (await send(people, "bob", "Create Event bobs Using webhook", "api")).status
        plain = world.text("Create Sentinel NAME Using {/b} Monitor all words Tags work")
        for who, expected in (("bob", True), ("anna", False), ("ada", False)):
            assert 201 == (await send(people, who, plain.replace("NAME", f"work-{who}"), "api")).status
            assert expected == ("every 7 hour" in world.sentinel(f"work-{who}").text), who
        waits = world.text("Create Sentinel waits Using {/b} Monitor all words From event(bobs)")
        assert [422, 201] == [(await send(people, who, waits, "api")).status for who in ("anna", "bob")]
        assert 200 == (await send(people, "ada", default.format(9), "api")).status
        assert 200 == (await send(people, "ada", "Create Event deploy Using webhook", "api")).status
        for who, hours in (("bob", 7), ("anna", 9)):
            assert 201 == (await send(people, who, plain.replace("NAME", f"more-{who}"), "api")).status
            assert f"every {hours} hour" in world.sentinel(f"more-{who}").text
        for name in ("bobs", "deploy"):
            assert 200 != (await send(people, "anna", f"Drop Event {name}", "api")).status
        assert 422 == (await send(people, "anna", "Create Event bobs Using webhook", "api")).status
        assert ["bobs", "deploy"] == [row.name for row in world.read(outside.listing)]
        assert (
            b"bobs"
            not in (await send(people, "anna", "Create Sentinel x Using a Monitor b From event(bob)", "api")).body
        )

    play_story(world, story)


HOSTILE = ("all", "annas", "old", "common", "none", "webhook")
"""Names of nothing, of another account, of the installation, former names, words of the service."""
ACTS = ("check", "pause", "enable", "drop", "tags", "undo", "return", "mask", "test", "text")


def list_of_others(c: Any, owner_id: int) -> dict[str, list[str]]:
    """Return what no editor may change: what belongs to neither this owner nor the installation."""
    others = f"SELECT id FROM sentinel WHERE owner_id NOT IN (1, {owner_id})"
    conditions = {
        "sentinel": f"id IN ({others})",
        "sentinel_revision": f"sentinel_id IN ({others})",
        "subscription": f"sentinel_id IN ({others})",
        "tag": f"sentinel_id IN ({others})",
        "delivery": f"sentinel_id IN ({others})",
        "change": f"sentinel_id IN ({others})",
        "owner": f"id NOT IN (1, {owner_id})",
        **dict.fromkeys(("token", "shared_tag", "published_tag", "inbox_mark"), f"owner_id NOT IN (1, {owner_id})"),
        "tag_default": f"owner_id <> {owner_id}",
        "secret": f"owner_id <> {owner_id} AND kind <> 'address'",
    }
    used = {"token": "id, name, owner_id, scope, hash"}
    return {
        table: sorted(repr(tuple(row)) for row in c.rows(f"SELECT {used.get(table, '*')} FROM {table} WHERE {where}"))
        for table, where in conditions.items()
    }


def test_no_action_of_an_editor_touches_another_account(world: World) -> None:
    """Every form, operation and statement, with every hostile name: no row of another account
    differs afterwards, and no answer has a text of another account.
    """
    keep(world, "bank", CANARY)

    async def story(people: People) -> None:
        anna, bob = own(world, "anna"), own(world, "bob")
        vault = Vault(world.directory)
        world.write(lambda c: vault.put(c, "annas-own", Secret(CANARY), owner_id=anna, at=1))
        world.page("/c", "<title>c4nary title</title><p>c4nary one</p>")
        world.page("/evil", "<p>mine 1</p>")
        text = world.text(
            "Create Sentinel old Using {/c} Monitor all words Fetch every 1 hour Tags c4nary-tag Notify by feed"
        )
        assert 201 == (await send(people, "anna", text, "api")).status
        await world.pass_time(people.monitor, HOUR)
        world.page("/c", "<title>c4nary title</title><p>c4nary two</p>")
        await world.pass_time(people.monitor, HOUR)
        (secret_change, *_) = world.read(changes.listing, sentinel="old")
        body = json.dumps({"name": "c4nary-new"}).encode()
        assert 200 == (await people.ask("anna", "PATCH", "/api/v1/sentinels/old", headers=JSON, body=body)).status
        before = world.read(list_of_others, bob)
        every = "Monitor all words Fetch every 1 hour Notify by feed"
        answers: dict[Any, bytes] = {}
        for name in (*HOSTILE, "c4nary-new"):
            made = world.text(f"Create Sentinel {name} Using {{/evil}} {every}")
            for act in ACTS:
                fields = {"act": act, "text": made, "revision": "1", "tags": "x", "page": "1", "mask": "1"}
                answers[name, act] = (await people.send("bob", f"/sentinels/{name}", fields)).body
                answers[name, act, "all"] = (
                    await people.send("bob", "/sentinels", {"s": name, "act": act, "tags": "x"})
                ).body
                bulk = json.dumps({"names": [name], "act": act, "tags": ["x"]}).encode()
                answers[name, act, "bulk"] = (
                    await people.ask("bob", "POST", "/api/v1/bulk", headers=JSON, body=bulk)
                ).body
            for statement in (
                made, f"Alter {name} Tags x", f"Drop {name}", f"Disable {name}", f"Enable {name} fresh",
                world.text(f"Create Sentinel from-{name} Using {name} Monitor links"), f"Drop Event {name}",
                world.text(f"Create Sentinel at-{name} Using {{/evil}} {every} From end({name})"),
                world.text(f'Create Sentinel by-{name} Using {{/evil}} {every} Header "X" secret "{name}"'),
                world.text(f'Create Sentinel to-{name} Using {{/evil}} {every} Notify by webhook secret "{name}"'),
                f'Defaults For Tags c4-tag Notify by webhook secret "{name}"',
            ):  # fmt: skip
                for way in ("api", "save"):
                    answers[name, way, statement] = (await send(people, "bob", statement, way)).body
            for method, body in (
                ("PATCH", b'{"name":"mine"}'),
                ("PATCH", json.dumps({"text": made}).encode()),
                ("DELETE", b""),
            ):
                given = {**JSON, "if-match": "*"}
                path = f"/api/v1/sentinels/{name}"
                answers[name, method, body] = (await people.ask("bob", method, path, headers=given, body=body)).body
            for path in (f"/sentinels/{name}", f"/feeds/{name}.atom", f"/api/v1/sentinels/{name}/feed.atom", f"/?sentinel={name}",
                         f"/api/v1/changes?sentinel={name}", f"/api/v1/deliveries?sentinel={name}", f"/plan?sentinel={name}"):  # fmt: skip
                answers[name, path] = (await people.ask("bob", "GET", path)).body
            for fields in (
                {"act": "drop", "name": name},
                {"act": "unshare", "tag": name},
                {"act": "revoke", "token": name},
            ):
                answers[name, str(fields)] = (await people.send("bob", "/account", fields)).body
        for path in ("", "/fewer", "/text", "/picture", "/rendered"):
            answers[path] = (await people.ask("bob", "GET", f"/changes/{secret_change.row.id}{path}")).body
        await people.send("bob", f"/changes/{secret_change.row.id}/fewer", {"how": "noise", "edit": "0"})
        await people.send("bob", "/inbox/all-read", {"all": "read"})
        await world.settle(people.monitor)

        assert [] == list_changed(before, world.read(list_of_others, bob))
        told = {
            key: body.replace(b"c4nary-new", b"") if "c4nary-new" in str(key) else body for key, body in answers.items()
        }
        assert [] == [key for key, body in told.items() if b"c4nary" in body]
        assert [] == shown(world)

    play_story(world, story)


def test_act_on_many_is_applied_to_those_of_the_editor(world: World) -> None:
    """The others, which are shared with her to read, are named; the rest is done all the same."""

    async def story(people: People) -> None:
        for name, who in (("aaa", "bob"), ("zzz", "anna")):
            text = world.text(
                f"Create Sentinel {name} Using {{/{name}}} Monitor all words Fetch every 1 hour Tags lent"
            )
            body = json.dumps({"text": text}).encode()
            assert 201 == (await people.ask(who, "POST", "/api/v1/sentinels", headers=JSON, body=body)).status
        world.write(lambda c: accounts.share(c, accounts.get_by_name(c, "bob").id, "lent"))
        form = urlencode([("act", "pause"), *(("s", name) for name in ("annas", "aaa", "nosuch", "zzz"))]).encode()
        given = {"content-type": "application/x-www-form-urlencoded", "origin": ORIGIN}
        answer = await people.ask("anna", "POST", "/sentinels", headers=given, body=form)

        assert 422 == answer.status
        assert b"2 of 4" in answer.body
        assert b"aaa: " in answer.body
        assert b"nosuch: " in answer.body
        states = {name: world.sentinel(name).state for name in ("annas", "aaa", "zzz")}
        assert {"annas": "disabled", "aaa": "created", "zzz": "disabled"} == states


def test_a_freed_name_shows_nothing_of_before(world: World) -> None:
    """What was found under a name before belongs to its owner: who has the name now, and who reads
    a later one that is shared, do not get it, on no screen, in no feed and in no export.
    """

    async def story(people: People) -> None:
        async def watch_prices(who: str, word: str, more: str = "") -> None:
            world.page(f"/{word}", f"<title>P</title><p>it is {word}one now</p>")
            made = world.text(f"Create Sentinel prices Using {{/{word}}} Monitor all words Fetch every 1 hour {more}")
            assert 201 == (await send(people, who, made, "api")).status
            await world.pass_time(people.monitor, HOUR)
            world.page(f"/{word}", f"<title>P</title><p>it is {word}two now</p>")
            await world.pass_time(people.monitor, 2 * HOUR)

        async def free() -> None:
            assert 200 == (await people.ask("ada", "DELETE", "/api/v1/sentinels/prices")).status

        await watch_prices("anna", "c4nary", "Notify by feed")
        await free()
        await watch_prices("bob", "bobs", "Notify by feed")
        bobs = {one.row.id for one in world.read(changes.listing, sentinel="prices")}
        exported = {who: await people.ask("ada", "GET", f"/api/v1/users/{who}/export") for who in ("anna", "bob")}
        found = {who: [one["id"] for one in answer.json()["changes"]] for who, answer in exported.items()}
        assert (bobs, set()) == (bobs & set(found["bob"]), bobs & set(found["anna"]))
        assert [True, False] == [b"c4nary" in exported[who].body for who in ("anna", "bob")]
        await free()
        await watch_prices("anna", "shared", "Tags hers Notify by feed")
        world.write(accounts.share, own(world, "anna"), "hers")
        (newest, *_) = world.read(changes.listing, sentinel="prices")
        wrong = []
        for path in (
            "/sentinels/prices", "/?sentinel=prices&s=all", f"/changes/{newest.row.id}", "/feeds/prices.atom",
            f"/changes/{newest.row.id}/fewer", "/api/v1/changes?sentinel=prices&shown=all", "/api/v1/health",
            "/api/v1/deliveries?sentinel=prices", "/api/v1/events?after=0&follow=false",
        ):  # fmt: skip
            for who in ("bob", "rita"):
                answer = await people.ask(who, "GET", path)
                if b"shared" not in answer.body and "fewer" not in path and "health" not in path:
                    wrong.append((who, path, answer.status, "nothing"))
                if b"c4nary" in answer.body:
                    wrong.append((who, path, answer.status, "canary"))
        assert [] == wrong

    play_story(world, story)


ENDS: dict[str, Any] = {
    "bob": lambda c: token_rows.revoke(c, "bob"),
    "anna": lambda c: accounts_of.set_role(c, "anna", "reader"),
    "rita": lambda c: accounts_of.remove(c, "rita", 1, data=Path("nowhere")),
    "edit": lambda c: token_rows.revoke(c, "edit"),
}
"""What ends the right of each."""


@pytest.mark.parametrize("who", ENDS)
def test_a_stream_ends_with_its_right(world: World, monkeypatch: Any, who: str) -> None:
    """A token that is revoked, a role that is taken and an account that is removed end the open
    streams at the next heartbeat.
    """
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.01)

    async def story(people: People) -> None:
        paths = ["/api/v1/events", "/live", *(["/api/v1/stream"] if who == "edit" else [])]
        async with contextlib.AsyncExitStack() as around:
            open_ones = [
                await around.enter_async_context(following(people.app, path, headers=people.headers[who]))
                for path in paths
            ]
            assert [200] * len(paths) == [one.status for one in open_ones]
            world.write(ENDS[who])
            for one in open_ones:
                await one.until_ended()

    play_story(world, story)


def test_what_follows_the_hash_of_an_address_is_its_authors(world: World) -> None:
    """Others who watch the same page do not get it, also if an older version stored it; the
    statement of its author still has it.
    """
    world.page("/doc", "<title>Doc</title><p>one</p>")
    secret = world.server.url("/doc#key=c4nary")
    world.add(f"Create Sentinel first Using {secret} Monitor all words Fetch every 1 hour Notify by feed")
    world.write(lambda c: c.execute("UPDATE page SET given = :given WHERE url LIKE '%/doc'", given=secret))

    async def story(people: People) -> None:
        world.write(sentinels.give, world.sentinel("first").id, own(world, "anna"))
        text = world.text("Create Sentinel second Using {/doc} Monitor all words Fetch every 1 hour Notify by feed")
        assert 201 == (await send(people, "bob", text, "api")).status
        await world.pass_time(people.monitor, HOUR)
        world.page("/doc", "<title>Doc</title><p>two</p>")
        await world.pass_time(people.monitor, HOUR)
        (change,) = world.read(changes.listing, sentinel="second")

        paths = ("/sentinels/second", "/api/v1/pages", f"/changes/{change.row.id}", "/feeds/second.atom")
        answers = {path: (await people.ask("bob", "GET", path)).body for path in paths}
        assert [] == [path for path, body in answers.items() if b"c4nary" in body]
        assert [] == [path for path, body in answers.items() if b"/doc" not in body]
        assert b"#key=c4nary" in (await people.ask("anna", "GET", "/api/v1/sentinels/first")).body

    play_story(world, story)


def test_mask_of_a_page_that_others_watch_is_not_switched(world: World) -> None:
    """It would be left out, or reported, for them, too; who watches the page alone switches it."""

    async def story(people: People) -> None:
        for name, who in (("alone", "bob"), ("alike", "bob"), ("theirs", "anna")):
            path = "/alone" if name == "alone" else "/b"
            text = world.text(f"Create Sentinel {name} Using {{{path}}} Monitor all words Fetch every 1 hour")
            body = json.dumps({"text": text}).encode()
            assert 201 == (await people.ask(who, "POST", "/api/v1/sentinels", headers=JSON, body=body)).status

        async def switch(who: str, name: str) -> tuple[int, int]:
            page_id = world.read(lambda c: subscriptions.listing(c, sentinel_id=sentinels.find(c, name).id))[0].page_id
            path, body = f"/api/v1/pages/{page_id}/masks/none", json.dumps({"off": True}).encode()
            form = {"act": "mask", "page": str(page_id), "mask": "none", "is_on": "0"}
            return (
                (await people.ask(who, "PUT", path, headers=JSON, body=body)).status,
                (await people.send(who, f"/sentinels/{name}", form)).status,
            )

        assert (403, 403) == await switch("bob", "alike")
        assert 404 == (await switch("bob", "alone"))[0], "he may, and there is no such mask"
        assert 404 == (await switch("ada", "alike"))[0]
        world.write(lambda c: register.command(c, Command("drop", "theirs"), now=world.clock.wall()))
        assert 404 == (await switch("bob", "alike"))[0]

    play_story(world, story)


def test_a_preview_uses_only_what_its_author_may_see(world: World) -> None:
    """Of a page that only others watch, it has neither what it would have reported nor masks."""

    async def story(people: People) -> None:
        text = world.text("Create Sentinel q Using {/a} Monitor all words").encode()
        for who, has_stored in (("anna", True), ("ada", True), ("bob", False)):
            answer = await people.ask(who, "POST", "/api/v1/preview", headers=PLAIN, body=text)
            (found,) = answer.json()["items"]
            assert (200, has_stored) == (answer.status, bool(found["hindsight"])), who

    play_story(world, story)
