import asyncio

import pytest

from tests.asgi import ask
from tests.unit.web.insides import Hooks, inside, watch
from tidings.errors import StoreBusyError
from tidings.storage.watches import events
from tidings.web.routes import application, program_routes
from tidings.web.screens.desk import Desk

TOKEN = "0123456789abcdef01234567"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def path_of(entrance):
    return entrance.path.replace("{name:path}", "shop").replace("{name}", "deploy").replace("{token}", "another")


def run(tmp_path, story, **serve):
    """Run a story on the inside of a service."""

    async def act():
        async with inside(tmp_path, **serve) as within:
            await watch(within, "shop")
            return await story(within, application(within))

    return asyncio.run(act())


def test_every_entrance_declares_who_may_enter():
    """R-13: a new one must be added here; its answer to strangers is tested below."""
    assert {
        ("/healthz", "GET", "anybody"),
        ("/metrics", "GET", "readers"),
        ("/feeds/all.atom", "GET", "readers"),
        ("/feeds/{name:path}.atom", "GET", "readers"),
        ("/api/v1/stream", "GET", "readers"),
        ("/api/v1/hooks/{name}", "POST", "hook"),
        ("/api/v1/signals", "POST", "readers"),
        ("/api/v1/websub/{token}", "GET", "hub"),
        ("/api/v1/websub/{token}", "POST", "hub"),
    } == {(one.path, one.method, one.who) for one in program_routes()}


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
def test_public_name_is_accepted_as_host(tmp_path, public_url, host, status):
    """Without a public address, an empty host is refused."""

    async def story(_, app):
        return await ask(app, "/healthz", headers={"host": host})

    assert status == run(tmp_path, story, public_url=public_url).status


@pytest.mark.parametrize("entrance", program_routes(), ids=lambda one: f"{one.method} {one.path}")
def test_other_methods_are_405(tmp_path, entrance):
    """H-086: each path has its own methods (HEAD beside GET); any other changes nothing."""
    own: set[str] = {one.method for one in program_routes() if one.path == entrance.path}
    own |= {"HEAD"} if "GET" in own else set()

    async def story(within, app):
        before = await within.store.read(events.last_seq)
        answers = [await ask(app, path_of(entrance), method) for method in METHODS if method not in own]
        return answers, await within.store.read(events.last_seq) - before

    answers, happened = run(tmp_path, story)

    assert {405} == {one.status for one in answers}
    assert 0 == happened


@pytest.mark.parametrize("entrance", program_routes(), ids=lambda one: f"{one.method} {one.path}")
def test_strangers_get_the_declared_answer(tmp_path, entrance):
    """H-090: with a token set, readers get 401 without it, with another one, and with it in the
    address. Health is open.
    """
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


def test_reader_with_the_token_is_admitted(tmp_path):
    """The token is a bearer token or the password of basic authentication."""

    async def story(within, app):
        given = (f"Bearer {TOKEN}", "Basic eDowMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc=")
        return [(await ask(app, "/feeds/shop.atom", headers={"authorization": one})).status for one in given]

    assert [200, 200] == run(tmp_path, story, token=TOKEN)


@pytest.mark.parametrize(
    "path",
    ["/", "/feeds/", "/feeds/.atom", "/healthz/", "/docs", "/openapi.json", "/feeds/shop", "/static/..%2f..%2fetc/passwd",
     "/feeds/../../etc/passwd", "http://evil.example/healthz", "/api/v1/hooks/a/b"],
)  # fmt: skip
def test_unknown_path_is_404(tmp_path, path):
    """The answer is a problem record (H-100)."""

    async def story(within, app):
        return await ask(app, path)

    answer = run(tmp_path, story)

    assert 404 == answer.status
    assert "problem" == answer.json()["record"]


@pytest.mark.parametrize("path", ["/", "/sentinels/shop", "/metrics", "/api/v1/sentinels", "/feeds/all.atom"])
def test_database_that_cannot_be_used_is_503_with_advice(tmp_path, path):
    """People get a page and programs a record. The next request is answered as usual."""

    async def story(within, app):
        desk = Desk(within.settings, within.clock, within.arrivals)
        app = application(within, desk)
        read, held = within.store.read, True

        async def read_or_refuse(*given, **more):
            if held:
                raise StoreBusyError("postgresql://anna@db is held")
            return await read(*given, **more)

        within.store.read = read_or_refuse
        refused = [await ask(app, path, headers={"accept": accept}) for accept in ("text/html", "*/*")]
        held = False
        later = await ask(app, path)
        await desk.close()
        return *refused, later

    page, record, later = run(tmp_path, story)

    assert [503, 503, 200] == [page.status, record.status, later.status]
    assert ["5", "5"] == [one.headers["retry-after"] for one in (page, record)]
    for text in (page.body.decode(), record.body.decode()):
        assert "cannot be used now" in text
        assert "tidings doctor" in text
        assert "anna" not in text
    assert page.body.startswith(b"<!doctype html>") == (not path.startswith(("/api/", "/feeds/")))
    assert "cannot be used now" in record.json()["message"]


def test_internal_error_reveals_nothing(tmp_path):
    """The log has the whole error, the answer only that there was one."""

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
