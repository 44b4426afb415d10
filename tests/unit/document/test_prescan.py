import pytest

from tests import data_sets
from tidings.document.prescan import too_hard


def attributes(count, form=" a{}"):
    return ("<p x=''" + "".join(form.format(number) for number in range(count)) + ">text").encode()


def misnested(count):
    opened = "".join(f"<b i{n}>" for n in range(count)) + "".join(f"<i i{n}>" for n in range(count))
    return (opened + "x</b>" * count).encode()


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (b"<div>" * 20_000 + b"text", "nested"),
        (b"<div></p>" * 20_000, "nested"),
        (b"<x-y>" * 20_000, "nested"),
        (attributes(5_000), "attributes"),
        (attributes(100_000), "attributes"),
        (attributes(5_000, "/a{}"), "attributes"),
        (attributes(5_000, ' a{}="v"'), "attributes"),
        (attributes(5_000, "a{}='v'"), "attributes"),
        (attributes(900) * 400, "attributes"),
        (misnested(2_000), "overlap"),
        (misnested(20_000), "overlap"),
        ("".join(f"<b i{n}>" for n in range(1_000)).encode() + b"<p>x" * 50_000, "overlap"),
    ],
)
def test_slow_pages_are_refused_with_a_reason(page, reason):
    """Each way to make the parser quadratic is found before it starts."""
    assert reason in too_hard(page)


@pytest.mark.parametrize(
    "page",
    [
        b"<div>" * 300 + b"text",
        b"<div>" * 4_000 + b"text" + b"</div>" * 4_000,
        attributes(900),
        b"<p>" * 100_000,
        b"<li>x" * 100_000,
        b"<br>" * 100_000,
        b"<a name=x>" * 20_000,
        b"<div><b>x</b></div>" * 20_000,
        b"<b>" * 3_000,
        b"<" * 5_000_000,
        b"<script>" + b"for(i=0;i<n;i++){ a = b / c; } " * 5_000 + b"</script>",
        b'<p data-x="' + b"a b " * 5_000 + b'">text',
        b"<!-- <p " + b"a b " * 5_000 + b"-->",
        b"",
    ],
)
def test_pages_that_only_look_hard_are_read(page):
    """Long lists, big scripts, long attribute values and implied end tags slow nothing down."""
    assert "" == too_hard(page)


def test_real_pages_pass():
    """No page of the corpus is refused."""
    assert [] == [reason for reason in map(too_hard, data_sets.html_pages()) if reason]
