"""JSON by its values: places, types, and no more than what changed (detection §5; H-065 to H-067)."""

import json
import random
from collections import Counter

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.data import differences
from tidings.detection.job.gates import are_equal, digest_of
from tidings.detection.kinds.registry import KINDS
from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.model.watch.interest import Interest, Selector
from tidings.model.watch.sentinel import AllOf, Not

Edits = tuple[list[str], list[str], list[tuple[str, str]]]
NOTHING: Edits = ([], [], [])


def read(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return parse(text.encode("utf-8", "surrogatepass"), "application/json", url="http://x.org/", keep_tree=True)


def change(old, new, interest=None, **extraction):
    return evaluate(interest or Interest("words"), Pair(read(old), read(new)), Extraction(**extraction))


def list_edits(old, new, interest=None, **extraction) -> Edits:
    """Return (inserted, deleted, updated)."""
    found = change(old, new, interest, **extraction)
    return list(found.inserted), list(found.deleted), list(found.updated)


def list_updated(old, new) -> Edits:
    return [], [], [(old, new)]


ITEMS = [{"id": 7, "name": "Pen", "price": 10}, {"id": 8, "name": "Ink", "price": 4}]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1}, NOTHING),
        ({"items": ITEMS}, {"items": ITEMS[::-1]}, NOTHING),
        (
            {"items": ITEMS},
            {"items": [{**ITEMS[0], "price": 12}, ITEMS[1]]},
            list_updated("items[id=7].price: 10", "items[id=7].price: 12"),
        ),
        ({"items": ITEMS}, {"items": ITEMS[:1]}, ([], ['items[id=8]: {"id": 8, "name": "Ink", "price": 4}'], [])),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c d": None}}, (['a["c d"]: null'], [], [])),
        ({"a": {"b": 1}}, {"a": {}}, ([], ["a.b: 1"], [])),
        ({"a": {}}, {"a": []}, list_updated("a: {}", "a: []")),
        ({"a": [1]}, {"a": {"x": 1}}, list_updated("a: [1]", 'a: {"x": 1}')),
        ("5", "6", list_updated("5", "6")),
        ("[]", "[1]", (["[0]: 1"], [], [])),
    ],
)
def test_places_are_compared_without_order(old, new, expected):
    """A changed field is one update with its path, a new member one insert, each with its value;
    keys and known members have no order.
    """
    assert expected == list_edits(old, new)


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("1", '"1"', False),
        ("1", "true", False),
        ('"true"', "true", False),
        ("null", '""', False),
        ("0", "false", False),
        ("1", "1.0", True),
        ("1.0", "1.00", True),
        ("100", "1e2", True),
        ("-0", "0", True),
        ("0.1", "0.10000000000000001", False),
        ("12345678901234567890", "12345678901234567891", False),
        ("1" + "0" * 5_000, "1e5000", True),
        ("1e999999999999999999999", "1e999999999999999999998", False),
        ("NaN", "NaN", True),
        ("NaN", "Infinity", False),
        ('"caf\u00e9"', '"cafe\u0301"', True),
        ('"a-b"', '"a_b"', False),
        ('"a"', '" a"', False),
        ('"\\u00e9"', '"é"', True),
    ],
)
def test_types_and_digits_of_values_count(old, new, is_same):
    """The notation of a number or a letter does not."""
    found = list_edits(f'{{"v": {old}}}', f'{{"v": {new}}}')

    assert is_same is (found == NOTHING)
    assert all(before != after for before, after in found[2])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["a", "b"], ["b", "a"], NOTHING),
        (["a", "a"], ["a"], ([], ["[1]: a"], [])),
        (["a", "b"], ["a", "c"], list_updated("[1]: b", "[1]: c")),
        ([1, 2, 3], [2, 1, 3], (["[0]: 2"], ["[1]: 2"], [])),
        ([1, 2, 3], [1, 5, 3], list_updated("[1]: 2", "[1]: 5")),
        ([[1, 2], [3, 4]], [[3, 4], [1, 2]], NOTHING),
        ([[1, 2], [3, 4]], [[1, 2], [3, 5]], list_updated("[1][1]: 4", "[1][1]: 5")),
        (
            [{"x": 1, "y": 2, "z": 3}, {"x": 1, "y": 5, "z": 6}],
            [{"x": 1, "y": 5, "z": 6}, {"x": 1, "y": 2, "z": 9}],
            list_updated("[1].z: 3", "[1].z: 9"),
        ),
        ([{"x": 1, "y": 1}], [{"x": 2, "y": 2}], (['[0]: {"x": 2, "y": 2}'], ['[0]: {"x": 1, "y": 1}'], [])),
        ([{"id": 1, "v": 1}, {"id": 1, "v": 2}], [{"id": 1, "v": 2}, {"id": 1, "v": 1}], NOTHING),
        (
            [{"id": 1, "v": 9, "w": 1}, {"id": 1.0, "v": 2, "w": 2}, {"id": 3, "v": 1}],
            [{"id": 1, "v": 8, "w": 1}, {"id": 1.0, "v": 2, "w": 2}, {"id": 3, "v": 7}],
            ([], [], [("[0].v: 9", "[0].v: 8"), ("[2].v: 1", "[2].v: 7")]),
        ),
        ([{"orderId": "a", "v": 1}], [{"orderId": "b", "v": 1}, {"orderId": "a", "v": 2}], (
            ['[orderId=b]: {"orderId": "b", "v": 1}'], [], [("[orderId=a].v: 1", "[orderId=a].v: 2")])),
    ],
)  # fmt: skip
def test_members_without_an_id_have_no_order(old, new, expected):
    """Texts, objects and arrays do not; numbers, true, false and null do. An object that keeps half
    of itself is the same.
    """
    assert expected == list_edits(old, new)


def test_insert_before_many_items_is_one_edit():
    """There are 2,000 items after it."""
    old = [{"id": number, "name": f"Item {number}", "tags": ["a", "b"]} for number in range(2_000)]
    found = change(old, [{"id": 9_999, "name": "New", "tags": []}, *old])
    (edit,) = found.edits

    assert ('[id=9999]: {"id": 9999, "name": "New", "tags": []}',) == found.inserted
    assert () == found.deleted + found.updated + found.moved
    assert (0, 5) == (edit.new_start, edit.new_end)


def test_repeated_keys_all_count():
    """`{"a": 1, "a": 2}` has two members (H-067)."""
    assert list_updated("a: 2", "a: 3") == list_edits('{"a": 1, "a": 2}', '{"a": 1, "a": 3}')
    assert NOTHING != list_edits('{"a": 1, "a": 2}', '{"a": 2}')


def test_edits_have_the_tokens_of_their_value():
    """Conditions and NOT find them there."""
    old, new = ({"a": "one two", "b": {"c": value, "d": 1}} for value in ("red apple", "green big apple"))
    found = change(old, new)
    (edit,) = found.edits

    assert ["red", "apple"] == read(old).tokens[edit.old_start : edit.old_end]
    assert ["green", "big", "apple"] == read(new).tokens[edit.new_start : edit.new_end]


def test_not_removes_a_keyword_from_values():
    """If two values differ only in the word, nothing is left; other places keep their paths."""
    apart = AllOf((Interest("any"), Not(Interest("keywords", terms=("up",)))))

    assert NOTHING == list_edits({"s": "it is up"}, {"s": "it is"}, apart)
    assert list_updated("n: 1", "n: 2") == list_edits({"s": "it is up", "n": 1}, {"s": "it is", "n": 2}, apart)
    assert list_updated("s: up 1", "s: down 1") == list_edits({"s": "up 1"}, {"s": "down 1"}, apart)


def test_unwanted_words_are_removed_in_linear_time():
    """The time grows with differences and unwanted words, not with their product."""
    walks: Counter[str] = Counter()

    class Spans(list[tuple[int, int]]):
        def __iter__(self):
            walks["all"] += 1
            return super().__iter__()

    old, new = (read({f"k{n}": f"the {word}" for n in range(10)}) for word in ("red", "blue"))
    spans = Spans((3 * n + 1, 3 * n + 2) for n in range(10))
    apart = [
        differences.Difference(f"k{n}", "the red", "the blue", (4 * n + 2, 4 * n + 4), (4 * n + 2, 4 * n + 4))
        for n in range(10)
    ]
    found = differences.finding_of_differences(apart, old, new, (spans, spans))

    assert 10 == len(found.updated)
    assert 2 == walks["all"]


def test_parts_selected_by_jsonpath_are_compared():
    """The path of one part begins at it, that of several at the document; excluded values are not
    there.
    """
    scope = {"selectors": (Selector("jsonpath", "$.data.items"),), "exclude": (Selector("jsonpath", "$..seen"),)}
    old, new = (
        {"t": value, "data": {"items": [{"id": 1, "v": value, "seen": value}, {"id": 2, "v": 0, "seen": 0}]}}
        for value in (1, 2)
    )

    assert list_updated("[id=1].v: 1", "[id=1].v: 2") == list_edits(old, new, **scope)
    several = {"selectors": (Selector("jsonpath", "$.data.items[*].v"),)}
    assert list_updated("data.items[id=1].v: 1", "data.items[id=1].v: 2") == list_edits(old, new, **several)


def list_known(*pairs, by="name"):
    return {"c": [{by: name, "s": state} for name, state in pairs]}


def states(*values):
    return {"c": [{"s": value} for value in values]}


UP_DOWN, DOWN_UP = ("db", "up"), ("web", "down")
SWAPPED: Edits = (
    [],
    [],
    [("c[name=db].s: up", "c[name=db].s: down"), ("c[name=web].s: down", "c[name=web].s: up")],
)
PLACES = {"c": {"db": {"s": "up"}, "web": {"s": "down"}}}, {"c": {"db": {"s": "down"}, "web": {"s": "up"}}}
IN_PLACES: Edits = ([], [], [("c.db.s: up", "c.db.s: down"), ("c.web.s: down", "c.web.s: up")])


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("$.c[*].s", list_known(UP_DOWN, DOWN_UP), list_known(("db", "down"), ("web", "up")), SWAPPED),
        ("$.c[*].s", list_known(UP_DOWN, DOWN_UP), list_known(("web", "up"), ("db", "down")), SWAPPED),
        ("$.c[1,0].s", list_known(UP_DOWN, DOWN_UP), list_known(("db", "down"), ("web", "up")), SWAPPED),
        ("$.c[?@.s].s", list_known(UP_DOWN, DOWN_UP), list_known(("db", "down"), ("web", "up")), SWAPPED),
        ("$.c[*].s", list_known(UP_DOWN, DOWN_UP), list_known(DOWN_UP, UP_DOWN), NOTHING),
        ("$.c[*].s", list_known(UP_DOWN, DOWN_UP), list_known(("dbx", "up"), DOWN_UP), NOTHING),
        (
            "$.c[*].s",
            list_known(UP_DOWN, DOWN_UP),
            list_known(("new", "up"), UP_DOWN, ("web", "up")),
            (["c[name=new].s: up"], [], [("c[name=web].s: down", "c[name=web].s: up")]),
        ),
        ("$.c[*].s", list_known(UP_DOWN, DOWN_UP), list_known(DOWN_UP), ([], ["c[name=db].s: up"], [])),
        (
            "$.c[*].s",
            list_known(UP_DOWN, DOWN_UP, by="host"),
            list_known(("web", "up"), ("db", "down"), by="host"),
            ([], [], [(one.replace("name", "host"), two.replace("name", "host")) for one, two in SWAPPED[2]]),
        ),
        (
            "$.c[*].s",
            states("up", "down"),
            states("down", "up"),
            ([], [], [("c[0].s: up", "c[0].s: down"), ("c[1].s: down", "c[1].s: up")]),
        ),
        ("$.c[*].s", states("a", "b", "c"), states("new", "a", "b", "c"), (["c[0].s: new"], [], [])),
        ("$.c[*].s", states("a", "b", "c"), states("new", "a", "b"), (["c[0].s: new"], ["c[2].s: c"], [])),
        ("$.c.*.s", *PLACES, IN_PLACES),
        ("$..s", *PLACES, IN_PLACES),
        ("$['a','b']", {"a": "x", "b": "y"}, {"a": "y", "b": "x"}, ([], [], [("a: x", "a: y"), ("b: y", "b: x")])),
        (
            "$.g[*].c[*].s",
            {"g": [{"id": 1, **list_known(UP_DOWN)}, {"id": 2, **list_known(("db", "down"))}]},
            {"g": [{"id": 1, **list_known(("db", "down"))}, {"id": 2, **list_known(UP_DOWN)}]},
            ([], [], [(f"g[id={n}].c[name=db].s: {a}", f"g[id={n}].c[name=db].s: {b}") for n, a, b in ((1, "up", "down"), (2, "down", "up"))]),
        ),
        ("$.d[*][1]", {"d": [[1, 5], [2, 6], [3, 7]]}, {"d": [[2, 6], [3, 7], [4, 8]]}, (["d[2][1]: 8"], ["d[0][1]: 5"], [])),
        ("$.t[*]", {"t": ["x", "y"]}, {"t": ["y", "x", "z"]}, (["t[2]: z"], [], [])),
        (
            "$[?@.open==true]",
            [{"id": 1, "open": True, "t": "x"}, {"id": 2, "open": False, "t": "x"}],
            [{"id": 1, "open": False, "t": "x"}, {"id": 2, "open": True, "t": "x"}],
            (['[id=2]: {"id": 2, "open": true, "t": "x"}'], ['[id=1]: {"id": 1, "open": true, "t": "x"}'], []),
        ),
        (
            "$[*].s",
            [{"id": n, "s": s} for n, s in enumerate("abc", 1)],
            [{"id": n, "s": s} for n, s in enumerate("nabc", 1)],
            (["[0].s: n"], [], []),
        ),
        ("$.a", {"a": "x"}, {"a": "y"}, ([], [], [("x", "y")])),
    ],
)  # fmt: skip
def test_selected_parts_are_compared_by_place(path, old, new, expected):
    """It is the fields of their objects, otherwise their order: two values that are swapped are two
    changes.
    """
    assert expected == list_edits(old, new, selectors=(Selector("jsonpath", path),))


def test_swapped_parts_with_the_same_words_are_compared():
    """If objects and their states are swapped at once, the words are in the same order: the digest
    has their places.
    """
    digests = []
    for value in (
        list_known(UP_DOWN, DOWN_UP),
        list_known(("web", "up"), ("db", "down")),
        {"at": 1, **list_known(UP_DOWN, DOWN_UP)},
    ):
        part = extract(read(value), Extraction((Selector("jsonpath", "$.c[*].s"),)))
        digests.append(digest_of(part))

    assert not are_equal(KINDS["any"].digests, digests[0], digests[1])
    assert are_equal(KINDS["any"].digests, digests[0], digests[2])


def test_long_texts_are_shown_from_their_difference():
    """Their common beginning is not repeated."""
    text = "word " * 3_000
    ((old, new),) = change({"t": f"{text}red"}, {"t": f"{text}blue"}).updated

    assert old.endswith("red")
    assert new.endswith("blue")
    assert len(new) < 200


def test_lone_surrogates_and_deep_nesting_are_harmless():
    """Characters that cannot be stored are replaced (H-056); deep values are reported at the depth
    of named places (H-065).
    """
    deep = ["[" * 200 + value + "]" * 200 for value in ("1", "2")]
    deeper = ["[" * 3_000 + value for value in ("one", "two")]

    assert list_updated("\ufffd", "x") == list_edits('"\\ud800"', '"x"')
    assert 1 == len(list_edits(*deep)[2])
    assert 1 == len(list_edits(*deeper)[2])


def test_too_many_differences_are_one_change(monkeypatch):
    """Beyond the limit words are compared; if they are equal, another arrangement is the change."""
    monkeypatch.setattr(differences, "MOST_DIFFERENCES", 3)
    numbers = list(range(10))

    assert NOTHING != list_edits([*numbers], [n + 50 for n in numbers])
    assert list_updated("content: 10 words as json", "content: 10 words as json, arranged otherwise") == list_edits(
        numbers, [str(n) for n in numbers]
    )


def scramble(value, rng):
    """Return a value with its members and its known items in another order."""
    if isinstance(value, dict):
        members = [(key, scramble(member, rng)) for key, member in value.items()]
        rng.shuffle(members)
        return dict(members)
    if isinstance(value, list):
        items = [scramble(item, rng) for item in value]
        if items and all(isinstance(item, dict) for item in items):
            rng.shuffle(items)
        return items
    return value


def random_value(rng, depth=0):
    match rng.randrange(6 if depth < 3 else 3):
        case 0:
            return rng.randrange(4)
        case 1:
            return rng.choice(["a", "b", "1", "true", ""])
        case 2:
            return rng.choice([True, None, 1.5])
        case 3:
            return {rng.choice("abcd"): random_value(rng, depth + 1) for _ in range(rng.randrange(4))}
        case 4:
            return [{"id": n, "v": random_value(rng, depth + 1)} for n in rng.sample(range(9), rng.randrange(5))]
        case _:
            return [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]


@pytest.mark.parametrize("seed", range(3))
def test_findings_of_random_values_are_correct(seed):
    """There is none for the same value or another order, one for each difference in both
    directions, and no gate hides it.
    """
    rng = random.Random(seed)
    for _ in range(60):
        old, new = random_value(rng), random_value(rng)
        before, after = digest_of(read(old)), digest_of(read(new))

        assert NOTHING == list_edits(old, scramble(old, rng))
        assert (NOTHING == list_edits(old, new)) is (NOTHING == list_edits(new, old))
        assert NOTHING == list_edits(old, new) or not are_equal(KINDS["words"].digests, before, after)
        for text_old, text_new in change(old, new).updated:
            assert text_old != text_new


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            {"service": {"name": "search", "state": 1}},
            {"service": {"name": "search", "state": 2}},
            "service[name=search].state",
        ),
        ({"title": "Tea", "price": 1}, {"title": "Tea", "price": 2}, "[title=Tea].price"),
        ({"name": "a", "n": 1}, {"name": "b", "n": 1}, "name"),
        ([{"id": "7", "name": "x", "n": 1}], [{"id": "7", "name": "x", "n": 2}], "[id=7].n"),
    ],
)
def test_place_names_its_object(old, new, expected):
    """It is a stable name; a known member of an array has one already."""
    _, _, ((before, _),) = list_edits(old, new)

    assert expected == before.rpartition(": ")[0]
