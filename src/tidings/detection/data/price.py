"""Prices and availability as change types: the structured data of a page about its product
(`structures.offers`).

The price is the lowest of the offers, in the currency of the first one, compared exactly. The
availability is the best one of the offers, by schema.org's name. A version without either is an
absence, with which nothing is compared (`absence`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Final

from tidings.detection.find.findings import KeyedUpdate, finding_of_things
from tidings.detection.find.numerals import number_in
from tidings.document.document import Document
from tidings.document.structures.offers import Offer, offers_of
from tidings.document.text.words import fold
from tidings.model.observed.change import ChangeSet
from tidings.record import dataclass

_PLAIN = re.compile(r"\d{1,15}(?:\.\d{1,10})?")
_BEYOND = re.compile(r"[eE]\d")
"""A number with an exponent, which may be out of bounds."""
_DIGIT = re.compile(r"\d")
_CODE = re.compile(r"[A-Za-z]{3}")
_SYMBOLS: Mapping[str, str] = {
    "€": "EUR",
    "£": "GBP",
    "₹": "INR",
    "₽": "RUB",
    "₩": "KRW",
    "₺": "TRY",
    "₴": "UAH",
    "zł": "PLN",
}
"""Signs of exactly one currency; others stay as written."""

STATES: Final = (
    "InStock", "LimitedAvailability", "OnlineOnly", "InStoreOnly", "PreOrder", "PreSale", "MadeToOrder", "BackOrder", "Reserved",
    "OutOfStock", "SoldOut", "Discontinued",
)  # fmt: skip
"""Availabilities by schema.org's names, the best first."""
_WRITTEN: Mapping[str, str] = {
    **{state.lower(): state for state in STATES},
    "available": "InStock",
    "instoreonly": "InStoreOnly",
    "lowstock": "LimitedAvailability",
    "limitedstock": "LimitedAvailability",
    "oos": "OutOfStock",
    "unavailable": "OutOfStock",
    "notavailable": "OutOfStock",
    "pending": "BackOrder",
    "availablefororder": "BackOrder",
    "onbackorder": "BackOrder",
    "preorderonly": "PreOrder",
    "yes": "InStock",
    "no": "OutOfStock",
}
"""Common spellings of an availability: letters only, without accents."""
_ELSEWHERE: Final[Mapping[str, str]] = {
    "InStock": "auf lager, vorrätig, lieferbar, sofort lieferbar, verfügbar, en stock, disponible, disponibile, disponível, em estoque, op voorraad, "
    "leverbaar, i lager, på lager, varastossa, dostępny, skladem, raktáron, în stoc, в наличии, 在庫あり, 有货, 现货, 재고 있음",
    "OutOfStock": "nicht auf lager, nicht vorrätig, nicht lieferbar, nicht verfügbar, hors stock, rupture de stock, en rupture de stock, indisponible, "
    "no disponible, sin stock, non disponibile, indisponível, sem estoque, niet op voorraad, niet leverbaar, slut i lager, ikke på lager, niedostępny, "
    "není skladem, нет в наличии, 在庫なし, 缺货, 无货",
    "SoldOut": "ausverkauft, épuisé, agotado, esaurito, esgotado, uitverkocht, slutsåld, udsolgt, utsolgt, wyprzedane, vyprodáno, распродано, 売り切れ, 품절",
    "PreOrder": "vorbestellbar, précommande, preventa, preordine, pré-venda, forudbestil, предзаказ, 予約受付中",
}
"""The same in other languages."""


@dataclass(frozen=True, slots=True)
class Money:
    """An amount of money; `currency` is its ISO 4217 code, the sign that the page writes, or
    empty.
    """

    amount: Decimal
    currency: str

    @property
    def text(self) -> str:
        """Return it for people: `19.99 EUR`."""
        return f"{self.amount:f} {self.currency}".rstrip()


def price_of(document: Document) -> Money | None:
    """Return the lowest price of a page's offers in the currency of the first, None if none can be
    read.
    """
    found = [price for offer in offers_of(document)[0] if (price := _price(offer)) is not None]
    return min((one for one in found if one.currency == found[0].currency), key=lambda one: one.amount, default=None)


def availability_of(document: Document) -> str:
    """Return the best availability of a page's offers, empty if there is none. One unknown to
    schema.org is as written.
    """
    found = [state for offer in offers_of(document)[1] if (state := _availability(offer.availability))]
    return min(found, key=lambda state: STATES.index(state) if state in STATES else len(STATES), default="")


def is_state(wanted: str, state: str) -> bool:
    """Return whether a state has a common name (`in stock`), or contains it."""
    return _availability(wanted) == state or fold(wanted) in fold(state)


def prices(old: Document, new: Document) -> tuple[Decimal | None, Decimal | None]:
    """Return the two amounts, the old one only if it is in the same currency."""
    was, now = price_of(old), price_of(new)
    is_comparable = was is not None and now is not None and was.currency == now.currency
    return (was.amount if was is not None and is_comparable else None), (now.amount if now is not None else None)


def offers_digest(document: Document) -> str:
    """Return the digest of everything that the comparison of prices and availability depends on."""
    price = price_of(document)
    return f"{'' if price is None else price.text}\x00{availability_of(document)}"


@dataclass(frozen=True, slots=True)
class PriceKind:
    """The price. It is inserted when a page first has one, then updated, never deleted: a page
    without one lacks it.
    """

    name: str = "price"
    contains: frozenset[str] = frozenset({"price"})
    digests: tuple[str, ...] = ("offers",)

    def is_there(self, document: Document) -> bool:
        """Return whether a page has a price."""
        return price_of(document) is not None

    def size(self, document: Document) -> int:
        """Return 1 if there is a price."""
        return int(self.is_there(document))

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the two prices, if they differ; only the new one if there was none."""
        was, now = price_of(old), price_of(new)
        if now is None or was == now:
            return ()
        if was is None:
            return (finding_of_things(self.name, (), (now.text,), ()),)
        return (finding_of_things(self.name, (), (), [KeyedUpdate(self.name, was.text, now.text)]),)


@dataclass(frozen=True, slots=True)
class Availability:
    """The availability. It is inserted when a page first has one, then updated, never deleted."""

    name: str = "availability"
    contains: frozenset[str] = frozenset({"availability"})
    digests: tuple[str, ...] = ("offers",)

    def is_there(self, document: Document) -> bool:
        """Return whether a page has an availability."""
        return availability_of(document) != ""

    def size(self, document: Document) -> int:
        """Return 1 if there is one."""
        return int(self.is_there(document))

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the two states, if they differ; only the new one if there was none."""
        was, now = availability_of(old), availability_of(new)
        if not now or was == now:
            return ()
        if not was:
            return (finding_of_things(self.name, (), (now,), ()),)
        return (finding_of_things(self.name, (), (), [KeyedUpdate(self.name, was, now)]),)


def _price(offer: Offer) -> Money | None:
    text = offer.price.strip()
    if _PLAIN.fullmatch(text):  # as schema.org asks for: a decimal point only
        return _check(text, _currency(offer.currency))
    written = number_in(text)
    if written is None or written.is_negative or _BEYOND.match(text, written.end):
        return None
    around = (word for word in f"{text[: written.start]} {text[written.end :]}".split() if not _DIGIT.search(word))
    return _check(str(written.value()), _currency(offer.currency or next(around, "")))


def _check(digits: str, currency: str) -> Money | None:
    try:
        amount = Decimal(digits)
    except InvalidOperation:
        return None
    return Money(amount, currency) if amount.is_finite() and abs(amount.adjusted()) < 20 else None


def _currency(text: str) -> str:
    plain = text.strip()
    return plain.upper() if _CODE.fullmatch(plain) else _SYMBOLS.get(plain, plain)[:8]


def _availability(text: str) -> str:
    """Return schema.org's name of an availability: from its address, or from common words (`in
    stock`).
    """
    last = text.rstrip("/").rpartition("/")[2].rpartition("#")[2].removeprefix("schema:")
    return _names().get(_letters(last), last)


@cache
def _names() -> Mapping[str, str]:
    elsewhere = {_letters(word): state for state, words in _ELSEWHERE.items() for word in words.split(",")}
    return {**elsewhere, **_WRITTEN}


def _letters(text: str) -> str:
    """Return the letters of a text, case folded and without accents."""
    return "".join(filter(str.isalpha, unicodedata.normalize("NFKD", text.casefold())))
