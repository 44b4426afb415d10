"""Promise: on a real frameset, every change in a frame is found, whether the outer page changes or
not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.replay_frames import replay_frames


@pytest.mark.parametrize("is_holder_still", [True, False])
def test_every_change_in_a_frame_is_found(tmp_path: Path, is_holder_still: bool):
    """Nine releases of a manual: each step reports exactly the frames whose words differ; the outer
    page alone has none.
    """
    steps, violations = replay_frames(tmp_path / "data", is_holder_still=is_holder_still)

    assert 8 == len(steps)
    assert [(step.number, step.expected) for step in steps] == [(step.number, step.with_frames) for step in steps]
    assert 13 == sum(len(step.expected) for step in steps)
    assert not any(step.alone for step in steps)
    assert [] == violations
