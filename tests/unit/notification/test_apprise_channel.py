import asyncio

import pytest

from tidings.notification.apprise_channel import AppriseService, Push, push
from tidings.notification.channel import Message, Refused, Sent


class ChildJobs:
    """Notes what would be run and answers what it was told to."""

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
def test_a_title_is_given_where_there_is_one(address, title):
    """A service without a title has the headline in its text already."""
    jobs = ChildJobs()
    answer = send(jobs, address)

    assert Sent() == answer
    assert [(push, Push(address, title, "Grüße"), 8.0)] == jobs.run_with


def test_a_title_fits():
    """What is too long for a service's title is cut."""
    jobs = ChildJobs()
    send(jobs, "zulip://a/b/c", "x" * 200)
    ((_, job, _),) = jobs.run_with

    assert "x" * 59 + "…" == job.title


def test_an_unknown_service_is_final():
    """No process is started for what can never be sent."""
    jobs = ChildJobs()
    answer = send(jobs, "pigeonpost://S3CRET")

    assert isinstance(answer, Refused)
    assert not answer.retry
    assert [] == jobs.run_with
    assert "S3CRET" not in answer.reason


def test_reasons_have_no_part_of_the_address():
    """Whatever goes wrong, its text can be shown to everybody."""
    died = Refused(reason="the job raised ValueError: tgram://S3CRET-TOKEN/4242 S3CRET-TOKEN")
    answer = send(ChildJobs(died), "tgram://S3CRET-TOKEN/4242")

    assert Refused(reason="the job raised ValueError: … …") == answer


def test_a_job_does_not_print_its_address():
    """Not in a traceback either."""
    assert "S3CRET" not in repr(Push("tgram://S3CRET/1", "a", "b"))
