"""Hypothesis strategies that several suites share: texts, lists of tokens, pages."""

from __future__ import annotations

from hypothesis import strategies as st

from tidings.model.watch.sentinel import AllOf, AnyOf, Interest, Not

WORDS = ["a", "b", "the", "price", "19.99", "€5", "naïve", "价格", "हिन्दी", "שלום", "👍🏽", "re-use", "A&B", "I", "x"]

tokens = st.lists(st.sampled_from("abcdefgh"), max_size=60) | st.lists(st.sampled_from("ab"), max_size=80)
"""Token lists over a small alphabet, so that much is equal."""

pairs = st.tuples(tokens, tokens)


@st.composite
def edit_pairs(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Return a list of tokens and what some cuts, copies and insertions make of it."""
    old = draw(st.lists(st.sampled_from([f"w{number}" for number in range(40)]), min_size=1, max_size=200))
    new = list(old)
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(new)))
        end = min(len(new), start + draw(st.integers(0, 20)))
        cut = new[start:end]
        match draw(st.sampled_from(["delete", "insert", "move", "double"])):
            case "delete":
                new[start:end] = []
            case "insert":
                new[start:start] = draw(st.lists(st.sampled_from(WORDS), max_size=5))
            case "move":
                new[start:end] = []
                place = draw(st.integers(0, len(new)))
                new[place:place] = cut
            case _:
                new[start:start] = cut
    return old, new


texts = st.lists(
    st.sampled_from([*WORDS, " ", " ", "\n", "\u00ad", "\u200b", "\u200d", ".", "-", "<", "+"]), max_size=30
).map("".join)
"""Texts of many scripts with and without white space."""

any_text = st.text(max_size=60)

_inline = st.sampled_from(["b", "i", "span", "em", "a href=/x"])
_block = st.sampled_from(["p", "div", "li", "h2", "section"])


def _element(name: str, children: list[str]) -> str:
    return f"<{name}>{''.join(children)}</{name.partition(' ')[0]}>"


pages = st.recursive(
    st.sampled_from(
        ["one", "two ", " three", "un", "5", "<br>", "<!-- c -->", "<img src=/i.png>", "<script>s</script>"]
    ),
    lambda inner: st.builds(_element, _inline | _block, st.lists(inner, max_size=4)),
    max_leaves=25,
)
"""Bodies of pages: inline and block elements, text, things without text."""

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 3)
    | st.sampled_from([1.5, "", "1", "one", "one two", "a-b", "a_b", "naïve"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "id", "c d"]), inner, max_size=3)
        | st.lists(st.builds(lambda v, n: {"id": n, "v": v}, inner, st.integers(0, 4)), max_size=3)
    ),
    max_leaves=12,
)
"""Values of JSON, with arrays that have ids and some that do not."""


def _xml_element(name: str, attributes: dict[str, str], children: list[str]) -> str:
    text = "".join(f" {key}='{value}'" for key, value in attributes.items())
    return f"<{name}{text}>{''.join(children)}</{name}>"


xml_elements = st.recursive(
    st.sampled_from(["one", "two three", "5", "<a/>", " ", "<!-- c -->", "<b n='1'>x</b>", "a-b"]),
    lambda inner: st.builds(
        _xml_element,
        st.sampled_from(["a", "b", "r:a"]),
        st.dictionaries(st.sampled_from(["id", "n"]), st.sampled_from(["1", "2"]), max_size=2),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)
"""What is in the root of an XML document that has the prefix `r`."""

_csv_rows = st.lists(st.lists(st.sampled_from(["1", "2", "NO", "SE", "", "a b"]), min_size=2, max_size=3), max_size=4)
csv_texts = st.builds(
    lambda head, rows: "\n".join(",".join(row) for row in (head, *rows)),
    st.sampled_from([["land", "rate"], ["land", "price"], ["land", "rate", "note"], ["1", "2"]]),
    _csv_rows,
)
"""CSV with and without a header, some rows twice, some too short."""

interests = st.builds(
    Interest,
    kind=st.sampled_from(["any", "words", "links", "images"]),
    direction=st.none() | st.sampled_from(["inserted", "deleted", "updated"]),
)

expressions = st.recursive(
    interests,
    lambda inner: (
        st.builds(lambda parts: AnyOf(tuple(parts)), st.lists(inner, min_size=1, max_size=3))
        | st.builds(
            lambda parts, unwanted: AllOf((*parts, *map(Not, unwanted))),
            st.lists(inner, min_size=1, max_size=2),
            st.lists(inner, max_size=1),
        )
    ),
    max_leaves=5,
)
