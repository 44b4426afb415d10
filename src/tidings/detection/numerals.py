"""Numerals: the first number of a text, however its country writes it (sentinels_and_events.md §1.3).

What stands between digits is read by these rules, the first that fits:

1. Of `.` and `,`, if both are there, the last is the decimal sign and the other one groups: `1,234.50`, `1.234,50`.
2. A sign that stands there twice groups: `1.234.567`. So do white space and `'`: `1 234,50`, `1'234.50`.
3. A single `.` or `,` before one, two or more than three digits, or after a lone 0, is the decimal sign: `19,9`, `1.0842`, `0,125`.
4. Before exactly three digits it is in doubt. If the other version of the page shows what that sign means there, it means that here too.
5. Else it is the decimal sign of a percentage (`3,125 %`); a `,` groups (`1,234`); a `.` groups in an amount of money (`1.234 €`) and is
   the decimal sign elsewhere (`1.085`).

A `-` or `−` makes it negative, before or after a currency, unless a letter or a digit stands before it (`A-5`, `10-20`). Digits that a letter
stands before are a name (`v2`, `H2O`), except after a currency (`EUR5`). Digits of other scripts are digits. JSON is read as JSON writes numbers.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

Sense = Literal["decimal", "group", "doubt", ""]

_CURRENCIES = "EUR USD GBP CHF JPY CNY RMB SEK NOK DKK PLN CZK HUF RUB UAH INR AUD CAD NZD BRL MXN KRW TRY ZAR Rs kr Kč zł Ft US A C R NT HK"
_CURRENCY = rf"(?:\p|{'|'.join(_CURRENCIES.split())})".replace(r"\p", r"[$¢£¤¥֏؋৲৳฿₠-⃀﷼﹩＄￠￡￥￦]")
_SPACES = " \u00a0\u2007\u2009\u202f"
_MINUS = "-\u2212\u2010\u2011\u2013\ufe63\uff0d"
_GROUPED = rf"\d{{1,3}}(?:[{_SPACES}'’]\d{{3}}(?!\d))+(?:[.,]\d+)?|\d+(?:[.,]\d+)*"
_NUMBER = re.compile(
    rf"(?P<name>[^\W\d_]+)?(?P<before>{_CURRENCY}[{_SPACES}]?)?(?P<sign>[{_MINUS}+])?(?P<middle>{_CURRENCY}[{_SPACES}]?)?(?P<digits>{_GROUPED})"
    rf"(?P<power>[eE][+-]?\d{{1,3}}(?!\w))?(?P<after>[{_SPACES}]?(?:%|{_CURRENCY}(?!\w)))?"
)
_IS_CURRENCY = re.compile(_CURRENCY)
_JSON = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?(?!\w)")
_LONGEST = 60
_OTHER_SIGNS = {"٫": ".", "٬": ",", "，": ",", "．": "."}


@dataclass(frozen=True, slots=True)
class Written:
    """A number as a page writes it, at `start:end` of its text. `digits` has its signs; `sense` says what its last `.` or `,` is."""

    text: str
    start: int
    end: int
    digits: str
    is_negative: bool
    is_money: bool
    sense: Sense

    def value(self, sense: Sense = "") -> Decimal:
        """Return the number; `sense` decides what the last sign is where it is in doubt."""
        return _value(self, sense)


def number_in(text: str, *, is_json: bool = False) -> Written | None:
    """Return the first number of a text."""
    plain = _plain(text)
    if is_json:
        found = _JSON.search(plain)
        if found is None:
            return None
        digits = found.group().removeprefix("-")
        negative = found.group().startswith("-")
        return Written(
            text[found.start() : found.end()], *found.span(), digits, negative, is_money=False, sense="decimal"
        )
    for found in _NUMBER.finditer(plain):
        if (number := _written(text, plain, found)) is not None:
            return number
    return None


def values(old: Written | None, new: Written | None) -> tuple[Decimal | None, Decimal | None]:
    """Return two numbers of one page, each read as the other one shows that its signs are meant (rule 4)."""
    senses: list[Sense] = ["", ""]
    for place, (number, other) in enumerate(((old, new), (new, old))):
        if number is not None and number.sense == "doubt" and other is not None:
            senses[place] = _meaning(other, _last_sign(number.digits))
    return (
        None if old is None else old.value(senses[0]),
        None if new is None else new.value(senses[1]),
    )


def _meaning(other: Written, sign: str) -> Sense:
    """Return what a number shows of a sign: its decimal sign, or one that groups."""
    if other.sense == "doubt" or not other.sense:
        return ""
    last = _last_sign(other.digits)
    if last == sign:
        return other.sense
    return (
        "group" if other.sense == "decimal" and sign in other.digits else ("decimal" if other.sense == "group" else "")
    )


def _written(text: str, plain: str, found: re.Match[str]) -> Written | None:
    name, sign = found["name"], found["sign"]
    before = bool(found["before"] or found["middle"])
    if name and not sign and not before:
        if not _IS_CURRENCY.fullmatch(name):
            return None
        before = True
    start = found.start("sign") if sign else found.start("digits")
    if sign:
        at = found.start("sign")
        previous = plain[at - 1] if at else " "
        if previous.isalnum() and not found["before"] and not (name and _IS_CURRENCY.fullmatch(name)):
            sign, start = None, found.start("digits")
    digits = found["digits"]
    end = found.end("digits")
    if re.fullmatch(r"\d+(?:[.,]\d+)*", digits) and not _is_one_number(digits):
        digits = _longest_number(digits)
        end = found.start("digits") + len(digits)
    elif found["power"]:
        digits += found["power"]
        end = found.end("power")
    after = (found["after"] or "").strip() if end in {found.end("digits"), found.end("power")} else ""
    is_money = before or (bool(after) and after != "%")
    sense = _sense(digits)
    if sense == "doubt" and after == "%":
        sense = "decimal"
    if end - start > _LONGEST:
        return None
    return Written(text[start:end], start, end, digits, bool(sign) and sign != "+", is_money, sense)


def _is_one_number(digits: str) -> bool:
    """Return whether digits with `.` and `,` among them can be one number, and no date, version or list of numbers."""
    signs = re.findall(r"[.,]", digits)
    groups = re.split(r"[.,]", digits)
    if len(signs) < 2:
        return True
    *grouping, last = signs
    if len(set(grouping)) > 1:
        return False
    inner = groups[1:] if last == grouping[0] else groups[1:-1]
    *few, final = inner
    return 1 <= len(groups[0]) <= 3 and len(final) == 3 and all(len(group) in {2, 3} for group in few)


def _longest_number(digits: str) -> str:
    parts = re.split(r"([.,])", digits)
    for length in range(len(parts) - 2, 1, -2):
        shorter = "".join(parts[:length])
        if _is_one_number(shorter):
            return shorter
    return parts[0]


def _last_sign(digits: str) -> str:
    signs = re.findall(r"[.,]", digits)
    return signs[-1] if signs else ""


def _sense(digits: str) -> Sense:
    """Return what the last `.` or `,` of digits is, by rules 1 to 3."""
    mantissa = re.split(r"[eE]", digits)[0]
    signs = re.findall(r"[.,]", mantissa)
    if not signs:
        return ""
    if len(set(signs)) > 1:
        return "decimal"
    if len(signs) > 1:
        return "group"
    if re.search(rf"[{_SPACES}'’]", mantissa):
        return "decimal"
    head, tail = re.split(r"[.,]", mantissa)
    if len(tail) != 3 or head.strip("0") == "" or len(head) > 3:
        return "decimal"
    return "doubt"


def _value(number: Written, sense: Sense) -> Decimal:
    meant = sense or number.sense
    sign = _last_sign(number.digits)
    if meant == "doubt":
        meant = "group" if sign == "," or number.is_money else "decimal"
    digits = number.digits
    if meant == "decimal":
        at = digits.rindex(sign) if sign else len(digits)
        digits = re.sub(r"[^\d]", "", digits[:at]) + "." + digits[at + 1 :] if sign else digits
    else:
        power = re.search(r"[eE].*", digits)
        digits = re.sub(r"[^\d]", "", re.split(r"[eE]", digits)[0]) + (power.group() if power else "")
    try:
        value = Decimal(digits)
    except InvalidOperation:
        value = Decimal(0)
    return -value if number.is_negative else value


def _plain(text: str) -> str:
    """Return a text in which every digit is one of ASCII, character for character."""
    if text.isascii():
        return text
    return "".join(
        _OTHER_SIGNS.get(letter) or (str(unicodedata.decimal(letter)) if letter.isdecimal() else letter)
        for letter in text
    )
