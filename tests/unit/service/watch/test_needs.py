"""The deadlines that the planner serves."""

from tidings.model.interval import ExecutionInterval
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import PollRecord, Unit
from tidings.service.watch.needs import POLLED, Deadline, Needs


def deadline(page, sentinel, start, end, **more):
    """Return a deadline."""
    return Deadline(page, sentinel, ExecutionInterval(start, end), PollReason(Why.THEN), **more)


def make_unit(page, at, outcome="unchanged"):
    """Return the unit of a poll."""
    record = PollRecord(poll_id=1, page_id=page, finished_at=at, outcome=outcome, text_changed=False)
    return Unit(at=at, epoch=1, poll=record)


def test_most_urgent_deadline_has_begun():
    """A deadline that has not begun is not served, however soon it ends."""
    needs = Needs()
    needs.settle("one", 1, [deadline(7, 1, 0, 100), deadline(7, 1, 20, 30)])

    assert 0 == needs.begins(7)
    assert [100, 30] == [found.interval.end for at in (10, 20) if (found := needs.most_urgent(7, at))]
    assert [100, 30] == [found.interval.end for found in needs.list_begun(25)]


def test_good_poll_is_recorded_for_sentinels_that_need_the_event():
    """Each sentinel gets it once. A failed poll or one outside the interval is not recorded, nor is
    one for a sentinel that does not need it.
    """
    needs = Needs()
    needs.settle("one", 1, [deadline(7, 1, 0, 9), deadline(7, 1, 5, 9)])
    needs.settle("one", 2, [deadline(7, 2, 5, 9)])
    needs.settle("two", 3, [deadline(7, 3, 0, 9, is_logged=False)])

    def hear(unit):
        return [(event.type, event.sentinel_id, event.page_id) for event in needs.add_events(unit).events]

    assert [(POLLED, 1, 7), (POLLED, 2, 7)] == hear(make_unit(7, 5))
    assert [(POLLED, 1, 7)] == hear(make_unit(7, 4))
    assert [] == hear(make_unit(7, 10)) == hear(make_unit(7, 5, "error")) == hear(make_unit(8, 5))


def test_kept_deadline_is_served_by_a_late_poll():
    """An event needs a poll even after the time, but not one that began before the event."""
    needs = Needs()
    needs.settle("one", 1, [deadline(7, 1, 5, 9, is_kept=True)])
    needs.expire(100)

    def hear(begun, at):
        needs.begin(7, begun)
        return [(event.sentinel_id, event.data["begun"]) for event in needs.add_events(make_unit(7, at)).events]

    assert 5 == needs.begins(7)
    assert [[], [(1, 5)], [(1, 50)]] == [hear(*times) for times in ((4, 6), (5, 6), (50, 60))]


def test_changed_deadlines_replace_the_old_ones():
    """Only pages with a change are reported as touched. Nothing is left when all are removed."""
    needs = Needs()
    touched: list[set[int]] = []
    for deadlines in ([deadline(7, 1, 0, 9)], [deadline(7, 1, 0, 9)], [deadline(8, 1, 0, 9)], []):
        needs.settle("one", 1, deadlines)
        touched.append(needs.take_touched())

    assert [{7}, set(), {7, 8}, {8}] == touched
    assert needs.begins(7) is needs.begins(8) is None


def test_late_poll_has_its_own_reason():
    """The interval of the deadline is over."""
    late = deadline(7, 1, 0, 9, late=PollReason(Why.OVERDUE))

    assert [Why.THEN, Why.THEN, Why.OVERDUE] == [late.reason(at).why for at in (0, 9, 10)]


def test_expired_deadline_is_not_served():
    """Expected changes are still served late. The owner of an expired deadline may settle it later."""
    needs = Needs()
    needs.settle("one", 1, [deadline(7, 1, 0, 9)])
    needs.settle("two", 7, [deadline(7, 1, 5, 9, is_logged=False)])
    needs.expire(9)
    assert 0 == needs.begins(7)
    needs.expire(10)
    assert 5 == needs.begins(7)
    needs.settle("one", 1, [])

    assert 5 == needs.begins(7)
