"""Promise: kill -9 at any time moves no step of any life (the law of sentinels §2.3), shown on real processes."""

from __future__ import annotations

from pathlib import Path

from tests.life_kills import run


def test_kills_of_real_services_move_no_step(tmp_path: Path):
    """While sentinels start, stop, pause and are altered: each step once, at the instant at which it was due."""
    found = run(tmp_path / "data", kills=3, seed=1)

    assert [] == found.faults
    assert found.sentinels == found.steps["sentinel.ended"]
    assert 0 < found.steps["sentinel.enabled"]
