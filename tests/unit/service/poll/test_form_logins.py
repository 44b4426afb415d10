"""When a login may be tried, and which cookies are stored."""

from __future__ import annotations

from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.secret import Cookie, Secret
from tidings.service.poll.form_logins import Session, _session, _text


def list_attempts(session: Session, now: int, count: int) -> list[int]:
    """Return the times of `count` failing attempts, in hours."""
    begin, found = now, []
    for _ in range(count):
        now = session.next_try(now)
        found.append((now - begin) // HOUR)
        session = session.trying(now)
    return found


def test_login_attempts_come_after_1_6_and_24_hours():
    """A day has at most three attempts; a successful one counts too."""
    now = 1000 * DAY
    worked = Session().trying(now).succeed(())

    assert [0, 1, 7, 31, 55] == list_attempts(Session(), now, 5)
    assert [0, 1, 24, 48] == list_attempts(worked, now, 4)


def test_lost_login_is_renewed_at_most_three_times_a_day():
    """The limit holds although each attempt succeeds."""
    session, now = Session(), 1000 * DAY
    for _ in range(3):
        assert session.next_try(now) == now
        session = session.trying(now).succeed(())
        now += MINUTE

    assert 1001 * DAY == session.next_try(now)


def test_attempts_in_the_future_do_not_count():
    """The clock was wrong."""
    session = Session(failures=2, tried=(2000 * DAY,))

    assert DAY == session.next_try(DAY)


def test_new_cookies_replace_those_of_the_same_name():
    """Expired ones are deleted, and a good answer clears failures."""
    held = (Cookie("sid", Secret("1"), "a.example"), Cookie("old", Secret("x"), "a.example"))
    answer = (Cookie("sid", Secret("2"), "a.example"), Cookie("old", Secret(""), "a.example", expires_at=5))
    session = Session(cookies=held, failures=2, reason="no").renew(answer, 10)

    assert (Cookie("sid", Secret("2"), "a.example"),) == session.cookies
    assert (0, "") == (session.failures, session.reason)


def test_session_round_trips_and_prints_no_cookie():
    """The text of a session is for the vault."""
    session = Session(
        (Cookie("sid", Secret("c4nary"), "a.example", path="/x", secure=True, expires_at=9),), 1, (2, 3), "w"
    )

    assert session == _session(_text(session))
    assert "c4nary" not in repr(session)
