"""The first number of a text, as each country writes it: the rules as a table."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bounded import bound_time
from tidings.detection.find.numerals import number_in, values


def read(text, **more):
    number = number_in(text, **more)
    return None if number is None else (number.text, str(number.value()))


@pytest.mark.parametrize(
    ("text", "written", "value"),
    [
        ("now 5 left", "5", "5"),
        ("1,234.50", "1,234.50", "1234.50"),
        ("1.234,50", "1.234,50", "1234.50"),
        ("1 234,50 kr", "1 234,50", "1234.50"),
        ("1\u00a0234,50", "1\u00a0234,50", "1234.50"),
        ("1\u202f234\u202f567", "1\u202f234\u202f567", "1234567"),
        ("1'234.50", "1'234.50", "1234.50"),
        ("1.234.567", "1.234.567", "1234567"),
        ("12,34,567.89", "12,34,567.89", "1234567.89"),
        ("19,9", "19,9", "19.9"),
        ("1.0842", "1.0842", "1.0842"),
        ("0,125", "0,125", "0.125"),
        ("0.125 BTC", "0.125", "0.125"),
        ("1,234 users", "1,234", "1234"),
        ("1.085", "1.085", "1.085"),
        ("1.234 €", "1.234", "1234"),
        ("€1.234", "1.234", "1234"),
        ("EUR 1.234", "1.234", "1234"),
        ("EUR5", "5", "5"),
        ("US$5.20", "5.20", "5.20"),
        ("3.125%", "3.125", "3.125"),
        ("3,125 %", "3,125", "3.125"),
        ("−5", "−5", "-5"),
        ("-5 °C", "-5", "-5"),
        ("−€5", "−€5", "-5"),
        ("€-5", "-5", "-5"),
        ("+7", "+7", "7"),
        ("10-20", "10", "10"),
        ("A-5", "5", "5"),
        ("v2 for 10", "10", "10"),
        ("H2O 7 l", "7", "7"),
        ("12px", "12", "12"),
        ("1.2.3", "1.2", "1.2"),
        ("2026-11-28", "2026", "2026"),
        ("28.11.2026", "28.11", "28.11"),
        ("12:30", "12", "12"),
        ("1,2,3", "1,2", "1.2"),
        ("٣٫٥", "٣٫٥", "3.5"),
        ("५०", "५०", "50"),
        ("19,- €", "19", "19"),
        ("007", "007", "7"),
        ("Price: 1 000 000,5", "1 000 000,5", "1000000.5"),
        ("10 apples", "10", "10"),
    ],
)
def test_numbers_are_read_by_the_rules(text, written, value):
    """The table has each rule of the module, and texts that are no numbers."""
    assert (written, Decimal(value)) == (read(text)[0], Decimal(read(text)[1]))


@pytest.mark.parametrize("text", ["", "sold out", "v2", "abc1"])
def test_text_may_have_no_number(text):
    """Digits of a name are none."""
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("price\n\n1.085", "1.085"), ("1e3", "1E+3"), ("-0.5", "-0.5"), ("1234567", "1234567"), ("x2 4", "4")],
)
def test_point_in_json_is_the_decimal_sign(text, value):
    """It always is."""
    assert Decimal(value) == Decimal(read(text, is_json=True)[1])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("1.08", "1.085", ("1.08", "1.085")),
        ("1.085", "1.09", ("1.085", "1.09")),
        ("1,234", "1,5", ("1.234", "1.5")),
        ("1.234 €", "1.250,00 €", ("1234", "1250.00")),
        ("1.234", "2.345.678", ("1234", "2345678")),
        ("1,234", "1,235", ("1234", "1235")),
        ("1.500,00", "1.500", ("1500.00", "1500")),
    ],
)
def test_other_version_settles_an_ambiguous_number(old, new, expected):
    """Rule 4: if one version shows the meaning of a sign, it has it in the other too."""
    assert tuple(map(Decimal, expected)) == values(number_in(old), number_in(new))


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2))
def test_numbers_in_english_and_german_are_read(number):
    """They have two decimals and grouped thousands."""
    english = f"{number:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))

    assert [number, number] == [
        found.value()
        for found in (number_in(f"Price {english} today"), number_in(f"Preis {german} heute"))
        if found is not None
    ]


@given(st.text(max_size=80))
def test_every_text_is_read_without_an_error(text):
    """It has a number or none."""
    number = number_in(text)

    assert number is None or (text[number.start : number.end] == number.text and number.value().is_finite())


def test_page_of_signs_and_digits_is_read_in_linear_time():
    """It is a megabyte made to mislead."""
    texts = (
        "1," * 500_000,
        "a1" * 500_000,
        "-" * 1_000_000 + "x",
        "1 23 " * 200_000,
        "kr" * 500_000,
        "٣a" * 500_000,
    )

    with bound_time(10):  # 0.4 s
        for text in texts:
            number_in(text)
