"""Each suppression of a linter rule has a reason."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SET_ASIDE = re.compile(r"#\s*noqa(?P<rules>:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?(?P<reason> - \S.*)?")


def test_every_noqa_names_its_rule_and_its_reason():
    """Write `# noqa: RULE - why`; a reason for many lines is written once in `pyproject.toml`."""
    silent = []
    for folder in ("src", "tests", "bench"):
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = SET_ASIDE.search(line)
                if found and path != Path(__file__) and not (found["rules"] and found["reason"]):
                    silent.append(f"{path.relative_to(REPOSITORY)}:{number} {line.strip()}")

    assert [] == silent
