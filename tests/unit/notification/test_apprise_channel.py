import asyncio

import pytest

from tidings.notification.apprise_channel import AppriseService, Push, push
from tidings.notification.channel import Message, Refused, Sent


class ChildJobs:
    """Records jobs and returns a given answer."""

    def __init__(self, answer=None):
        self.answer = answer or Sent()
        self.run_with = []

    async def run(self, job, argument, *, seconds):
        self.run_with.append((job, argument, seconds))
        return self.answer


def send(jobs, address, subject="price: 5 → 6"):
    message = Message(
        id="d",
        address=address,
        subject=subject,
        content_type="text/plain; charset=utf-8",
        body="Grüße".encode(),
        attempt=1,
        sent_at=0,
        sequence=1,
    )
    return asyncio.run(AppriseService(jobs, 3.0).send(message))


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("discord://id/token", "price: 5 → 6"),
        ("zulip://a/b/c", "price: 5 → 6"),
        ("tgram://token/chat", ""),
        ("twilio://a:b@15551234567/15551234568", ""),
    ],
)
def test_title_is_sent_if_the_service_has_one(address, title):
    """The text for other services begins with the headline already."""
    jobs = ChildJobs()
    answer = send(jobs, address)

    assert Sent() == answer
    assert [(push, Push(address, title, "Grüße"), 8.0)] == jobs.run_with


def test_long_title_is_cut():
    """Each service has a maximum length of titles."""
    jobs = ChildJobs()
    send(jobs, "zulip://a/b/c", "x" * 200)
    ((_, job, _),) = jobs.run_with

    assert "x" * 59 + "…" == job.title


def test_unknown_service_is_a_final_error():
    """No process is started for a message that can never be sent."""
    jobs = ChildJobs()
    answer = send(jobs, "pigeonpost://S3CRET")

    assert isinstance(answer, Refused)
    assert not answer.retry
    assert [] == jobs.run_with
    assert "S3CRET" not in answer.reason


def test_reason_has_no_part_of_the_address():
    """The reason can be shown to everybody."""
    died = Refused(reason="the job raised ValueError: tgram://S3CRET-TOKEN/4242 S3CRET-TOKEN")
    answer = send(ChildJobs(died), "tgram://S3CRET-TOKEN/4242")

    assert Refused(reason="the job raised ValueError: … …") == answer


def test_job_does_not_print_its_address():
    """A traceback could show it."""
    assert "S3CRET" not in repr(Push("tgram://S3CRET/1", "a", "b"))
