"""Read injured texts of the sentinel language.

    python bench/language_fuzz.py [COUNT] [SEED]    20,000 texts and seed 1 by default

None may stop the reader. What is accepted must be the same after printing, and in YAML.
"""

import random
import sys
import time
import traceback

from tests.strategies_language import KNOWN, mutant
from tidings.language.parser import parse
from tidings.language.write.printer import to_text
from tidings.language.yaml.form import load, to_yaml

NOW = 1_700_000_000_000_000


def survives(text):
    """Say whether a text is accepted; raises AssertionError when it does not survive being printed and read again."""
    parsed = parse(text, known=KNOWN.get, now=NOW)
    assert len(parsed.problems) <= 10
    assert all(str(problem) for problem in (*parsed.problems, *parsed.warnings))
    if parsed.problems or not parsed.statements:
        return False
    again = parse("\n".join(to_text(statement) for statement in parsed.statements), known=KNOWN.get, now=NOW)
    assert (parsed.statements, ()) == (again.statements, again.problems)
    loaded = load(to_yaml(parsed.statements), known=KNOWN.get, now=NOW)
    assert (parsed.statements, ()) == (loaded.statements, loaded.problems)
    return True


def main(count=20_000, seed=1):
    """Run all texts; print what failed and the totals."""
    rng = random.Random(seed)
    accepted, failed, slowest = 0, 0, 0.0
    begin = time.perf_counter()
    for _ in range(count):
        text = mutant(rng)
        before = time.perf_counter()
        try:
            accepted += survives(text)
        except Exception:  # noqa: BLE001 - that nothing is raised is what is measured
            failed += 1
            print(repr(text))
            traceback.print_exc()
        slowest = max(slowest, time.perf_counter() - before)
    seconds = time.perf_counter() - begin
    print(
        f"{count} texts, seed {seed}: {accepted} accepted, {failed} failed; {seconds:.1f} s, slowest {slowest * 1000:.1f} ms"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:3])))
