"""Superscript cents: `$19<sup>99</sup>` is $19.99, and not $1999."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

import regex

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

POINT: Final = "."
"""The sign inserted between an amount and its superscript cents."""

CURRENCY_NAMES: Final = (
    "EUR USD GBP CHF JPY CNY RMB SEK NOK DKK PLN CZK HUF RUB UAH INR AUD CAD NZD BRL MXN KRW TRY ZAR RON BGN RSD ILS AED SAR THB IDR MYR SGD HKD TWD "
    "PHP VND Rs kr K\u010d z\u0142 Ft R lei TL \u043b\u0432 \u0440\u0443\u0431 \u0433\u0440\u043d"
)
"""Currency codes, and common names beside their signs."""

_CURRENCY = rf"(?:\p{{Sc}}|\b(?:{'|'.join(CURRENCY_NAMES.split())})\b)"
_DIGITS = r"(?<![\d.,])\d{1,3}(?:[.,' \u2019\xa0\u202f]?\d{3})*"
_AMOUNT = regex.compile(rf"({_CURRENCY}\s*)?{_DIGITS}$")
_AMOUNT_AND_CURRENCY = regex.compile(rf"(?<!{_CURRENCY}\s?){_DIGITS}\s?{_CURRENCY}$")
_CURRENCY_FIRST = regex.compile(rf"\s*{_CURRENCY}")
_CENTS = regex.compile(rf"\s*\d\d(\s*{_CURRENCY})?\s*")
_NEAR = 24


def has_cents(node: LexborNode, pieces: Sequence[str], border: str, in_line: AbstractSet[str]) -> bool:
    """Return whether a `sup` holds the cents of a price: two digits right after an amount, and its
    currency before, between or after them.

    `10<sup>12</sup>` and a footnote's number have no currency, or not two digits.

    Args:
        node: The `sup`.
        pieces: The text before it.
        border: The separator of words that do not join.
        in_line: The inline elements.
    """
    cents = _CENTS.fullmatch(node.text())
    if cents is None:
        return False
    before = _text_before(pieces, border)
    amount = _AMOUNT.search(before)
    if amount is None:
        return cents[1] is None and _AMOUNT_AND_CURRENCY.search(before) is not None
    return bool(amount[1] or cents[1]) or _CURRENCY_FIRST.match(_text_behind(node, in_line)) is not None


def _text_before(pieces: Sequence[str], border: str) -> str:
    before = ""
    for piece in reversed(pieces):
        if piece is border or len(before) > _NEAR:
            break
        before = piece[-_NEAR:] + before
    return before


def _text_behind(node: LexborNode, in_line: AbstractSet[str]) -> str:
    """Return the text that follows an element in its line."""
    text = ""
    place: LexborNode | None = node
    while place is not None and not text.strip():
        following = place.next
        if following is not None:
            if following.is_element_node and following.tag not in in_line:
                break
            text += following.text()[:_NEAR]
            place = following
        else:
            place = place.parent
            if place is not None and place.tag not in in_line:
                break
    return text
