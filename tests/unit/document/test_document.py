"""A parsed body: tokens, their places, and the text as shown."""

from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import pages, texts
from tidings.document.document import Document
from tidings.document.html.walk import BREAK
from tidings.document.parse import parse
from tidings.document.text.words import tokens_of


def page(text):
    return parse(text.encode(), "text/html")


@given(texts)
def test_number_of_words_is_that_of_tokens(text):
    """The canonical text is the tokens."""
    document = Document(media="text", pieces=(text,))

    assert tokens_of(text) == document.tokens
    assert len(document.tokens) == document.words
    assert " ".join(document.tokens).encode() == document.canonical


@given(pages)
def test_each_token_has_its_text_node_and_offset(body):
    """A token that markup cuts has none."""
    document = page(f"<body>{body}")
    nodes = [piece for piece in document.pieces if piece is not BREAK]
    places = list(document.places())

    assert len(document.tokens) == len(places)
    for token, (node, offset) in zip(document.tokens, places, strict=True):
        assert nodes[node][offset:].startswith(token[: len(nodes[node]) - offset])


def test_tokens_are_shown_as_the_page_writes_them():
    """Punctuation and spaces between the first and the last token are shown, white space is
    collapsed, and numbers are whole.
    """
    document = page("<p>Now,\n  only <b>€19.99</b>  (was: 24.99)!<p>On 2024-05-01 at 12:30.")

    assert "Now, only €19.99 (was: 24.99" == document.get_text(0, 6)
    assert "19.99" == document.get_text(3, 4)
    assert "12:30" == document.get_text(len(document.tokens) - 1, len(document.tokens))
    assert "" == document.get_text(2, 2)


def test_link_has_the_tokens_that_begin_in_it():
    """Markup inside a word, an empty link and an image between words have their place too."""
    document = page("<body>one <a href=a>two <b>th</b>ree</a> <img src=i>four<a href=b></a> fi<a href=c>ve six</a>")

    assert [(1, 3), (4, 4), (5, 6)] == [document.tokens_in(place) for place in document.link_places]
    assert [(3, 3)] == [document.tokens_in(place) for place in document.image_places]


def test_long_run_of_tokens_is_cut():
    """A text as long as books is shown up to a length."""
    document = page("word " * 5_000)

    assert len(document.get_text(0, 5_000, most=100)) <= 100
    assert document.get_text(0, 5_000, most=100).endswith("…")


def test_long_text_without_spaces_is_shown_quickly():
    """Chinese has no spaces: a token is found without cutting the text again each time."""
    document = page("价格很高" * 5_000)

    assert ["格"] * 1_000 == [document.get_text(place, place + 1) for place in range(1, 4_000, 4)]


def test_very_long_text_without_spaces_is_shown_by_its_tokens():
    """In megabytes no token is searched, and what is shown is limited."""
    document = Document(media="text", pieces=("price: " + "漢,字." * 40_000,))

    assert "price" == document.get_text(0, 1)
    assert "字 漢 字" == document.get_text(2, 5)
    assert 4_000 == len(document.get_text(1, 60_000))
    assert document.get_text(1, 60_000).endswith("…")


@given(st.text(alphabet="ab \n\t\u00a0\u2003字", max_size=40))
def test_starts_of_many_chunks_agree_with_those_of_each(text):
    """The quick way for many finds the same places."""
    document = Document(media="text", pieces=(text,))
    each = [document._start_of_chunk(number) for number in range(len(document.chunks))]
    document.note_chunks()
    assert [document._start_of_chunk(number) for number in range(len(document.chunks))] == each
