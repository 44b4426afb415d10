"""Promise: the service delivers news to mailboxes and chats, and connects only to addresses that
pages may be fetched from.
"""

from __future__ import annotations

import email
import email.policy
import json
from collections.abc import Callable, Iterator
from email.message import EmailMessage

import pytest

from tests.fakes import Page, WebServer
from tests.fakes_smtp import MailServer
from tests.world import World, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.errors import AddressError
from tidings.service.health import sources
from tidings.storage.watches import endpoints, sentinels


@pytest.fixture
def mail() -> Iterator[MailServer]:
    with MailServer() as running:
        yield running


@pytest.fixture
def mailing(make_world: Callable[..., World], mail: MailServer) -> World:
    return make_world(**_mail_flags(mail))


def _mail_flags(mail: MailServer) -> dict[str, str]:
    return {
        "notify__smtp_host": mail.host,
        "notify__smtp_port": str(mail.port),
        "notify__smtp_security": "none",
        "notify__mail_from": "Tidings <tidings@example.org>",
    }


def _letters(mail: MailServer) -> list[EmailMessage]:
    return [email.message_from_bytes(taken.content, policy=email.policy.default) for taken in mail.taken]


def _list_troubles(world: World) -> list[str]:
    """Return the brief names of all troubles."""
    found = world.read(sources.health_of, world.settings, now=world.clock.now(), is_polled=True)
    return [trouble.brief for trouble in found.troubles]


def _text(letter: EmailMessage, form: str) -> str:
    body = letter.get_body((form,))
    return str(body.get_content()) if body is not None else ""


def _counting(world: World, channel: str, *, polls: int = 2, pause: int = HOUR) -> None:
    """Watch a page that changes at each poll."""
    world.page("/a", "<h1>Price</h1><p>count 0</p>")
    world.add(f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour slack 1 s Notify By {channel}")

    with serve(world) as service:
        service.settle()
        for poll in range(1, polls):
            world.page("/a", f"<h1>Price</h1><p>count {poll}</p>")
            service.pass_time(HOUR)
        service.pass_time(pause)


def test_mail_shows_the_change_and_mails_of_a_sentinel_are_a_thread(mailing: World, mail: MailServer):
    """Text and HTML have old and new; each has its own Message-ID, and all refer to one root."""
    _counting(mailing, "email anna@example.org immediate", polls=3)
    first, second = _letters(mail)

    assert 'Price: count "1" (was "0")' in _text(first, "plain")
    assert ">0</del>" in _text(first, "html")
    assert first["References"] == second["References"] is not None
    assert first["Message-ID"] != second["Message-ID"]
    assert ["delivered", "delivered"] == [d.status for d in mailing.deliveries()]
    assert [] == mailing.violations()


@pytest.mark.parametrize("rate", ["best effort", "every 1 day", "immediate max 1 per 2 hour", "every 2 changes"])
def test_news_wait_for_a_mail_server_that_was_taken_from_the_settings(mailing: World, mail: MailServer, rate: str):
    """The service starts, the rules of other sentinels go on, and the trouble is shown."""
    flags = {**mailing.flags}
    mailing.page("/a", "<p>count 0</p>")
    mailing.page("/b", "<p>count 0</p>")
    hook = mailing.receiver()
    hourly = "Monitor all words Fetch every 1 hour slack 1 s Notify By"
    mailing.add(f"Create Sentinel s Using {{/a}} {hourly} email a@example.org {rate}")
    mailing.add(f"Create Sentinel t Using {{/b}} {hourly} webhook {hook} best effort")

    def run(*numbers: int) -> None:
        with serve(mailing) as service:
            service.settle()
            for number in numbers:
                mailing.page("/a", f"<p>count {number}</p>")
                mailing.page("/b", f"<p>count {number}</p>")
                service.pass_time(HOUR)

    mail.answers["RCPT"] = "451 not now"
    run(1, 2)
    del mailing.flags["notify.smtp_host"]
    run(3)
    troubles = _list_troubles(mailing)
    mailing.flags, mail.answers = flags, {}
    run()
    with serve(mailing) as service:
        service.pass_time(DAY + HOUR)
    letters = "".join(_text(letter, "plain") for letter in _letters(mail))

    assert 3 == len(mailing.received)
    assert "no mail server" in troubles
    assert [True] * 3 == [f'count "{n}"' in letters for n in (1, 2, 3)]
    assert [] == mailing.events("problem.rule", "problem.unit")


def test_lost_mail_is_sent_again_with_the_same_id(mailing: World, mail: MailServer):
    """F-31: a connection dropped after DATA may have delivered it.

    Message-ID and bodies are equal.
    """
    mail.answers["END"] = ""
    mailing.page("/a", "<p>count 0</p>")
    mailing.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour Notify By email anna@example.org")

    with serve(mailing) as service:
        service.settle()
        mailing.page("/a", "<p>count 1</p>")
        service.pass_time(HOUR)
        mail.answers.clear()
        service.pass_time(10 * MINUTE)
    letters = _letters(mail)

    assert len(letters) >= 2
    assert 1 == len({letter["Message-ID"] for letter in letters})
    assert 1 == len({_text(letter, "html") for letter in letters})
    assert ["delivered"] == [d.status for d in mailing.deliveries()]


def test_unknown_mailbox_is_a_dead_letter(mailing: World, mail: MailServer):
    """F-31: 5xx is final; the delivery has the reason."""
    mail.answers["RCPT"] = "550 5.1.1 no such user"
    _counting(mailing, "email anna@example.org", pause=DAY)
    (delivery,) = mailing.deliveries()

    assert ("dead", 1) == (delivery.status, delivery.attempt)
    assert "550 5.1.1 no such user" in delivery.error


def test_no_mail_is_queued_until_mail_is_set_up(make_world: Callable[..., World], mail: MailServer):
    """Without a mail server nothing is written and nothing fails; later news are sent."""
    _counting(make_world(), "email anna@example.org")
    before = make_world().deliveries()
    later = make_world(**_mail_flags(mail))

    later.clock.advance(3 * HOUR)
    with serve(later) as service:
        later.page("/a", "<h1>Price</h1><p>count 9</p>")
        service.pass_time(HOUR)
    (letter,) = _letters(mail)

    assert [] == before
    assert 'count "9"' in _text(letter, "plain")


def test_digest_is_one_chat_message(world: World):
    """Apprise's services get text: a headline, then each change, the newest first."""
    with WebServer("127.0.0.3") as chat:
        chat.pages["/room"] = Page(status=200)
        _counting(world, f"{chat.url('/room').replace('http', 'json')} every 4 hour", polls=4, pause=2 * HOUR)
    (seen,) = chat.seen
    reported = json.loads(seen.body)

    assert '3 changes on s: Price: count "3" (was "2")' == reported["title"]
    assert ['count "3" (was "2")', 'count "2" (was "1")', 'count "1" (was "0")'] == [
        line.removeprefix("Price: ") for line in reported["message"].splitlines() if "was" in line
    ]
    assert ["delivered"] == [d.status for d in world.deliveries()]


def test_forbidden_addresses_are_not_connected_to(make_world: Callable[..., World], mail: MailServer):
    """R-01: the guard of pages also checks mail servers and services; the reason has no secrets."""
    narrow = {"fetch__allow_networks": "127.0.0.1/32"}
    mail.host = "127.0.0.1"
    with MailServer(host="127.0.0.2") as elsewhere, WebServer("127.0.0.2") as chat:
        address = chat.url("/S3CRET").replace("http", "json")
        world = make_world(**narrow, **_mail_flags(elsewhere))
        _counting(world, f"email anna@example.org, {address} immediate", pause=MINUTE)

    assert (0, 0) == (elsewhere.dials, chat.dials)
    assert [True, True] == ["the address is refused: " in d.error for d in world.deliveries()]
    assert not [d for d in world.deliveries() if "S3CRET" in d.error]


@pytest.mark.parametrize("channel", ["tgramm://token/chat", "pigeonpost://x"])
def test_invalid_address_is_refused_when_it_is_stored(world: World, channel: str):
    """Every registered receiver can be notified."""
    with pytest.raises(AddressError, match="no service of Apprise"):
        world.add(f"Create Sentinel s Using {{/a}} Monitor any change Notify By {channel}")

    assert [] == world.read(sentinels.listing)


UNREACHABLE = ("discord://onlyone", "tgram://abc", "slack://x", "pover://nouser", "twilio://a:b@1/2", "gotify://host")


@pytest.mark.parametrize("address", UNREACHABLE)
@pytest.mark.parametrize(
    "text",
    [
        "Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour Notify By {}",
        "Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour Notify By console Errors to {}",
        "Defaults For Tags shop Notify By {}",
    ],
)
def test_invalid_service_address_is_refused_when_it_is_parsed(world: World, address: str, text: str):
    """In Notify, Errors and Defaults: the error names the clause and the form of the service."""
    with pytest.raises(AddressError, match="the form is") as raised:
        world.add(text.format(address))

    assert str(raised.value).startswith(("s: ", "the defaults of shop: "))
    assert [] == world.read(endpoints.listing)


def test_messages_use_the_zone_of_the_sentinel(world: World):
    """The console of a sentinel in India shows Indian time."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour Notify By console Zone Asia/Kolkata")

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>two</p>")
        service.pass_time(HOUR)

    assert "+05:30  s  " in world.console.getvalue()
