"""Messages to one receiver follow each other without a step in between, while it accepts them."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from tidings.clock import ManualClock
from tidings.errors import StoreStalledError
from tidings.service.notify.send import MOST_IN_A_ROW, Sending


class Receiver:
    """Gives `answers` to messages; the messages are in `queue`."""

    def __init__(self, answers, *, breaks_at=None):
        self.queue = [SimpleNamespace(endpoint_id=7, number=number) for number in range(len(answers))]
        self.answers, self.breaks_at = answers, breaks_at
        self.in_flight, self.sent = {7}, []

    async def attempt(self, delivery, **_):
        self.sent.append(delivery.number)
        if delivery.number == self.breaks_at:
            raise OSError
        assert {7} == self.in_flight
        return SimpleNamespace(results=(SimpleNamespace(status=self.answers[delivery.number]),))

    async def write(self, unit):
        if unit.results[0].status == "not stored":
            raise StoreStalledError

    async def read(self, fn, *, endpoint_id, **_):
        assert ("first_due", 7) == (fn.__name__, endpoint_id)
        return self.queue[len(self.sent) : len(self.sent) + 1]

    def run(self):
        """Attempt the first message; return the sender."""
        part: Any = self  # store, committer and deliverer at once
        first: Any = self.queue[0]
        sending = Sending(part, part, part, ManualClock(), epoch=1)
        sending.next_due = None
        asyncio.run(sending._attempt(first))
        return sending


@pytest.mark.parametrize(
    ("answers", "sent"),
    [
        (["delivered"], 1),
        (["delivered"] * 5, 5),
        (["delivered", "waiting", "delivered"], 2),
        (["dead", "delivered"], 1),
        (["delivered"] * (MOST_IN_A_ROW + 5), MOST_IN_A_ROW),
    ],
)
def test_waiting_messages_are_sent_while_they_are_accepted(answers, sent):
    """The number is limited. Then the receiver is free for other tasks, and due messages are read
    again.
    """
    receiver = Receiver(answers)
    sending = receiver.run()

    assert [*range(sent)] == receiver.sent
    assert (set(), 0) == (receiver.in_flight, sending.next_due)


def test_error_frees_the_receiver():
    """The caller gets the error."""
    receiver = Receiver(["delivered"] * 3, breaks_at=1)

    with pytest.raises(OSError):
        receiver.run()
    assert ([0, 1], set()) == (receiver.sent, receiver.in_flight)


def test_receiver_stays_reserved_while_its_result_is_not_stored():
    """Otherwise it would get the message twice."""
    receiver = Receiver(["delivered", "not stored", "delivered"])

    with pytest.raises(StoreStalledError):
        receiver.run()
    assert ([0, 1], {7}) == (receiver.sent, receiver.in_flight)
