"""The real frameset of `javadoc-frames`: in how many frames a change is found with its frames followed, and by the page alone.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR python bench/frames.py

Nine releases of a manual of three frames, shown one an hour on a loopback server under a manual clock, once with the page that holds the
frames as it was and once as it became. A row is a step from one release to the next and counts frames: those whose text differs by the
index of the data set, those of them whose words differ (a title and punctuation are no words), and those in which a change was told.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.replay_frames import Step, replay_frames


def table(steps: list[Step]) -> int:
    """Print the steps; return in how many of them what was told is not what the index says."""
    print(f"{'step':<6}{'text changed':>14}{'of these words':>16}{'told, frames followed':>23}{'told, page alone':>18}")
    sums = [0, 0, 0, 0]
    for step in steps:
        row = [len(part) for part in (step.said, step.expected, step.with_frames, step.alone)]
        sums = [count + more for count, more in zip(sums, row, strict=True)]
        print(_line(str(step.number), row))
    print(_line("all", sums))
    return sum(step.expected != step.with_frames for step in steps)


def _line(name: str, counts: list[int]) -> str:
    return f"{name:<6}{counts[0]:>14}{counts[1]:>16}{counts[2]:>23}{counts[3]:>18}"


def main() -> int:
    """Print both tables; return 1 if a change was missed, told of the wrong frame, or an invariant does not hold."""
    wrong = 0
    for is_still in (True, False):
        with tempfile.TemporaryDirectory() as directory:
            steps, violations = replay_frames(Path(directory) / "data", is_holder_still=is_still)
        print(f"\nthe page that holds the frames {'stays as it was' if is_still else 'changes as it did'}\n")
        wrong += table(steps) + len(violations)
        print(*violations, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
