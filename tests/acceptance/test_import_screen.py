"""Promise: a file of another program is shown job by job before it is imported in the browser, and
imported as `tidings import` does.
"""

from __future__ import annotations

import json
from typing import Any

from tests.acceptance.test_screens import face, see, words_of
from tests.asgi import Answer, ask
from tests.people import People, with_people
from tests.world import World, play
from tidings.service.run.monitor import Monitor
from tidings.storage import secrets as secret_rows
from tidings.storage.people import accounts
from tidings.storage.watches import sentinels

JOBS = """\
name: Kettle
url: https://shop.example/kettle
filter: [{css: .price}, html2text]
---
name: Board
url: https://bus.example/
filter: [html2text, {shellpipe: "cat"}]
---
command: date
"""
OPML = '<opml version="2.0"><body><outline text="News" xmlUrl="https://news.example/feed" type="rss"/></body></opml>'
WATCH = {
    "url": "https://shop.example/pot",
    "title": "Pot",
    "headers": {"Cookie": "canary-cookie"},
    "time_between_check": {"hours": 3},
    "time_between_check_use_default": False,
}
ORIGIN = {"origin": "http://127.0.0.1:8780"}


def form_of(file: tuple[str, str] | None = None, **fields: str) -> dict[str, Any]:
    """Return the headers and body of a form with a file."""
    body = "".join(f'--b\r\ncontent-disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields.items())
    if file is not None:
        name, content = file
        body += f'--b\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n\r\n{content}\r\n'
    headers = {**ORIGIN, "content-type": "multipart/form-data; boundary=b"}
    return {"headers": headers, "body": f"{body}--b--\r\n".encode()}


async def upload(app: Any, file: tuple[str, str] | None = None, **fields: str) -> Answer:
    """Send the form."""
    return await ask(app, "/import", "POST", **form_of(file, **fields))


def copy_in(answer: Answer) -> str:
    """Return the name of the file that a screen keeps."""
    return answer.body.decode().partition('name="copy" value="')[2].partition('"')[0]


def test_file_is_shown_first_and_then_imported_once(world: World) -> None:
    """Each job stands under what becomes of it; the second import of a file stores nothing."""

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            assert "Bring what you watch elsewhere" in words_of(await see(app, "/"))
            assert 200 == (await ask(app, "/import")).status
            shown = await upload(app, ("urls.yaml", JOBS))
            text = words_of(shown.body.decode())
            assert 200 == shown.status
            assert "3 watches of urlwatch" in text
            assert "2 sentinels would be stored. Each interval stays as it is." in text
            left_out, differ, same = (text.index(head) for head in ("Left out 1", "Differ 1", "Mean the same 1"))
            assert left_out < text.index("command") < differ < text.index("Board") < same < text.index("Kettle")
            assert "shellpipe" in text[differ:same]
            assert [] == world.read(sentinels.names)
            done = await upload(app, copy=copy_in(shown), act="import", schedule="keep")
            assert "2 sentinels are stored" in words_of(done.body.decode())
            assert ["Board", "Kettle"] == world.read(sentinels.names)
            assert 'Select css ".price"' in world.sentinel("Kettle").text
            gone = await upload(app, copy=copy_in(shown), act="import", schedule="keep")
            assert (422, True) == (gone.status, "no longer here" in words_of(gone.body.decode()))
            again = words_of((await upload(app, ("urls.yaml", JOBS))).body.decode())
            assert "Nothing would be stored; 2 exist already" in again

    play(world, story)


def test_intervals_may_be_left_to_tidings(world: World) -> None:
    """Without sending the file again."""

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            shown = await upload(app, ("watch.json", json.dumps(WATCH)))
            other = await upload(app, copy=copy_in(shown), schedule="learn")
            assert "Tidings chooses when to check" in words_of(other.body.decode())
            assert "Fetch on change between 45 min and 12 hour" in other.body.decode()
            await upload(app, copy=copy_in(other), act="import", schedule="learn")
            assert "between 45 min and 12 hour" in world.sentinel("Pot").text
            assert "canary-cookie" not in world.sentinel("Pot").text + other.body.decode()
            assert ["import-pot-cookie-42df2083"] == [name for name in world.read(secret_rows.names) if "pot" in name]

    play(world, story)


def test_what_cannot_be_imported_is_refused_with_the_reason(world: World) -> None:
    """Nothing is stored, and no path of this machine is shown."""
    bad = (("../../x.html", "<html><p>no list</p>"), ("a.zip", "PK\x03\x04broken"), ("x.json", "{" * 500))

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            for file in bad:
                refused = await upload(app, file)
                text = words_of(refused.body.decode())
                assert 422 == refused.status
                assert file[0].removeprefix("../../") in text
                assert "tidings-import-" not in text
            empty = await upload(app)
            assert (422, True) == (empty.status, "Choose a file first" in words_of(empty.body.decode()))
            foreign = form_of(("urls.yaml", JOBS))
            answer = await ask(
                app, "/import", "POST", **{**foreign, "headers": {**foreign["headers"], "origin": "http://x"}}
            )
            assert 403 == answer.status
            assert [] == world.read(sentinels.names)

    play(world, story)


def test_imported_sentinels_belong_to_whom_they_were_sent_by(world: World) -> None:
    """Another user cannot import the file of a user, or learn of their sentinels; only an admin's
    import stores secrets.
    """

    async def story(people: People) -> None:
        async def send(who: str, file: tuple[str, str] | None = None, **fields: str) -> Answer:
            return await people.ask(who, "POST", "/import", **form_of(file, **fields))

        assert [403, 401] == [(await send(who, ("a.opml", OPML))).status for who in ("rita", "")]
        shown = await send("anna", ("a.opml", OPML))
        assert 422 == (await send("bob", copy=copy_in(shown), act="import")).status
        assert copy_in(shown), words_of(shown.body.decode())
        done = await send("anna", copy=copy_in(shown), act="import")
        assert 200 == done.status, words_of(done.body.decode())
        assert world.read(accounts.get_by_name, "anna").id == world.sentinel("News").owner_id
        others = await send("bob", ("a.opml", OPML))
        assert "1 sentinel would be stored." in words_of(others.body.decode())
        assert "News-2" in others.body.decode()
        kept = [words_of((await send(who, ("watch.json", json.dumps(WATCH)))).body.decode()) for who in ("anna", "ada")]
        assert [True, False] == ["only an admin may store" in text for text in kept]
        assert [False, True] == ["1 sentinel would be stored" in text for text in kept]

    def run(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, run)
