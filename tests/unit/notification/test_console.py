import asyncio
import contextlib
import io
import os

from tidings.notification.channel import Message, Refused, Sent
from tidings.notification.console import Console


def message(body):
    return Message(
        id="d", address="", subject="", content_type="text/plain", body=body, attempt=1, sent_at=0, sequence=1
    )


def send(stream, body):
    return asyncio.run(Console(stream).send(message(body)))


def test_text_ends_with_one_line_end():
    """The next message starts on its own line."""
    stream = io.StringIO()
    send(stream, b"one")
    send(stream, b"two\n")

    assert "one\ntwo\n" == stream.getvalue()


def test_broken_pipe_is_a_soft_failure():
    """A reader that went away (`| head`) breaks nothing; the message is tried again."""
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w", encoding="utf-8")
    answer = send(stream, b"one")
    with contextlib.suppress(BrokenPipeError):  # what could not be written fails once more
        stream.close()

    assert isinstance(answer, Refused)
    assert answer.retry
    assert not answer.disable


def test_console_of_few_letters_spells_the_others():
    """A terminal in ASCII gets escapes, no error."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    answer = send(stream, "Zürich".encode())

    assert Sent() == answer
    assert b"Z\\xfcrich\n" == raw.getvalue()
    assert not stream.closed


def test_broken_text_is_shown_as_far_as_it_goes():
    """Bytes that are no UTF-8 are replaced."""
    stream = io.StringIO()
    send(stream, b"a\xffb")

    assert "a\ufffdb\n" == stream.getvalue()
