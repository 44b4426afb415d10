"""Refusals before any screen: a page for people, in their language; a record for programs."""

from __future__ import annotations

import asyncio
import json

import pytest
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

from tests.asgi import ask
from tidings.clock import ManualClock
from tidings.web.markup import translations
from tidings.web.markup.refused import refuse
from tidings.web.problems import ProblemError, problem_from
from tidings.web.request_guard import RequestGuard

BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"
EVIL = {"host": "evil.example"}


def guarded(headers, path="/sentinels"):
    """Return the answer of the guard."""
    guard = RequestGuard(PlainTextResponse("in"), ManualClock(), refuse=refuse)
    return asyncio.run(ask(guard, path, headers=headers))


@pytest.mark.parametrize(
    ("path", "accept", "media"),
    [
        ("/sentinels", BROWSER, "text/html"),
        ("/sentinels", "*/*", "application/problem+json"),
        ("/api/v1/sentinels", BROWSER, "application/problem+json"),
        ("/compatible/changedetection/api/v1/watch", BROWSER, "application/problem+json"),
        ("/feeds/all.atom", BROWSER, "application/problem+json"),
    ],
)
def test_people_get_a_page_and_programs_a_record(path, accept, media):
    """Both with the same status."""
    answer = guarded({**EVIL, "accept": accept}, path)

    assert (421, media) == (answer.status, answer.headers["content-type"].partition(";")[0])
    assert b"not known under the name" in answer.body
    assert "script-src 'self'" in answer.headers["content-security-policy"] or media != "text/html"


def test_refusal_is_in_the_reader_s_language(tmp_path, monkeypatch):
    """Its commands are marked as such, and nothing of it is markup of the asker."""
    english = json.loads((translations.FOLDER / "en.json").read_text("utf-8"))
    keys = (
        "this service is not known under the name by which it was asked",
        "pages of other sites may not ask this service",
    )
    assert set(keys) <= set(english)
    (tmp_path / "qx.json").write_text(json.dumps({keys[0]: "unbekannt", keys[1]: "fremd"}))
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    translations.languages.cache_clear()
    try:
        asked = {"accept": BROWSER, "accept-language": "qx"}
        found = [guarded({**asked, **more}).body for more in (EVIL, {"origin": "https://x.example"})]
        assert [True, True] == [b">unbekannt<" in found[0], b">fremd<" in found[1]]
        assert b'<html lang="qx">' in found[0]
        problem = ProblemError(HTTPException(403).status_code, "no <b>", hint="`tidings token add NAME` makes one")  # type: ignore[arg-type]
        shown = refuse(problem, "/x", Headers(asked)).body
        assert b"no &lt;b&gt;" in shown
        assert b"<code>tidings token add NAME</code>" in shown
    finally:
        translations.languages.cache_clear()


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (ProblemError(403, "no"), 403, "no"),  # type: ignore[arg-type]
        (HTTPException(404), 404, "nothing at this address"),
        (HTTPException(405, headers={"allow": "GET"}), 405, "does not take such a request"),
        (HTTPException(413), 413, "request entity too large"),
        (KeyError("secret"), 500, "a fault of the service"),
    ],
)
def test_every_exception_becomes_a_problem(error, status, said):
    """The headers of an exception stay; what an internal error says does not leave."""
    problem = problem_from(error)

    assert (status, True) == (problem.status, said in str(problem))
    assert "secret" not in str(problem)
    assert dict(getattr(error, "headers", None) or {}) == problem.headers
