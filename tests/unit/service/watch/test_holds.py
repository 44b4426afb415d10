from tidings.clock import HOUR, SECOND
from tidings.service.watch.holds import HOLD_AFTER_FAULT, FaultHolds

NOW = HOUR


def test_what_failed_is_held_for_minutes():
    """Then it is free by itself; a second fault holds it again."""
    holds: FaultHolds[str] = FaultHolds()
    holds.begin("a", NOW)
    end = NOW + HOLD_AFTER_FAULT

    assert [True, False, False] == [holds.has("a", NOW), holds.has("b", NOW), holds.has("a", end)]
    assert (["a"], []) == (holds.list_held(end - 1), holds.list_held(end))

    holds.begin("a", end)

    assert holds.has("a", end)


def test_what_is_due_earlier_waits_for_the_end_of_its_hold():
    """What is not held is due as before."""
    holds: FaultHolds[str] = FaultHolds()
    holds.begin("a", NOW)
    holds.begin("b", NOW + SECOND)
    end = NOW + HOLD_AFTER_FAULT

    assert [end, end + 1, NOW] == [holds.delay("a", NOW), holds.delay("a", end + 1), holds.delay("c", NOW)]
    assert [end, end + SECOND, None] == [holds.next_end(at) for at in (NOW, end, end + SECOND)]
