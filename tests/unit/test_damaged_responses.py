"""The generator of damaged responses is itself tested: what `acceptance/test_damaged.py` counts is only as good as what it is made of."""

from tests.blocked_pages import page
from tests.damaged_responses import damage
from tests.fakes import Page, Seen, Wire, response

BODY = page("Prices", "<p>" + " ".join(f"Größe {n} „für“ {n * 7} €" for n in range(300))).encode()


class Written(Wire):
    """A wire that keeps what is sent."""

    def __init__(self):
        self.sent = b""

    def send(self, data):
        self.sent += data
        return True

    def close(self):
        self.sent += b"<closed>"

    def reset(self):
        self.sent += b"<reset>"


def send_answer(answer):
    if isinstance(answer, Page):
        return response(answer)
    wire = Written()
    answer(Seen(0, "GET", "/", {}, b"", 1), wire)
    return wire.sent


def test_damage_is_the_same_for_the_same_seed():
    """A failure found once is found again; another seed brings others."""
    first, again, other = (
        [(name, send_answer(answer)) for name, answer in damage(BODY, seed=seed)] for seed in (1, 1, 2)
    )

    assert first == again
    assert first != other


def test_there_are_as_many_as_asked_for_each_with_its_own_name():
    """200 by default."""
    names = [name for name, _ in damage(BODY)]

    assert 200 == len(names) == len(set(names))
    assert 7 == len(list(damage(BODY, count=7)))


def test_no_damaged_response_is_the_page():
    """Whole, unlabelled and under status 200 the body never comes."""
    whole = response(Page(BODY, [("Content-Type", "text/html; charset=utf-8")]))

    assert whole not in [send_answer(answer) for _, answer in damage(BODY)]


def test_every_way_of_damage_takes_its_turn():
    """Framing, encoding, letters, halves and other pages are all among 200."""
    names = " ".join(name for name, _ in damage(BODY))

    for way in (
        "of its length",
        "reset",
        "chunk",
        "cut gzip",
        "cut br",
        "twice",
        "question",
        "half a page",
        "log-in",
        "not found",
        "nothing",
    ):
        assert way in names


def test_letters_break_only_where_there_are_some():
    """A page in ASCII cannot be broken so that it shows, plain text has no end that could be missing."""
    names = " ".join(name for name, _ in damage(b"<html>" + b"<p>plain letters" * 50 + b"</html>"))
    text = " ".join(name for name, _ in damage(b"plain letters\n" * 50, "text/plain; charset=utf-8"))

    assert "letters encoded twice" not in names
    assert "half a page" in names
    assert "half a page" not in text
