"""Measure events a second through the rule engine, beside a plain loop that does the minimum.

Run `python bench/events.py [EVENTS]`; 200,000 by default, two of three of them initiators, from a
seed. Each figure is the best of five runs, taken in turn so that other load affects all alike. The
bar (issue 5, 3): SEQ in the recent context at least 100,000 events a second. The bound pairs each
terminator with the latest initiator and makes the same occurrence of them; it has no time, no
rules, no bounds. "acting" is SEQ with a rule that acts within the step, so each step is journaled
to be undone if need be (in the chronicle context up to 1,000 wait here, and are copied). "100
rules" has as many more on events that do not occur.
"""

from __future__ import annotations

import random
import sys
import time

from tidings.events.engine import Engine
from tidings.events.expression import And, Aperiodic, AperiodicStar, NotBetween, Plus, Primitive, Seq
from tidings.events.occurrence import Occurrence
from tidings.events.operators.node import Context
from tidings.events.rule import Rule

A, B, C = (Primitive(name) for name in "abc")
CONTEXTS = [context for context in Context if context is not Context.UNRESTRICTED]
RUNS = 5


def make_trace(count, names="aab"):
    rng = random.Random(1)
    return [Occurrence.at(rng.choice(names), instant) for instant in range(count)]


def count_pairs(trace):
    """Return how many pairs of b with the latest a there are, each made."""
    latest, found = None, 0
    for occurrence in trace:
        if occurrence.type == "a":
            latest = occurrence
        elif latest is not None and latest.end < occurrence.start:
            Occurrence("SEQ(a, b)", latest.start, occurrence.end, {}, (latest, occurrence))
            found += 1
    return found


def through(trace, *rules):
    """Return how many rules fired, and the engine."""
    engine = Engine(actions={"nothing": lambda _: None})
    for rule in rules:
        engine.add(rule)
    push = engine.push
    return sum(len(push(occurrence).firings) for occurrence in trace)


def best_of_all(works):
    """Return the least seconds of each work, and what it returned."""
    best = dict.fromkeys(works, float("inf"))
    found = {}
    for _ in range(RUNS):
        for name, work in works.items():
            begin = time.perf_counter()
            found[name] = work()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best, found


def main():
    """Print the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    two, three = make_trace(count), make_trace(count, "aabbc")
    other = [Rule(name=f"r{k}", event=Seq(Primitive(f"x{k}"), Primitive(f"y{k}"))) for k in range(100)]
    works = {"bound: a plain loop": lambda: count_pairs(two)}
    for context in CONTEXTS:
        rule = Rule(name="r", event=Seq(A, B), context=context)
        works[f"SEQ, {context}"] = lambda rule=rule: through(two, rule)
    for context in CONTEXTS:
        rule = Rule(name="r", event=Seq(A, B), context=context, action="nothing")
        works[f"SEQ, {context}, acting"] = lambda rule=rule: through(two, rule)
    works["SEQ, recent, 100 rules"] = lambda: through(two, *other, Rule(name="r", event=Seq(A, B)))
    for event in (And(A, B), NotBetween(C, A, B), Aperiodic(A, B, C), AperiodicStar(A, B, C), Plus(A, 5)):
        rule = Rule(name="r", event=event)
        works[f"{event.operator}, recent"] = lambda rule=rule: through(three, rule)
    best, found = best_of_all(works)
    least = best["bound: a plain loop"]
    print(f"{count:,} events            events/s     µs each   times the bound     detections")
    for name, seconds in best.items():
        print(f"{name:28}{count / seconds:12,.0f}{seconds / count * 1e6:12.2f}{seconds / least:18.1f}{found[name]:15,}")


if __name__ == "__main__":
    main()
