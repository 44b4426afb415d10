"""Undelivered messages are reported with their receiver."""

from tests.health import SETTINGS, lines
from tidings.clock import DAY, MINUTE
from tidings.model.observed.unit import DeliveryResult, EndpointMove
from tidings.service.health import sources
from tidings.storage.watches import deliveries, endpoints


def test_message_that_waits_too_long_is_a_warning(world):
    """The message is due for more than ten minutes. The fix starts the service."""
    world.report_change()
    due = world.read(deliveries.next_due, now=world.at, tried_every=DAY)
    assert due is not None
    patience = due + 10 * MINUTE - world.at
    early = lines(world, "deliveries", later=patience, polling=False)
    late = lines(world, "deliveries", later=patience + 1, polling=False)

    assert ["ok"] == [line.status for line in early]
    assert [("warn", True)] == [(line.status, line.mend.startswith("tidings serve")) for line in late]


def test_dead_letters_are_one_line(world):
    """The line counts them and names the newest."""
    endpoint, drafts = world.endpoint(), []
    world.watch()
    world.commit(world.make_stored(b"0"))
    for number in range(1, 4):
        change = world.change(f"change-{number}", from_seq=number, to_seq=number + 1)
        world.commit(world.make_stored(b"%d" % number, **world.news(change, endpoint)))
        drafts = world.read(lambda c: c.rows("SELECT id FROM delivery WHERE status = 'waiting'"))
        for (id_,) in drafts:
            world.commit(world.unit(results=(DeliveryResult(delivery_id=id_, status="dead", attempt=1, at=world.at),)))
    (line,) = lines(world, "deliveries", polling=True)

    assert line.detail.startswith("3 undelivered messages of news; the newest given up at")
    assert drafts[0][0] in line.mend


def notify(world, endpoint):
    """Let a message to an endpoint wait."""
    world.watch()
    world.commit(world.make_stored(b"one"))
    world.commit(world.make_stored(b"two", **world.news(world.change(), endpoint)))


def test_messages_of_a_disabled_endpoint_are_counted(world):
    """Also once no sentinel names it any more. One that nobody names or waits for is no trouble."""
    used, unused = world.endpoint(), world.write(endpoints.ensure, "webhook", "https://hooks.example/unused")
    notify(world, used)
    for endpoint in (used, unused):
        world.commit(world.unit(endpoints=(EndpointMove(endpoint_id=endpoint, failing_since=world.at, enabled=False),)))
    (trouble,) = world.read(sources.health_of, SETTINGS, now=world.at, is_polled=True).troubles

    assert ("switched off", ("news",)) == (trouble.brief, trouble.sentinels)
    assert trouble.words.endswith("; 1 message waits for it")
    assert trouble.mend.startswith("tidings deliveries  #")


def test_disabled_endpoint_is_named_without_its_secrets(world):
    """Path and query of its address may have one."""
    endpoint = world.write(endpoints.ensure, "webhook", "https://name:word@hooks.example/T0KEN?key=S3CRET")
    notify(world, endpoint)
    world.commit(
        world.unit(endpoints=(EndpointMove(endpoint_id=endpoint, failing_since=world.at, enabled=False, reason="410"),))
    )
    (line,) = lines(world, "receivers")

    assert line.detail.startswith(
        f"webhook {endpoint} at hooks.example is switched off after failures since 2023-11-14"
    )
    assert not [secret for secret in ("T0KEN", "S3CRET", "word") if secret in line.detail + line.mend]


def test_address_without_a_web_host_is_not_shown(world):
    """The address of a chat service is a token: only its kind and number are shown."""
    endpoint = world.write(endpoints.ensure, "url", "tgram://B0TT0KEN/42")
    notify(world, endpoint)
    world.commit(world.unit(endpoints=(EndpointMove(endpoint_id=endpoint, failing_since=world.at),)))
    (line,) = lines(world, "receivers")

    assert ("warn", True) == (line.status, line.detail.startswith(f"url {endpoint} accepts no messages since"))
    assert "B0TT0KEN" not in line.detail
