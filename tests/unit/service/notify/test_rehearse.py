import asyncio

from tidings.clock import SECOND
from tidings.model.watch.sentinel import Channel, Interest, Notify, Rate, Sentinel, Watched
from tidings.notification.addresses import mask_address
from tidings.notification.channel import KINDS, Refused, Sent
from tidings.service.notify.rehearse import Rehearsed, channels_of, rehearse

HOOK, CHAT, MAIL = (
    Channel("webhook", "https://h.example/"),
    Channel("apprise", "tgram://S3CRET/1"),
    Channel("email", "a@b"),
)


def sentinel(*channels):
    reported = tuple(Notify((channel,), Rate("immediate")) for channel in channels)
    return Sentinel(name="s", pages=(Watched("https://x.example/"),), monitor=Interest("words"), notify=reported)


class Sender:
    """Gives an answer after a delay."""

    def __init__(self, answer, delay=0.0):
        self.answer, self.delay, self.messages = answer, delay, []

    async def send(self, message):
        self.messages.append(message)
        await asyncio.sleep(self.delay)
        return self.answer


def play(channels, patience=5 * SECOND, **senders):
    return asyncio.run(rehearse(channels, senders, sentinel="s", now=1_700_000_000 * SECOND, patience=patience))


def test_each_channel_is_tested_once():
    """The console and feeds need no test. Mail is not tested without a server."""
    reported = sentinel(HOOK, CHAT, HOOK, Channel("console"), Channel("dashboard"), MAIL)

    assert [HOOK, CHAT, MAIL] == channels_of(reported, KINDS)
    assert [HOOK, CHAT] == channels_of(reported, KINDS - {"email"})


def test_result_of_each_test_is_returned():
    """The result is empty or a reason, with the masked address."""
    hook, chat = play([HOOK, CHAT], webhook=Sender(Sent(200)), apprise=Sender(Refused(reason="no such chat")))

    assert Rehearsed("webhook", mask_address("webhook", "https://h.example/"), "") == hook
    assert ("apprise", "no such chat") == (chat.kind, chat.reason)
    assert "S3CRET" not in chat.address


def test_message_belongs_to_no_event():
    """The message says that it is a test, and two of them have different ids."""
    sender = Sender(Sent())
    play([HOOK, HOOK], webhook=sender)
    first, second = sender.messages

    assert b'"type":"test"' in first.body
    assert (0, "") == (first.sequence, first.thread)
    assert first.id != second.id


def test_wait_for_answers_is_limited():
    """`add --url` answers in three seconds, whatever a receiver does. The other results are
    complete.
    """
    slow, fast = play(
        [CHAT, HOOK], patience=SECOND // 20, apprise=Sender(Sent(), delay=30.0), webhook=Sender(Sent(200))
    )

    assert "no answer within 0.05 s; it may still arrive" == slow.reason
    assert "" == fast.reason
