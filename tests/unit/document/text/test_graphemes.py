import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import texts
from tidings.document.document import Document
from tidings.document.text.graphemes import whole_clusters

SIGNS = "กำ ລຳ नी क्ष e\u0301 한 각 🇩🇪 🇫🇷 👩\u200d👩\u200d👧 👍🏽 a🏽 1\ufe0f\u20e3 x\u200d ❤\ufe0f € \u0600 1".split(
    " "
)
clusters = st.lists(st.sampled_from(SIGNS) | st.sampled_from(list(" ab1.\n")), max_size=20).map("".join)


def borders(text):
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("กำ", (0, 1), (0, 2)),
        ("กำ", (1, 2), (0, 2)),
        ("a🏽b", (0, 1), (0, 2)),
        ("x\u200d.", (0, 1), (0, 2)),
        ("🇩🇪🇫🇷", (2, 4), (2, 4)),
        ("abc", (1, 2), (1, 2)),
        ("日本", (1, 2), (1, 2)),
    ],
)
def test_a_span_becomes_whole(text, span, expected):
    """Where a token ends inside a cluster the rest of it is shown too, and nothing more."""
    assert expected == whole_clusters(text, *span)


@given(clusters | texts)
def test_what_is_shown_splits_no_cluster(text):
    """Each token of any text is shown with borders that are borders of clusters of it."""
    document = Document(media="text", pieces=(text,))
    for chunk in document.chunks:
        part = Document(media="text", pieces=(chunk,))
        for token in range(len(part.tokens)):
            shown = part.get_text(token, token + 1)
            starts = [at for at in range(len(chunk)) if chunk.startswith(shown, at)]

            assert any({at, at + len(shown)} <= borders(chunk) for at in starts), (chunk, shown)
