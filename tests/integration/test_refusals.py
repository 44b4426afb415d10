"""What memory says is stored is stored: stories end alike whichever of their writes is refused (S-9)."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.fakes import WebServer
from tests.refusals import STORIES, Player, play, read_ending

SAMPLE = int(os.environ.get("TESTS_REFUSALS", "2"))
"""How many writes of each story are refused, each in a replay of its own; 0: every one."""


@pytest.mark.parametrize("name", STORIES)
def test_story_ends_alike_whichever_write_is_refused(name: str, tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The disk is full for one write of the service, and not for the next."""
    with WebServer() as server:

        def end(refused: int) -> Player:
            return play(STORIES[name], tmp_path / str(refused), server, refused=refused)

        whole = end(0)
        expected = read_ending(STORIES[name], whole.world)
        numbers = range(1, len(whole.writes) + 1)
        for refused in sorted(random.Random(name).sample(numbers, SAMPLE)) if SAMPLE else numbers:
            with subtests.test(refused=refused, write=whole.writes[refused - 1]):
                actual = end(refused)

                assert expected == read_ending(STORIES[name], actual.world)
                assert [] == actual.world.violations()
