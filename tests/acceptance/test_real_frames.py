"""Promise: on a real frameset, what changes in a frame is found, whether the page that holds the frames changes or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.replay_frames import replay_frames


@pytest.mark.parametrize("is_holder_still", [True, False])
def test_every_change_in_a_frame_is_found_and_none_by_the_page_alone(tmp_path: Path, is_holder_still: bool):
    """Nine releases of a manual: each step is told in exactly the frames whose words differ; by the page alone nothing is found."""
    steps, violations = replay_frames(tmp_path / "data", is_holder_still=is_holder_still)

    assert 8 == len(steps)
    assert [(step.number, step.expected) for step in steps] == [(step.number, step.with_frames) for step in steps]
    assert 13 == sum(len(step.expected) for step in steps)
    assert not any(step.alone for step in steps)
    assert [] == violations
