"""The detection tables (sentinels §3.3), letter for letter. Letters are types, a number counts
within its type, `@[start,end]` is the interval; `{3,5}` are ticks.
"""

import re

import pytest

from tests.strategies_events import CONTEXTS, A, B, C, detect, lasting, number_events
from tidings.events.expression import (
    And,
    AnyOfEvents,
    Aperiodic,
    AperiodicStar,
    NotBetween,
    Or,
    Periodic,
    PeriodicStar,
    Plus,
    Seq,
)
from tidings.events.operators.node import Context

LA, LB, LC = lasting("a", "b", "c")
FIVE = "a@0 a@1 b@2 b@3 a@4"
SPANS = "a[3,5] a[4,6] a[8,9] b[1,2] b[7,10] b[11,12]"
WINDOW = "a@1 b@2 a@3 b@4 b@5 c@6 b@7 c@8"
TICKS = "a@1 a@2 c@6 c@8"

TABLES = {
    "OR(a,b)": (
        Or((A, B)),
        FIVE,
        """unrestricted a1@0 a2@1 b1@2 b2@3 a3@4
           recent       a1@0 a2@1 b1@2 b2@3 a3@4
           chronicle    a1@0 a2@1 b1@2 b2@3 a3@4
           continuous   a1@0 a2@1 b1@2 b2@3 a3@4
           cumulative   a1@0 a2@1 b1@2 b2@3 a3@4""",
    ),
    "AND(a,b)": (
        And(A, B),
        FIVE,
        """unrestricted a1b1@[0,2] a2b1@[1,2] a1b2@[0,3] a2b2@[1,3] b1a3@[2,4] b2a3@[3,4]
           recent       a2b1@[1,2] a2b2@[1,3] b2a3@[3,4]
           chronicle    a1b1@[0,2] a2b2@[1,3]
           continuous   a1b1@[0,2] a2b1@[1,2] b2a3@[3,4]
           cumulative   a1a2b1@[0,2] b2a3@[3,4]""",
    ),
    "SEQ(a;b)": (
        Seq(A, B),
        FIVE,
        """unrestricted a1b1@[0,2] a2b1@[1,2] a1b2@[0,3] a2b2@[1,3]
           recent       a2b1@[1,2] a2b2@[1,3]
           chronicle    a1b1@[0,2] a2b2@[1,3]
           continuous   a1b1@[0,2] a2b1@[1,2]
           cumulative   a1a2b1@[0,2]""",
    ),
    "SEQ with intervals": (
        Seq(LA, LB),
        SPANS,
        """unrestricted a1b2@[3,10] a2b2@[4,10] a1b3@[3,12] a2b3@[4,12] a3b3@[8,12]
           recent       a3b3@[8,12]""",
    ),
    "NOT(c)[a,b] with intervals": (
        NotBetween(LC, LA, LB),
        f"{SPANS} c[5,5]",
        "unrestricted a2b2@[4,10] a2b3@[4,12] a3b3@[8,12]",
    ),
    "NOT(b)[a,c]": (
        NotBetween(B, A, C),
        "a@1 a@2 c@3 a@4 b@5 a@6 c@7 c@8",
        """unrestricted a1c1@[1,3] a2c1@[2,3] a4c2@[6,7] a4c3@[6,8]
           recent       a2c1@[2,3] a4c2@[6,7] a4c3@[6,8]
           chronicle    a1c1@[1,3] a4c2@[6,7]
           continuous   a1c1@[1,3] a2c1@[2,3] a4c2@[6,7]
           cumulative   a1a2c1@[1,3] a4c2@[6,7]""",
    ),
    "ANY(2,a,b,c)": (
        AnyOfEvents(2, (A, B, C)),
        "a@1 a@2 b@3 c@4 c@5",
        """unrestricted a1b1 a2b1 | a1c1 a2c1 b1c1 | a1c2 a2c2 b1c2
           recent       a2b1@[2,3] b1c1@[3,4] b1c2@[3,5]
           chronicle    a1b1@[1,3] a2c1@[2,4]
           continuous   a1b1@[1,3] a2b1@[2,3]
           cumulative   a1a2b1@[1,3]""",
    ),
    "A(a,b,c)": (
        Aperiodic(A, B, C),
        WINDOW,
        """unrestricted a1b1 a1b2 a2b2 a1b3 a2b3
           recent       a1b1@[1,2] a2b2@[3,4] a2b3@[3,5]
           chronicle    a1b1 a1b2 a2b2 a1b3 a2b3 a2b4@[3,7]
           continuous   a1b1 a1b2 a2b2 a1b3 a2b3
           cumulative   a1b1@[1,2] a1a2b2@[1,4] a1a2b3@[1,5]""",
    ),
    "A*(a,b,c)": (
        AperiodicStar(A, B, C),
        WINDOW,
        """unrestricted a1b1b2b3c1@[1,6] a2b2b3c1@[3,6]
           recent       a2b2b3c1@[3,6]
           chronicle    a1b1b2b3c1@[1,6] a2b2b3b4c2@[3,8]
           continuous   a1b1b2b3c1@[1,6] a2b2b3c1@[3,6]
           cumulative   a1a2b1b2b3c1@[1,6]""",
    ),
    "P(a,[2],c)": (
        Periodic(A, 2, C),
        TICKS,
        """unrestricted a1@3 a2@4 a1@5
           continuous   a1@3 a2@4 a1@5
           recent       a2@4
           chronicle    a1@3 a2@4 a1@5 a2@6
           cumulative   {a1,a2}@3 {a1,a2}@5""",
    ),
    "P*(a,[2],c)": (
        PeriodicStar(A, 2, C),
        TICKS,
        """unrestricted a1{3,5}c1@[1,6] a2{4}c1@[2,6]
           continuous   a1{3,5}c1@[1,6] a2{4}c1@[2,6]
           recent       a2{4}c1
           chronicle    a1{3,5}c1@[1,6] a2{4,6}c2@[2,8]
           cumulative   {a1,a2}{3,5}c1""",
    ),
    "PLUS(a,4)": (
        Plus(A, 4),
        "a@1 a@3 a@10",
        """unrestricted a1@5 a2@7 a3@14
           chronicle    a1@5 a2@7 a3@14
           continuous   a1@5 a2@7 a3@14
           recent       a2@7 a3@14
           cumulative   {a1,a2}@5 a3@14""",
    ),
    "PLUS(a,4) with intervals": (
        Plus(LA, 4),
        "a[3,5] a[4,6] a[11,12]",
        "unrestricted a1@9 a2@10 a3@16",
    ),
}

ROWS = [
    pytest.param(expression, trace, Context(row.split()[0]), row.split()[1:], id=f"{name} {row.split()[0]}")
    for name, (expression, trace, rows) in TABLES.items()
    for row in rows.splitlines()
]


def read(trace):
    """Return the occurrences of a trace in the order of their ends; at one instant as they are
    written.
    """
    events = re.findall(r"([a-z])(?:@(\d+)|\[(\d+),(\d+)\])", trace)
    spans = [(name, int(point or start), int(point or end)) for name, point, start, end in events]
    return sorted(number_events(spans), key=lambda occurrence: occurrence.end)


def names(occurrences):
    return [f"{one.type}{one.params['n']}" for part in occurrences for one in part.primitives()]


def show(occurrence):
    """Return a detection as the tables write it."""
    if not occurrence.parts:
        return f"{names([occurrence])[0]}@{occurrence.end}"
    ticks = [part for part in occurrence.parts if part.type.startswith("P*")]
    who = names([part for part in occurrence.parts if part not in ticks])
    if occurrence.type.startswith(("P(", "PLUS(")):
        return f"{brace(who)}@{occurrence.end}"
    text = f"{brace(who[:-1])}{{{','.join(str(tick.end) for tick in ticks)}}}{who[-1]}" if ticks else "".join(who)
    return f"{text}@[{occurrence.start},{occurrence.end}]"


def brace(who):
    return who[0] if len(who) == 1 else f"{{{','.join(who)}}}"


@pytest.mark.parametrize(("expression", "trace", "context", "row"), ROWS)
def test_detections_agree_with_the_table(expression, trace, context, row):
    """An operator in a context detects what the table says, in its order, over its intervals."""
    expected = [entry for entry in row if entry != "|"]
    found = [show(occurrence) for occurrence in detect(expression, context, read(trace))]

    assert len(expected) == len(found), found
    assert expected == [
        text if "@" in entry else text.partition("@")[0] for entry, text in zip(expected, found, strict=True)
    ]


def test_every_operator_has_a_table_for_each_context():
    """No operator of the algebra is left out."""
    shown = {
        (name.partition("(")[0], row.split()[0]) for name, (_, _, rows) in TABLES.items() for row in rows.splitlines()
    }
    operators = {"OR", "AND", "SEQ", "NOT", "ANY", "A", "A*", "P", "P*", "PLUS"}

    assert {(operator, str(context)) for operator in operators for context in CONTEXTS} <= shown
