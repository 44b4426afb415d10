"""Promise: kill -9 at any time changes no step of a sentinel's life (the law of sentinels §2.3),
tested on real processes.
"""

from __future__ import annotations

from pathlib import Path

from tests.life_kills import run


def test_killed_services_lose_no_step(tmp_path: Path):
    """Sentinels start, stop, pause and are altered: each step happens once, at its due instant."""
    found = run(tmp_path / "data", kills=3, seed=1)

    assert [] == found.faults
    assert found.sentinels == found.steps["sentinel.ended"]
    assert 0 < found.steps["sentinel.enabled"]
