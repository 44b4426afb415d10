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
from tidings.storage.secrets.vault import Vault

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


def test_secrets_are_put_in_where_they_are_named(world: World, asker: RequestBuilder):
    """Header, body and proxy; a plain header that is called like a secret stays what it is; nothing of it shows in the request's repr."""
    for name in ("key", "form", "way"):
        put(world, asker, name, f"c4nary-{name}")
    headers = (Header("X-Key", secret("key")), Header("X-Plain", Value("key")))
    request = ask_page(world, asker, Asking(method="POST", headers=headers, body=secret("form"), proxy=secret("way")))

    assert (("x-key", Secret("c4nary-key")), ("x-plain", "key")) == request.headers
    assert (Secret("c4nary-form"), Secret("c4nary-way"), "POST") == (request.body, request.proxy, request.method)
    assert "c4nary" not in repr(request)


def test_a_page_without_secrets_needs_no_look_at_the_database(asker: RequestBuilder):
    """Its request is the same either way."""
    identity = identify(URL, Asking(trust="ca.pem", headers=(Header("A", Value("b")),)))
    request = asker.plain(identity, Occasion(now=0, validators=KNOWN, timeout=7, final_url="x"))

    assert not asker.needs_secrets(identity)
    assert ((("a", "b"),), KNOWN, 7, "x") == (request.headers, request.validators, request.timeout, request.final_url)


def test_a_file_of_certificates_lies_in_the_data_directory(asker: RequestBuilder, world: World):
    """A name without a folder is found there whatever directory the service was started in; a whole path is taken as it is."""
    named, whole = (
        asker.plain(identify(URL, Asking(trust=t)), Occasion(now=0)).trust for t in ("ca.pem", "/etc/ca.pem")
    )

    assert [str(world.settings.data / "ca.pem"), "/etc/ca.pem"] == [named, whole]


def test_a_secret_that_is_not_set_is_named_with_the_command_that_sets_it(world: World, asker: RequestBuilder):
    """Nothing is asked, and the page is in error(secret)."""
    words = refusal(world, asker, Asking(headers=(Header("A", secret("api-token")),)))

    assert "the secret api-token is not set; `tidings secret set api-token` sets it" == words


def test_a_lost_key_is_a_failure_of_the_pages_that_need_it(world: World, asker: RequestBuilder):
    """The reason says how to mend it; a page without secrets is asked for as before."""
    put(world, asker, "key", "c4nary")
    asker.vault.key_file.path.unlink()

    assert "secrets.key is missing" in refusal(world, asker, Asking(headers=(Header("A", secret("key")),)))
    assert URL == ask_page(world, asker, PLAIN).url


def test_a_new_secret_makes_the_next_request_unconditional(world: World, asker: RequestBuilder):
    """Validators speak of what the old one showed: they are left out until the page was seen whole with the new one."""
    put(world, asker, "key", "c4nary")
    asking = Asking(headers=(Header("A", secret("key")),))
    seen = [ask_page(world, asker, asking, validators=KNOWN, audited_at=at).validators for at in (None, 4, 5, 6)]

    assert [Validators(), Validators(), KNOWN, KNOWN] == seen


def test_a_step_has_its_secret_put_in_and_is_named_without_it(world: World, asker: RequestBuilder):
    """What is typed comes from the vault; a jar of cookies is no text to type."""
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


def test_a_secret_that_is_too_short_to_be_masked_is_not_typed(world: World, asker: RequestBuilder):
    """Three characters stand in any text; in a header they are no trouble."""
    put(world, asker, "pin", "123")
    typing = BrowserStep("fill", "css", "#pin", secret("pin"))

    assert "pin has fewer than 4 characters" in refusal(world, asker, Asking(render="browser", steps=(typing,)))
    assert ask_page(world, asker, Asking(headers=(Header("A", secret("pin")),))).headers


def test_a_kept_login_becomes_cookies_and_no_header(world: World, asker: RequestBuilder):
    """Of a jar only what fits each request is sent; what is in it shows nowhere."""
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
    ids=["expired", "elsewhere", "header", "body", "proxy", "signing", "a receiver", "no jar"],
)
def test_a_secret_goes_only_where_it_can(
    world: World, asker: RequestBuilder, asking: Asking, kind: SecretKind, text: str, words: str
):
    """Cookies that have expired or are for others, a jar as something else, the secret of webhooks: told, and nothing is sent."""
    put(world, asker, "x", text, kind)

    assert words in refusal(world, asker, asking)


def test_jars_are_their_owners(world: World, asker: RequestBuilder):
    """H-038: for the same host and the same name each owner's page has its own cookies, and is a page of its own."""
    world.write(lambda c: c.execute("INSERT INTO owner (id, name) VALUES (2, 'ann')"))
    put(world, asker, "shop", JAR.format(ends=0), "cookies")
    put(world, asker, "shop", JAR.format(ends=0).replace("c4nary", "hers"), "cookies", owner_id=2)
    asking = Asking(headers=(Header("Cookie", secret("shop")),))
    mine, hers = (identify(URL, asking, owner_id=owner) for owner in (1, 2))

    assert mine.key != hers.key
    assert [["c4nary"], ["hers"]] == [
        [cookie.value.reveal() for cookie in ask_page(world, asker, identity).cookies] for identity in (mine, hers)
    ]
