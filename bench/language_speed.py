"""How long reading takes: the tables of the grammar once, then each sentinel.

python bench/language_speed.py
"""

import time

from tests.strategies_language import ACCEPTED, EXAMPLES
from tidings.language.grammar import syntax, tables
from tidings.language.parser import parse, recall
from tidings.language.write.printer import to_text
from tidings.language.yaml.form import load, to_yaml

NOW = 1_700_000_000_000_000


def fastest(work, *, runs=100, times=10):
    """Return the least time of one call in µs."""
    best = float("inf")
    for _ in range(runs):
        begin = time.perf_counter()
        for _ in range(times):
            work()
        best = min(best, (time.perf_counter() - begin) / times)
    return best * 1e6


def main():
    """Print the figures."""
    begin = time.perf_counter()
    parse("Disable s1")
    print(f"tables and first text: {(time.perf_counter() - begin) * 1000:.0f} ms")
    print(
        f"tables: {fastest(tables.grammar, runs=5, times=1) / 1000:.0f} ms; built: {fastest(tables.build, runs=5, times=1) / 1000:.0f} ms"
    )
    grammar = syntax._grammar()  # noqa: SLF001 - the part that is lark's is measured by itself
    syntax_alone = [fastest(lambda text=text: grammar.parse(text, start="document"), times=3) for text in EXAMPLES]
    print(f"syntax alone, the {len(EXAMPLES)} examples of the study: {sum(syntax_alone) / len(EXAMPLES):.0f} µs a text")
    for text in ACCEPTED[:3]:
        whole = fastest(lambda text=text: parse(text, now=NOW))
        alone = fastest(lambda text=text: grammar.parse(text, start="document"))
        print(f"read whole: {whole:.0f} µs (lark {alone:.0f} µs)  {text[:70]}…")
    (sentinel,) = parse(ACCEPTED[0], now=NOW).statements
    print(f"printed: {fastest(lambda: to_text(sentinel)):.0f} µs")
    stored = to_text(sentinel)
    print(f"recalled from the store: {fastest(lambda: recall(stored)):.0f} µs")
    as_yaml = to_yaml([sentinel])
    print(f"read as YAML: {fastest(lambda: load(as_yaml, now=NOW), runs=20):.0f} µs")


if __name__ == "__main__":
    main()
