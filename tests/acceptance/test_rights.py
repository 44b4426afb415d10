"""Promise: every path declares its methods and roles, refuses all others, and hides what belongs to
other users.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any
from urllib.parse import quote, quote_plus

from tests.people import ORIGIN, SCOPES, People, with_people
from tests.world import World, play
from tidings.clock import DAY, HOUR
from tidings.service.people import accounts as accounts_of
from tidings.service.run.monitor import Monitor
from tidings.storage.people import accounts
from tidings.storage.watches import changes, deliveries, sentinels, subscriptions
from tidings.web.access import RANKS, watch_of
from tidings.web.routes import api_routes, program_routes, screen_routes

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
NEEDS = {"readers": 0, "markers": 1, "editors": 1, "admins": 2}
OBJECTS = ("{watch}", "{name}", "{page}", "{id}", "{delivery}", "{receiver}", "{tag}")
ABSENT = ("nobody", "none", "/static/", "/new/page")
"""What is not there whoever asks."""
HARMLESS = {"if-match": '"none"', "origin": ORIGIN}
"""By which nothing is altered or dropped by whoever may, and forms come from where they should."""


def every_entrance() -> list[Any]:
    """Return the whole table."""
    return [*program_routes(), *api_routes(None), *screen_routes(None)]  # type: ignore[arg-type]


def name_objects(world: World, sentinel: str = "annas", tag: str = "hers") -> dict[str, str]:
    """Return what the parameters of paths stand for: a sentinel with a change, and what it has."""
    (change, *_) = world.read(changes.listing, sentinel=sentinel)
    sent = [one.id for one in world.read(deliveries.listing, sentinel=sentinel)]
    receiver = next((one.endpoint_id for one in world.read(deliveries.listing, sentinel=sentinel)), 0)
    (page, *_) = world.read(subscriptions.listing, sentinel_id=change.row.sentinel_id)
    return {
        "{name:path}": sentinel, "{name}": sentinel, "{page}": str(page.page_id), "{number}": "1",
        "{watch}": str(watch_of(page.sentinel_id, page.page_id)), "{at}": "latest", "{old}": "previous",
        "{new}": "latest", "{id}": change.row.id, "{delivery}": sent[0] if sent else "none",
        "{receiver}": str(receiver),
        "{mask}": "none", "{tag}": tag, "{user}": "nobody", "{token}": "nobody", "{hash}": "x",
    }  # fmt: skip


def fill(path: str, named: dict[str, str]) -> str:
    """Return a path with its parameters filled in; a stream of events ends by itself."""
    for parameter, value in named.items():
        path = path.replace(parameter, value)
    return path + ("?follow=false" if path.endswith("/events") else "")


def rank_of(who: str) -> int:
    """Return the rank of a user, -1 without an account."""
    roles = {"ada": "admin", "anna": "editor", "bob": "editor", "rita": "reader"}
    roles |= {scope: role for role, scope in SCOPES.items()}
    return RANKS[roles[who]] if who in roles else -1


def expect(entrance: Any, who: str) -> str:
    """Return the expected outcome of a request, such as `asked for` a token or `refused`."""
    rank = rank_of(who)
    if entrance.who not in NEEDS:
        is_form = (entrance.path, entrance.method) == ("/login", "POST")
        return "let in" if entrance.who == "anybody" and not is_form else "its own"
    if rank < 0:
        return "asked for"
    if entrance.path == "/account":
        return "refused"  # all of these show tokens, and it is for who has signed in
    has_marks = entrance.who == "markers" and who == "rita"
    if rank < NEEDS[entrance.who] and not has_marks:
        return "refused"
    is_one = who in {"ada", *SCOPES.values()}
    if entrance.is_of_all and not is_one:
        return "refused"
    hers = "{name:path}" in entrance.path or any(part in entrance.path for part in OBJECTS)
    return "not there" if hers and who in {"bob", "rita"} else "let in"


def is_also_another(path: str, method: str, own: dict[str, set[str]]) -> bool:
    """Return whether a path also matches another row with a parameter."""
    shapes = {re.sub(r"{\w+}", "[^/]+", other): methods for other, methods in own.items() if other != path}
    return any(method in methods and re.fullmatch(shape, path) for shape, methods in shapes.items() if ":" not in shape)


def became(status: int) -> str:
    """Return the outcome of an answer."""
    return {401: "asked for", 403: "refused", 404: "not there"}.get(status, "let in")


def test_every_path_method_and_role_has_its_outcome(world: World) -> None:
    """All rows by all methods and roles; 100 % of the paths are declared."""
    every = every_entrance()
    assert all(one.who in {"anybody", "hook", "hub", *NEEDS} for one in every)
    own: dict[str, set[str]] = {}
    for one in every:
        own.setdefault(one.path, set()).update({one.method} | ({"HEAD"} if one.method == "GET" else set()))

    async def story(people: People) -> None:
        routes = {(route.path, method) for route in people.app.application.routes for method in route.methods}
        assert {(path, method) for path, methods in own.items() for method in methods} == routes
        named = name_objects(world)
        wrong: list[Any] = []
        count = 0
        for one in every:
            path = fill(one.path, named)
            for who in ("", "stranger", *people.headers):
                headers = {**HARMLESS, **({"authorization": "Bearer x"} if who == "stranger" else {})}
                for method in sorted({one.method} | ({"HEAD"} if one.method == "GET" else set())):
                    answer = await people.ask(who, method, path, headers=headers)
                    count += 1
                    found, meant = became(answer.status), expect(one, who)
                    is_absent = found == "not there" and any(word in path for word in ABSENT)
                    if meant not in {found, "its own"} and not (meant == "let in" and is_absent):
                        wrong.append((method, one.path, who, meant, answer.status))
        for path, methods in own.items():
            for method in METHODS:
                if method not in methods and not is_also_another(path, method, own):
                    answer = await people.ask("ada", method, fill(path, named))
                    count += 1
                    if answer.status != 405:
                        wrong.append((method, path, "any", "no such method", answer.status))
        assert [] == wrong
        assert count > 1_000

    def list_answers(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, list_answers)


def test_entrances_for_anybody_show_nothing(world: World) -> None:
    """Whatever is wrong with a request of somebody who was not asked for a name, the answer has no
    menu, no counts and no names.
    """
    own = [one for one in every_entrance() if one.who not in NEEDS]

    async def story(people: People) -> None:
        ways: list[dict[str, Any]] = [
            {},
            {"headers": {"origin": ORIGIN}},
            {"body": b"x" * 3_000_000},
            {"headers": {"origin": ORIGIN, "content-type": "multipart/form-data"}, "body": b"x"},
            {"headers": {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded"}, "body": b"%ff=" * 999},
        ]
        for one in own:
            path = re.sub(r"{[^}]+}", "x", one.path)
            for way in ways:
                given = {"accept": "text/html", **way.get("headers", {})}
                answer = await people.ask("", one.method, path, headers=given, body=way.get("body", b""))
                shown = [word for word in (b'aria-label="Main"', b"annas", b"unread</span>") if word in answer.body]
                assert [] == shown, (one.method, path, way)
        inside = await people.ask("ada", "GET", "/changes/none")
        assert (404, True) == (inside.status, b'aria-label="Main"' in inside.body)

    def act(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, act)


def test_lists_hold_own_and_shared_sentinels(world: World) -> None:
    """In the API and on the screens; a shared tag permits reading, not altering."""

    async def story(people: People) -> None:
        async def names(who: str) -> list[str]:
            return [one["name"] for one in (await people.ask(who, "GET", "/api/v1/sentinels")).json()["items"]]

        async def list_shown(who: str) -> list[bool]:
            paths = ("/", "/?s=all", "/sentinels", "/plan")
            return [b"annas" in (await people.ask(who, "GET", path)).body for path in paths]

        assert [["annas", "common"], ["annas", "common"], ["common"], ["common"]] == [
            await names(who) for who in ("ada", "anna", "bob", "rita")
        ]
        assert [True] * 4 == await list_shown("anna")
        assert [False] * 4 == await list_shown("bob")
        for path in ("changes", "deliveries", "pages", "plan", "events?after=0&follow=false", "feed.atom", "tags"):
            assert b"annas" not in (await people.ask("bob", "GET", f"/api/v1/{path}")).body
        for name in ("annas", "anna"):
            guessed = await people.ask("bob", "GET", f"/api/v1/plan?sentinel={name}")
            assert (404, False) == (guessed.status, b"annas" in guessed.body)
        assert b"did you mean annas?" in (await people.ask("ada", "GET", "/api/v1/plan?sentinel=anna")).body
        headers = {"content-type": "application/json"}
        bulk = await people.ask(
            "bob", "POST", "/api/v1/bulk", headers=headers, body=b'{"names":["annas"],"act":"pause"}'
        )
        assert [False] == [one["done"] for one in bulk.json()["items"]]
        stolen = await people.ask(
            "bob", "POST", "/api/v1/sentinels", headers={"content-type": "text/plain"}, body=b"Drop annas"
        )
        assert 404 == stolen.status
        anna = world.read(accounts.get_by_name, "anna")
        world.write(accounts.share, anna.id, "hers")
        assert ["annas", "common"] == await names("bob")
        assert 200 == (await people.ask("rita", "GET", "/sentinels/annas")).status
        assert 403 == (await people.ask("bob", "POST", "/api/v1/sentinels/annas/check")).status

    def list_answers(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, list_answers)


async def hide_canaries(world: World, people: People) -> None:
    """Let anna and another account have a canary in everything that is only theirs, also about
    pages that bob watches too, and let things fail.
    """

    def give(c: Any, who: str, *names: str) -> None:
        owner = accounts.get_by_name(c, who)
        for name in names:
            sentinels.give(c, sentinels.find(c, name).id, owner.id)

    for path in ("/x", "/c4nary-page"):
        world.page(path, "<title>X</title><p>one 1</p><div class=d>x</div>")
    world.page("/gone", "gone", status=404)
    world.page("/odd", "<p>one</p>")
    hook = world.receiver("/c4nary-hook", lambda n: 500)
    both = "Monitor all words Fetch every 1 hour Tags shared"
    world.add(f"Create Sentinel c4nary-first Using {{/x#c4nary-key}} {both} Notify by webhook {hook}")
    world.add(f"Create Sentinel c4nary-gone Using {{/gone}} {both}")
    world.add(
        'Create Sentinel c4nary-odd Using {/odd} Monitor all words in css ".c4nary"'
        " Fetch every 1 hour Notify by email c4nary@e.example"
    )
    world.add(
        'Create Sentinel c4nary-only Using {/c4nary-page} Monitor phrase "c4nary" Fetch every 1 hour Tags c4nary-tag'
    )
    world.add("Create Sentinel sentinelly Using {/c4nary-page} Monitor links Fetch every 1 hour")
    for name, path in (("bobs", "/x"), ("bobs-gone", "/gone"), ("bobs-odd", "/odd")):
        world.add(f"Create Sentinel {name} Using {{{path}}} {both}")
    world.write(give, "anna", "c4nary-first", "c4nary-gone", "c4nary-odd", "c4nary-only")
    world.write(give, "bob", "bobs", "bobs-gone", "bobs-odd")
    made = world.write(accounts_of.add, "c4nary-user", "editor", "", at=world.clock.wall())
    world.write(give, "c4nary-user", "sentinelly")
    world.write(accounts_of.set_share, made.name, 77.0)
    for number in range(1, 4):
        world.page("/x", f"<title>X</title><p>one {number}</p>")
        world.page("/c4nary-page", f"<title>X</title><p>one {'c4nary ' * number}</p>")
        await world.pass_time(people.monitor, 2 * HOUR)
    await world.pass_time(people.monitor, 5 * DAY)


def test_no_answer_has_anything_of_another_account(world: World) -> None:
    """All paths, asked for one's own objects, for those of others, for those that do not exist and
    for names that resemble those of others: no answer has a canary.
    """

    async def story(people: People) -> None:
        await hide_canaries(world, people)
        own, others, shared = (name_objects(world, name, "x") for name in ("bobs", "c4nary-only", "common"))
        near = dict.fromkeys(own, "sentinell") | {"{name}": "c4nary-onl", "{name:path}": "c4nary-onl", "{page}": "999"}
        queries = ["", "?q=c4nar", "?sentinel=c4nary-onl", "?sentinel=bobs", "?tag=c4nary-ta", "?cursor=x", "?s=all"]
        wrong: list[Any] = []

        def note(answer: Any, *what: Any) -> None:
            body = answer.body + repr(sorted(answer.headers.items())).encode()
            for name in (word for word in what if "c4nary" in word or "sentinelly" in word):
                for form in {name, quote(name), quote_plus(name), html.escape(name)}:
                    body = re.sub(re.escape(form.encode()) + rb"(?![\w-])", b"", body)
            if b"c4nary" in body or b"sentinelly" in body:
                at = min(place for word in (b"c4nary", b"sentinelly") if (place := body.find(word)) >= 0)
                wrong.append((*what, answer.status, body[max(0, at - 150) : at + 100]))

        asked: set[str] = set()
        for one in every_entrance():
            if one.method != "GET" or one.who == "admins":
                continue
            for named in (own, others, shared, near):
                path = fill(one.path, named)
                is_asked = named is own and "?" not in path and world.dialect == "sqlite"
                for query in queries if is_asked else [""]:
                    if path + query in asked:
                        continue  # a path without a name is the same for all
                    asked.add(path + query)
                    for who in ("bob", "rita"):
                        answer = await people.ask(who, "GET", path + query, headers=HARMLESS)
                        note(answer, path + query, *named.values(), "c4nary-onl", "c4nary-ta")
        for act in ("check", "pause", "tags", "drop"):
            names = ["c4nary-onl", "sentinell", "c4nary-only"]
            given = {"names": names, "act": act, "tags": ["x"]}
            body, headers = json.dumps(given).encode(), {"content-type": "application/json", "origin": ORIGIN}
            note(
                await people.ask("bob", "POST", "/api/v1/bulk", headers=headers, body=body),
                *sorted(names, reverse=True),
            )
        for text in (
            "Alter sentinell Tags x", "Drop sentinell", "Create Sentinel q Using sentinell Monitor links",
            "Create Sentinel q Using https://e.org/ Monitor links From end(sentinell)",
        ):  # fmt: skip
            for path in ("/api/v1/sentinels", "/api/v1/preview"):
                answer = await people.ask(
                    "bob", "POST", path, headers={"content-type": "text/plain"}, body=text.encode()
                )
                note(answer, text)
        assert [] == wrong
        assert len(asked) > (500 if world.dialect == "sqlite" else 150)

    def act(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, act)


def test_no_text_with_the_character_zero_comes_in(world: World) -> None:
    """By path, query, form, JSON and text: 422, whatever the database, and for whoever asks."""

    async def story(people: People) -> None:
        for one in every_entrance():
            if one.method == "GET":
                for query in ("?q=%00", "?x=a%00b", "?%00=1"):
                    path = fill(one.path, dict.fromkeys(["{name}", "{tag}", "{page}"], "1")).partition("?")[0]
                    assert 422 == (await people.ask("ada", "GET", path + query)).status, one.path
        assert 422 == (await people.ask("ada", "GET", "/sentinels/a\0b")).status
        for path in ("/sentinels", "/sentinels/common", "/new", "/login", "/inbox"):
            for fields in ({"act": "a\0b"}, {"a\0": "x"}):
                assert 422 == (await people.send("ada", path, fields)).status, path
        given = {"content-type": "application/json"}
        for body in (b'{"name":"a\\u0000b"}', b'{"name":"a\\\\\\u0000"}', b'{"name":"\0"}'):
            answer = await people.ask("ada", "PATCH", "/api/v1/sentinels/common", headers=given, body=body)
            assert (422, True) == (answer.status, b"number 0" in answer.body), body
        escaped = await people.ask(
            "ada", "PATCH", "/api/v1/sentinels/common", headers=given, body=b'{"name":"a\\\\u0000"}'
        )
        assert b"number 0" not in escaped.body
        text = await people.ask(
            "ada", "POST", "/api/v1/sentinels", headers={"content-type": "text/plain"}, body=b"Create\0"
        )
        assert 422 == text.status

    def act(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, act)
