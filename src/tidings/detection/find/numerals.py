"""Numerals: the first number of a text, in any national notation (sentinels §1.3).

What stands between digits is read by these rules, the first that fits:

1. Of `.` and `,`, if both are there, the last is the decimal sign and the other one groups:
   `1,234.50`, `1.234,50`.
2. A sign that occurs twice groups: `1.234.567`. So do white space and `'`: `1 234,50`, `1'234.50`.
3. A single `.` or `,` before one, two or more than three digits, or after a lone 0, is the decimal
   sign: `19,9`, `1.0842`, `0,125`.
4. Before exactly three digits it is ambiguous. If the other version of the page resolves it, that
   reading is used.
5. Else it is the decimal sign of a percentage (`3,125 %`); a `,` groups (`1,234`); a `.` groups in
   an amount of money (`1.234 €`) and is the decimal sign elsewhere (`1.085`). A dash in place of
   the cents makes an amount of money (`1.299,-`); a currency between two numbers, or a colon before
   `kr`, is the decimal sign (`19€99`, `19:90 kr`).

A `-` or `−` makes it negative, before or after a currency, unless a letter or a digit precedes it
(`A-5`, `10-20`). Digits after a letter are a name (`v2`, `H2O`), except after a currency (`EUR5`).
Digits of other scripts are digits. JSON is read by JSON's rules.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Final, Literal

from tidings.document.text.cents import CURRENCY_NAMES
from tidings.model.watch.interest import Condition
from tidings.record import dataclass

Sense = Literal["decimal", "group", "doubt", ""]

_SYMBOL = "[$¢£¤¥֏؋৲৳฿₠-⃀﷼﹩＄￠￡￥￦]"
_CURRENCY = rf"(?:{_SYMBOL}|{'|'.join(CURRENCY_NAMES.split())})"
_SPACES = " \u00a0\u2007\u2009\u202f"
_MINUS = "-\u2212\u2010\u2011\u2013\ufe63\uff0d"
_NO_CENTS = rf"[.,:](?:[{_MINUS}—]){{1,2}}(?!\w)"
"""The mark in place of the cents of a whole amount: `19,-`, `1.299,--`."""
_DIGITS = re.compile(
    rf"(?P<digits>\d{{1,3}}(?:[{_SPACES}'’]\d{{3}}(?!\d))+(?:[.,]\d{{1,20}})?|\d{{1,40}}(?:[.,]\d{{1,20}}){{0,12}})"
    rf"(?P<power>[eE][+-]?\d{{1,3}}(?!\w))?(?P<after>{_NO_CENTS}|[{_SPACES}]?(?:%|{_CURRENCY}(?!\w)))?"
)
_SPLIT = re.compile(
    rf"(?P<whole>\d{{1,3}}(?:[{_SPACES}'’.,]\d{{3}})+(?!\d)|\d{{1,9}})(?P<between>[{_SPACES}]?{_CURRENCY}\.|{_SYMBOL}|:)(?P<cents>\d\d)"
    rf"(?!\w|[.,:]\d|[{_SPACES}]?{_SYMBOL})(?P<after>[{_SPACES}]?(?:kr|SEK|NOK|DKK)(?!\w))?"
)
"""An amount with its currency before the cents, as `walk` leaves superscript cents, or as in
`19€99` and `19:90 kr`.
"""
_LEAD = re.compile(rf"(?P<before>{_CURRENCY}[{_SPACES}]?)?(?P<sign>[{_MINUS}+])?(?P<middle>{_CURRENCY}[{_SPACES}]?)?\Z")
_LONGEST_LEAD = 12
MOST_NAMES = 50_000
"""After so many names with digits in them the search for a number ends."""
_JSON = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?(?!\w)")
_FOREIGN = re.compile(r"(?![0-9])\d|[٫٬，．]")
_OTHER_SIGNS = {"٫": ".", "٬": ",", "，": ",", "．": "."}


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number as a page writes it, at `start:end` of its text. `digits` includes its signs;
    `sense` is the meaning of its last `.` or `,`.
    """

    text: str
    start: int
    end: int
    digits: str
    is_negative: bool
    is_money: bool
    sense: Sense

    def value(self, sense: Sense = "") -> Decimal:
        """Return the number; `sense` resolves an ambiguous last sign."""
        return _value(self, sense)


def number_in(text: str, *, is_json: bool = False, nth: int = 1) -> WrittenNumber | None:
    """Return the first number of a text, or its `nth`; -1 is the last."""
    found = _each_number(text, is_json=is_json)
    if nth < 0:
        return next(iter(deque(found, 1)), None)
    return next(islice(found, nth - 1, None), None)


def _each_number(text: str, *, is_json: bool) -> Iterator[WrittenNumber]:
    plain = _plain(text)
    for found in _JSON.finditer(plain) if is_json else ():
        digits = found.group().removeprefix("-")
        negative = found.group().startswith("-")
        yield WrittenNumber(
            text[found.start() : found.end()], *found.span(), digits, negative, is_money=False, sense="decimal"
        )
    for found in () if is_json else islice(_DIGITS.finditer(plain), MOST_NAMES):
        if (number := _read_numeral(text, plain, found)) is not None:
            yield number


def values(old: WrittenNumber | None, new: WrittenNumber | None) -> tuple[Decimal | None, Decimal | None]:
    """Return two numbers of one page, each with its ambiguous sign resolved by the other one (rule
    4).
    """
    senses: list[Sense] = ["", ""]
    for place, (number, other) in enumerate(((old, new), (new, old))):
        if number is not None and number.sense == "doubt" and other is not None:
            senses[place] = _meaning(other, _last_sign(number.digits))
    return (
        None if old is None else old.value(senses[0]),
        None if new is None else new.value(senses[1]),
    )


def _meaning(other: WrittenNumber, sign: str) -> Sense:
    """Return the meaning of a sign in another number: decimal or grouping."""
    if other.sense == "doubt" or not other.sense:
        return ""
    last = _last_sign(other.digits)
    if last == sign:
        return other.sense
    return (
        "group" if other.sense == "decimal" and sign in other.digits else ("decimal" if other.sense == "group" else "")
    )


def _read_numeral(text: str, plain: str, found: re.Match[str]) -> WrittenNumber | None:
    start = found.start()
    lead = _lead(plain, start)
    if lead is None:
        return None
    sign, is_money = lead
    if not is_money and (split := _SPLIT.match(plain, start)) and (split["between"] != ":" or split["after"]):
        digits = f"{re.sub(r'[^0-9]', '', split['whole'])}.{split['cents']}"
        is_negative = sign is not None and plain[sign] != "+"
        start, end = sign if sign is not None else start, split.end("cents")
        return WrittenNumber(text[start:end], start, end, digits, is_negative, is_money=True, sense="decimal")
    digits, end = found["digits"], found.end("digits")
    after = (found["after"] or "").strip()
    if not _has_spaces(digits) and not _is_one_number(digits):
        digits, after = _longest_number(digits), ""
        end = start + len(digits)
    elif found["power"]:
        digits, end = digits + found["power"], found.end("power")
    sense = _sense(digits)
    if sense == "doubt" and after == "%":
        sense = "decimal"
    start = sign if sign is not None else start
    is_negative = sign is not None and plain[sign] != "+"
    return WrittenNumber(text[start:end], start, end, digits, is_negative, is_money or after not in {"", "%"}, sense)


def _lead(plain: str, start: int) -> tuple[int | None, bool] | None:
    """Return (position of the sign of a number, whether a currency precedes it); None if the digits
    at `start` are part of a name.
    """
    near = plain[max(0, start - _LONGEST_LEAD) : start]
    found = _LEAD.search(near)
    before, sign, middle = (
        (found["before"], found["sign"], found["middle"]) if found is not None else (None, None, None)
    )
    lead = len(near) - (found.start() if found is not None else len(near))
    previous = near[-lead - 1 : len(near) - lead] if lead < len(near) else ""
    if before and before[0].isalpha() and previous.isalpha():
        before = None  # the end of a word that resembles a currency
        if not sign and not middle and near[-1:].isalpha():
            return None
    elif not found or not lead:
        return None if near[-1:].isalpha() else (None, False)
    at = start - len(sign + (middle or "")) if sign else None
    if at is not None and before is None and plain[at - 1 : at].isalnum():
        at = None  # `A-5`, `10-20`
    return at, bool(before or middle)


def _has_spaces(digits: str) -> bool:
    return re.search(rf"[{_SPACES}'’]", digits) is not None


def _is_one_number(digits: str) -> bool:
    """Return whether digits with `.` and `,` can be one number, and not a date, version or list of
    numbers.
    """
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
    """Return the meaning of the last `.` or `,` of digits, by rules 1 to 3."""
    mantissa = re.split(r"[eE]", digits)[0]
    signs = re.findall(r"[.,]", mantissa)
    if not signs:
        return ""
    if len(set(signs)) > 1:
        return "decimal"
    if len(signs) > 1:
        return "group"
    if _has_spaces(mantissa):
        return "decimal"
    head, tail = re.split(r"[.,]", mantissa)
    if len(tail) != 3 or head.strip("0") == "" or len(head) > 3:
        return "decimal"
    return "doubt"


def _value(number: WrittenNumber, sense: Sense) -> Decimal:
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
    """Return a text with ASCII digits for all others, character for character."""
    return text if text.isascii() else _FOREIGN.sub(_in_ascii, text)


def _in_ascii(found: re.Match[str]) -> str:
    letter = found.group()
    return _OTHER_SIGNS.get(letter) or str(unicodedata.decimal(letter))


INFINITE: Final = Decimal("Infinity")
_HOLDS: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


def holds_of_numbers(condition: Condition, was: Decimal | None, now: Decimal | None) -> bool:
    """Return whether a condition holds of a number that is `now` and was `was`; None is no
    number.
    """
    if now is None:
        return False
    if condition.measure in {"value", "is"}:
        return stands(condition, now)
    if condition.measure == "becomes":
        return stands(condition, now) and (was is None or not stands(condition, was))
    if was is None:
        return False
    difference = now - was
    if condition.measure == "changes":
        difference = abs(difference)
    elif condition.measure == "drops":
        difference = -difference
    if difference <= 0:
        return False
    if condition.is_percent:
        difference = difference * 100 / abs(was) if was else INFINITE
    return stands(condition, difference)


def stands(condition: Condition, number: Decimal) -> bool:
    """Return whether a number stands in the condition's relation to its bound."""
    if condition.relation == "between":
        return Decimal(str(condition.number)) <= number <= Decimal(str(condition.upper))
    return _HOLDS[condition.relation or ">="](number, Decimal(str(condition.number)))
