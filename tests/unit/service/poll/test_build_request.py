from __future__ import annotations

from dataclasses import replace

import pytest

from tests.stores import World
from tidings.clock import SECOND
from tidings.fetching.address import identify
from tidings.model.observed.outcome import Failed, FetchRequest, PlayedStep, Validators
from tidings.model.observed.page import PageIdentity
from tidings.model.secret import Secret, SecretKind
from tidings.model.watch.asking import PLAIN, Asking, BrowserStep, Header, Value
from tidings.service.poll.build_request import Occasion, RequestBuilder
from tidings.storage.secrets import Vault

URL = "https://shop.example/a"
JAR = "shop.example\tFALSE\t/\tTRUE\t{ends}\tsid\tc4nary\n"
KNOWN = Validators('"1"')


@pytest.fixture
def asker(world: World) -> RequestBuilder:
    return RequestBuilder(Vault(world.settings.data), world.settings.data)


def put(
    world: World, asker: RequestBuilder, name: str, text: str, kind: SecretKind = "text", *, owner_id: int = 1
) -> None:
    world.write(lambda c: asker.vault.put(c, name, Secret(text), kind=kind, owner_id=owner_id, at=5))


def secret(name: str) -> Value:
    return Value(name, is_secret=True)


def build(world: World, asker: RequestBuilder, asking: Asking | PageIdentity, **more: object) -> FetchRequest | Failed:
    identity = asking if isinstance(asking, PageIdentity) else identify(URL, asking)
    occasion = Occasion(now=100 * SECOND, **more)  # type: ignore[arg-type]
    return world.read(lambda c: asker.with_secrets(c, identity, occasion))


def ask_page(world: World, asker: RequestBuilder, asking: Asking | PageIdentity, **more: object) -> FetchRequest:
    request = build(world, asker, asking, **more)
    assert isinstance(request, FetchRequest)
    return request


def refusal(world: World, asker: RequestBuilder, asking: Asking) -> str:
    request = build(world, asker, asking)
    assert isinstance(request, Failed)
    assert ("secret", 0) == (request.kind, request.requests)
    assert "c4nary" not in repr(request)
    return request.reason


def test_secrets_replace_their_names(world: World, asker: RequestBuilder):
    """Header, body and proxy may name a secret. A plain header with the same text stays, and the
    request does not print secrets.
    """
    for name in ("key", "form", "way"):
        put(world, asker, name, f"c4nary-{name}")
    headers = (Header("X-Key", secret("key")), Header("X-Plain", Value("key")))
    request = ask_page(world, asker, Asking(method="POST", headers=headers, body=secret("form"), proxy=secret("way")))

    assert (("x-key", Secret("c4nary-key")), ("x-plain", "key")) == request.headers
    assert (Secret("c4nary-form"), Secret("c4nary-way"), "POST") == (request.body, request.proxy, request.method)
    assert "c4nary" not in repr(request)


def test_page_without_secrets_needs_no_database(asker: RequestBuilder):
    """The request is the same."""
    identity = identify(URL, Asking(trust="ca.pem", headers=(Header("A", Value("b")),)))
    request = asker.plain(identity, Occasion(now=0, validators=KNOWN, timeout=7, final_url="x"))

    assert not asker.needs_secrets(identity)
    assert ((("a", "b"),), KNOWN, 7, "x") == (request.headers, request.validators, request.timeout, request.final_url)


def test_certificate_file_is_in_the_data_directory(asker: RequestBuilder, world: World):
    """A name without a folder is found there, wherever the service was started. An absolute path
    stays.
    """
    named, whole = (
        asker.plain(identify(URL, Asking(trust=t)), Occasion(now=0)).trust for t in ("ca.pem", "/etc/ca.pem")
    )

    assert [str(world.settings.data / "ca.pem"), "/etc/ca.pem"] == [named, whole]


def test_missing_secret_is_named_with_its_command(world: World, asker: RequestBuilder):
    """Nothing is requested, and the page is in error(secret)."""
    words = refusal(world, asker, Asking(headers=(Header("A", secret("api-token")),)))

    assert "the secret api-token is not set; `tidings secret set api-token` sets it" == words


def test_lost_key_fails_only_pages_with_secrets(world: World, asker: RequestBuilder):
    """The reason says how to repair it."""
    put(world, asker, "key", "c4nary")
    asker.vault.key_file.path.unlink()

    assert "secrets.key is missing" in refusal(world, asker, Asking(headers=(Header("A", secret("key")),)))
    assert URL == ask_page(world, asker, PLAIN).url


def test_new_secret_makes_the_next_request_unconditional(world: World, asker: RequestBuilder):
    """The validators belong to the content with the old secret, until the page was fetched with the
    new one.
    """
    put(world, asker, "key", "c4nary")
    asking = Asking(headers=(Header("A", secret("key")),))
    seen = [ask_page(world, asker, asking, validators=KNOWN, audited_at=at).validators for at in (None, 4, 5, 6)]

    assert [Validators(), Validators(), KNOWN, KNOWN] == seen


def test_step_gets_its_secret_and_is_named_without_it(world: World, asker: RequestBuilder):
    """The typed text comes from the vault. Cookies cannot be typed."""
    put(world, asker, "pw", "c4nary")
    put(world, asker, "jar", JAR.format(ends=0), "cookies")
    typing = BrowserStep("fill", "css", "#pw", secret("pw"))
    click = BrowserStep("click", "text", "Go")
    request = ask_page(world, asker, Asking(render="browser", steps=(typing, click)))

    assert (
        PlayedStep('fill css "#pw" with secret "pw"', "fill", "css=#pw", Secret("c4nary")),
        PlayedStep('click text "Go"', "click", "text=Go"),
    ) == request.steps
    assert "c4nary" not in repr(request)
    assert "contains cookies" in refusal(
        world, asker, Asking(render="browser", steps=(replace(typing, value=secret("jar")),))
    )


def test_secret_too_short_to_be_masked_is_not_typed(world: World, asker: RequestBuilder):
    """Three characters occur in any text. In a header they are allowed."""
    put(world, asker, "pin", "123")
    typing = BrowserStep("fill", "css", "#pin", secret("pin"))

    assert "pin has fewer than 4 characters" in refusal(world, asker, Asking(render="browser", steps=(typing,)))
    assert ask_page(world, asker, Asking(headers=(Header("A", secret("pin")),))).headers


def test_cookies_of_a_login_replace_the_header(world: World, asker: RequestBuilder):
    """Only those that fit the request are sent, and none is printed."""
    put(world, asker, "shop", JAR.format(ends=0), "cookies")
    request = ask_page(world, asker, Asking(headers=(Header("Cookie", secret("shop")), Header("A", Value("b")))))

    assert (("a", "b"),) == request.headers
    assert [("sid", Secret("c4nary"))] == [(cookie.name, cookie.value) for cookie in request.cookies]


@pytest.mark.parametrize(
    ("asking", "kind", "text", "words"),
    [
        (Asking(headers=(Header("Cookie", secret("x")),)), "cookies", JAR.format(ends=99), "(1 have expired)"),
        (
            Asking(headers=(Header("Cookie", secret("x")),)),
            "cookies",
            JAR.format(ends=0).replace("shop", "toys"),
            "none of the 1 cookies of the secret x is for this page of shop.example (0 have expired)",
        ),
        (
            Asking(headers=(Header("X-A", secret("x")),)),
            "cookies",
            JAR.format(ends=0),
            'use it only as Header "Cookie"',
        ),
        (Asking(method="POST", body=secret("x")), "cookies", JAR.format(ends=0), 'use it only as Header "Cookie"'),
        (Asking(proxy=secret("x")), "cookies", JAR.format(ends=0), 'use it only as Header "Cookie"'),
        (
            Asking(headers=(Header("X-A", secret("x")),)),
            "signing",
            "whsec_c4nary",
            "signs webhooks and is never sent",
        ),
        (
            Asking(headers=(Header("X-A", secret("x")),)),
            "address",
            "https://h.example/c4nary",
            "is the address of a receiver and is never sent to a page",
        ),
        (Asking(headers=(Header("Cookie", secret("x")),)), "cookies", "c4nary", "cannot be used: line 1"),
    ],
    ids=["expired", "elsewhere", "header", "body", "proxy", "signing", "receiver", "no cookie file"],
)
def test_secret_is_used_only_where_it_is_valid(
    world: World, asker: RequestBuilder, asking: Asking, kind: SecretKind, text: str, words: str
):
    """Expired cookies and those of other hosts, cookies elsewhere, and the secret of webhooks are
    refused with the reason.
    """
    put(world, asker, "x", text, kind)

    assert words in refusal(world, asker, asking)


def test_cookies_belong_to_their_owner(world: World, asker: RequestBuilder):
    """H-038: for the same host and name, the page of each owner has its own cookies and is another
    page.
    """
    world.write(lambda c: c.execute("INSERT INTO owner (id, name) VALUES (2, 'ann')"))
    put(world, asker, "shop", JAR.format(ends=0), "cookies")
    put(world, asker, "shop", JAR.format(ends=0).replace("c4nary", "hers"), "cookies", owner_id=2)
    asking = Asking(headers=(Header("Cookie", secret("shop")),))
    mine, hers = (identify(URL, asking, owner_id=owner) for owner in (1, 2))

    assert mine.key != hers.key
    assert [["c4nary"], ["hers"]] == [
        [cookie.value.reveal() for cookie in ask_page(world, asker, identity).cookies] for identity in (mine, hers)
    ]
