import asyncio

import pytest

from tests.asgi import ask
from tests.unit.web.insides import Hooks, inside, watch
from tidings.storage.watches import events
from tidings.web.entrances import application, entrances

TOKEN = "0123456789abcdef01234567"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def path_of(entrance):
    return entrance.path.replace("{name:path}", "shop").replace("{name}", "deploy").replace("{token}", "another")


def run(tmp_path, story, **serve):
    """Play a story before the inside of a service."""

    async def act():
        async with inside(tmp_path, **serve) as within:
            await watch(within, "shop")
            return await story(within, application(within))

    return asyncio.run(act())


def test_every_entrance_says_who_may_enter():
    """R-13: a new one is looked at here, and its answer to a stranger below."""
    assert {
        ("/healthz", "GET", "anybody"),
        ("/metrics", "GET", "readers"),
        ("/feeds/{name:path}.atom", "GET", "readers"),
        ("/api/v1/stream", "GET", "readers"),
        ("/api/v1/hooks/{name}", "POST", "hook"),
        ("/api/v1/signals", "POST", "readers"),
        ("/api/v1/websub/{token}", "GET", "hub"),
        ("/api/v1/websub/{token}", "POST", "hub"),
    } == {(one.path, one.method, one.who) for one in entrances()}


@pytest.mark.parametrize(
    ("public_url", "host", "status"),
    [
        ("", "", 421),
        ("", ":8780", 421),
        ("", ".", 421),
        ("https://Tidings.example.org/t", "tidings.example.org", 200),
        ("https://tidings.example.org", "other.example.org", 421),
    ],
)
def test_it_is_asked_by_its_public_name_if_it_has_one(tmp_path, public_url, host, status):
    """No name is no name: without a public address nobody is let in who names none."""

    async def story(_, app):
        return await ask(app, "/healthz", headers={"host": host})

    assert status == run(tmp_path, story, public_url=public_url).status


@pytest.mark.parametrize("entrance", entrances(), ids=lambda one: f"{one.method} {one.path}")
def test_other_verbs_do_nothing(tmp_path, entrance):
    """H-086: every path knows its own verb (and HEAD beside GET), any other is 405 and changes nothing."""
    own: set[str] = {one.method for one in entrances() if one.path == entrance.path}
    own |= {"HEAD"} if "GET" in own else set()

    async def story(within, app):
        before = await within.store.read(events.last_seq)
        answers = [await ask(app, path_of(entrance), method) for method in METHODS if method not in own]
        return answers, await within.store.read(events.last_seq) - before

    answers, happened = run(tmp_path, story)

    assert {405} == {one.status for one in answers}
    assert 0 == happened


@pytest.mark.parametrize("entrance", entrances(), ids=lambda one: f"{one.method} {one.path}")
def test_strangers_see_what_is_declared(tmp_path, entrance):
    """H-090: with a token set, readers without it, with another and with it in the address are asked for it; health is for anybody."""
    asked = [{}, {"authorization": "Bearer x"}, {"authorization": "Basic eDp5"}]

    async def story(within, app):
        path = path_of(entrance)
        answers = [await ask(app, path, entrance.method, headers=headers) for headers in asked]
        return [one.status for one in (*answers, await ask(app, f"{path}?token={TOKEN}", entrance.method))]

    expected = {
        "anybody": [200] * 4,
        "readers": [401] * 4,
        "hook": [401, 404, 404, 401],
        "hub": [404 if entrance.method == "GET" else 410] * 4,
    }

    assert expected[entrance.who] == run(tmp_path, story, token=TOKEN, hooks=Hooks())


def test_a_reader_with_the_token_is_let_in(tmp_path):
    """As a bearer or as the password of a login."""

    async def story(within, app):
        given = (f"Bearer {TOKEN}", "Basic eDowMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc=")
        return [(await ask(app, "/feeds/shop.atom", headers={"authorization": one})).status for one in given]

    assert [200, 200] == run(tmp_path, story, token=TOKEN)


@pytest.mark.parametrize(
    "path",
    ["/", "/feeds/", "/feeds/.atom", "/healthz/", "/docs", "/openapi.json", "/feeds/shop", "/static/..%2f..%2fetc/passwd",
     "/feeds/../../etc/passwd", "http://evil.example/healthz", "/api/v1/hooks/a/b"],
)  # fmt: skip
def test_there_is_nothing_else(tmp_path, path):
    """Every other path is 404, with what there is (H-100)."""

    async def story(within, app):
        return await ask(app, path)

    answer = run(tmp_path, story)

    assert 404 == answer.status
    assert "problem" == answer.json()["record"]


def test_a_fault_of_ours_tells_strangers_nothing(tmp_path):
    """The log has it whole, the answer only that there was one."""

    async def story(within, app):
        async def read(*_, **__):
            message = "/home/anna/secret"
            raise KeyError(message)

        async def logging(scope, receive, send):  # as the server does
            with pytest.raises(KeyError, match="secret"):
                await app(scope, receive, send)

        within.store.read = read
        return await ask(logging, "/feeds/all.atom")

    answer = run(tmp_path, story)

    assert 500 == answer.status
    assert "a fault of the service, described in its log" == answer.json()["message"]
    assert b"anna" not in answer.body
