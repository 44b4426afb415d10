"""A page that was never polled has no history."""

import dataclasses

from tidings.model.observed.page import HostState, PageIdentity, PageState


def test_new_page_has_no_history():
    """Without a version, poll, failure or validator, the first fetch is unconditional and its body
    is new.
    """
    state = PageState(page_id=1)
    instants = [f.name for f in dataclasses.fields(state) if f.name.endswith(("_at", "_since"))]

    assert {None} == {getattr(state, name) for name in instants}
    assert (0, -1, "ok", 0, False) == (
        state.last_seq,
        state.body_size,
        state.health,
        state.failures,
        bool(state.validators),
    )


def test_page_without_a_body_has_size_minus_one():
    """An empty body has size 0. So gate 0 cannot take the first body for an old one."""
    assert PageState(page_id=1).body_size < len(b"")


def test_page_is_requested_by_a_plain_get_by_default():
    """It has no body, headers, rendering, frames or owner."""
    page = PageIdentity(key="k", url="http://a.example/", given="http://a.example/", host="a.example")

    assert ("GET", None, "", 0, (), None) == (
        page.method,
        page.body,
        page.render,
        page.frames,
        page.headers,
        page.owner_id,
    )


def test_new_host_is_not_paused():
    """It has no failure either."""
    host = HostState(name="a.example")

    assert (None, None, 0) == (host.started_at, host.paused_until, host.failures)
