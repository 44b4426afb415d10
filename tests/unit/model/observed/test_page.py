"""A page that nobody has looked at yet knows nothing."""

import dataclasses

from tidings.model.observed.page import HostState, PageIdentity, PageState


def test_a_new_page_has_no_history():
    """No version, no look, no failure, no validators: the first fetch is unconditional and its body is new."""
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


def test_no_body_has_the_size_of_no_body():
    """An empty body has size 0; a page without one says -1, so that gate 0 cannot take the first body for an old one."""
    assert PageState(page_id=1).body_size < len(b"")


def test_a_plain_page_is_a_get_without_anything():
    """Where nothing is said a page is asked for with GET, without body, headers, rendering, frames or owner."""
    page = PageIdentity(key="k", url="http://a.example/", given="http://a.example/", host="a.example")

    assert ("GET", None, "", 0, (), None) == (
        page.method,
        page.body,
        page.render,
        page.frames,
        page.headers,
        page.owner_id,
    )


def test_a_new_host_may_be_asked_at_once():
    """A host that was never asked is not paused and has not failed."""
    host = HostState(name="a.example")

    assert (None, None, 0) == (host.started_at, host.paused_until, host.failures)
