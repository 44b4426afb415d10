"""Common inputs that the language does not read, and the line to write instead.

A guess is rewritten by all matching rules, in order. The result is offered only if the grammar
reads it, so that no hint is itself faulty. Quoted texts are not rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from tidings.language.words import is_reserved
from tidings.model.url import split_url

Rewrite = str | Callable[[re.Match[str]], str]

LONGEST = 400
"""The longest text that is guessed, in characters."""

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_NUMBERS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "sixty": 60,
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>(?:{'|'.join(_MONTHS)})[a-z]*)\.?"
_DAYS_OF = {"month": 30, "quarter": 91, "year": 365}
_WORTH = {"highest": "1", "high": "0.9", "medium": "0.5", "normal": "0.5", "low": "0.2", "lowest": "0.1"}
_NO_RECEIVER = r"^notify(?:\s+by)?(?:\s+(?!(?:console|dashboard|feed|stream)$)[\w-]+)?$"
"""A Notify clause that ends after a word that is no receiver by itself."""
_SECRET_HEADERS = {"authorization", "proxy-authorization", "x-api-key", "x-auth-token"}
_TYPES = "any change|text|words|links|images|table|list|number|price|items|availability"


def _times_a_day(found: re.Match[str]) -> str:
    times, minutes = int(found[1]), {"day": 1_440, "hour": 60, "week": 10_080}[found[2].lower()]
    each = minutes // times if 0 < times <= minutes else 1
    return f"every {each // 60} hour" if each % 60 == 0 else f"every {each} min"


_CLOCK = r"\d{1,2}(?::\d\d)?(?:\s?[ap]m)?"
_SPAN = rf"(?:from\s+|between\s+|during\s+)?({_CLOCK})\s*(?:-|–|to|and|until|till)\s*({_CLOCK})"
_DAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*"
_DAYS = (
    rf"(?:{_DAY}(?:\s*(?:-|to|through|,|and)\s*{_DAY})*|weekdays?|weekends?|week-days|"
    r"working\s+days|workdays|business\s+days)"
)
_NOISE = r"(?:all\s+|the\s+|any\s+|changes?\s+(?:of|in)\s+|changing\s+|changed\s+)*"
_EXCEPT = (
    r"(?:except(?:\s+for)?|excepting|ignoring|without|excluding|but\s+not|but\s+no|not|"
    r"other\s+than|apart\s+from|besides)"
)
_OF_DATES = r"(?:dates?|days)"
_OF_STAMPS = r"(?:dates?\s*(?:and|or|&|,)\s*times?|times?\s*(?:and|or|&|,)\s*dates?|time\s*stamps?|date\s*stamps?)"
_OF_TIMES = r"(?:times?|clocks?|hours|time\s+of\s+day)"
_OF_NUMBERS = r"(?:numbers?|digits|counters?|counts)"
_OF_ALL = (
    r"(?:(?:numbers?|digits)\s*(?:and|or|,)\s*(?:dates?|times?)|(?:dates?|times?)\s*(?:and|or|"
    r",)\s*(?:numbers?|digits))"
)
_ZONES = {
    "cest": "CET",
    "eest": "EET",
    "bst": "Europe/London",
    "pst": "America/Los_Angeles",
    "pdt": "America/Los_Angeles",
    "edt": "America/New_York",
    "cst": "America/Chicago",
    "cdt": "America/Chicago",
    "utc": "UTC",
    "gmt": "UTC",
    "cet": "CET",
    "eet": "EET",
    "est": "America/New_York",
}
_FIXED = {  # dates, times, numbers, dates with times, all of them
    "900": r'"\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}"',
    "901": r'"\d{1,2}:\d\d(:\d\d)?"',
    "902": r'"\d+"',
    "904": r'"\d[\d.:/-]*"',
    "903": r'"\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}:\d\d(:\d\d)?"',
}
"""Texts that rules write, by the number that stands for them while a guess is rewritten."""


def _clock(text: str) -> str:
    """Return a time of day with its minutes, as the language reads it."""
    return text if ":" in text or not text.isdigit() else f"{int(text):02}:00"


def _days(text: str) -> str:
    """Return days as the language reads them."""
    meant = " ".join(text.lower().split())
    if meant in {"week-days", "working days", "workdays", "workday", "business days"}:
        return "mon-fri"
    return re.sub(r"\s*(?:-|to|through)\s*", "-", meant)


def _apply_hours(found: re.Match[str]) -> str:
    """Return an interval with the hours or days in which it holds, as two clauses."""
    said = found.groupdict()
    days = _days(said.get("days") or said.get("first") or "daily")
    hours = f" {_clock(said['start'])} to {_clock(said['end'])}" if said.get("start") else ""
    return f"{found['fetch']} During {days}{hours}"


def _both(found: re.Match[str]) -> str:
    """Return a statement on several pages whose changes are meant together."""
    kind, condition = found["kind"], found["condition"].strip()
    named = {page: found[page.lower()] for page in "ABC" if found[page.lower()]}
    parts = " AND ".join(f"{kind} of {page}{f' {condition}' if condition else ''}" for page in named)
    pages = ", ".join(f"{url} As {page}" for page, url in named.items())
    return f"{found['head']} {pages} Monitor {parts}{found['rest']}"


def _each(found: re.Match[str]) -> str:
    """Return several texts in quotes as several change types."""
    kind = found["kind"].lower().removesuffix("s")
    joint = " AND " if re.search(r"\band\b|&", found["texts"], re.IGNORECASE) else " OR "
    rest = found["rest"]
    return f"Monitor {joint.join(f'{kind} {text}{rest}' for text in re.findall(_SHELF, found['texts']))}"


def _date(found: re.Match[str]) -> str:
    """Return a day with its month in words as a date of the language."""
    month = _MONTHS.index(found["month"].lower()[:3]) + 1
    start = "To" if found["point"].lower() != "from" else "From"
    return f"{start} {found['year']}-{month:02}-{int(found['day']):02}"


def _login(found: re.Match[str]) -> str:
    """Return a login by a form, whose password is a secret."""
    user = found[1] if found[1].startswith('"') else f'"{found[1]}"'
    secret = found[2] or "NAME"
    return f'Login form https://example.org/login user {user} password secret "{secret}"'


def _login_at(page: str, user: str, secret: str) -> str:
    user = user if user.startswith('"') else f'"{user}"'
    return f"Login form {page} user {user} password secret {secret}"


_STATEMENTS: tuple[tuple[str, Rewrite], ...] = (
    (
        (
            r"^(?P<head>create\s+sentinel\s+\S+\s+using)\s+(?P<a>https?://[^\s,]+),?\s+(?:and|&|\+)\s+"
            r"(?P<b>https?://[^\s,]+)(?:,?\s+(?:and|&|\+)\s+(?P<c>https?://\S+))?\s+"
            r"monitor\s+(?P<kind>any\s+change|(?:all\s+)?(?:text|words|links|images)|price|number|"
            r"availability|items|table|list|"
            r"status|(?:keyword|phrase|regex)s?\s+\"\d+\")(?P<condition>(?:(?!\s(?:and|or|of)\s|"
            r"\s(?:fetch|notify|during|from|to|for|"
            r"tags|zone|select|exclude|ignore|render|header|transform|within)\b).)*)(?P<rest>(?:\s.*)?)$"
        ),
        _both,
    ),
    (r"^(?:rename)\s+(?:sentinel\s+)?(\S+)\s+(?:to\s+|as\s+|->\s*)?(\S+)$", r"tidings rename \1 \2"),
    (
        (
            r"^(?:show|list|ls|display|get)(?:\s+(?:me\s+)?(?:all|my|every|sentinels?|watch(?:es)?|jobs|monitors|"
            r"pages|everything|the))*$"
        ),
        "tidings list",
    ),
    (r"^(?:show|display|describe|explain|inspect|get|status)\s+(?:sentinel\s+)?(\S+)$", r"tidings show \1"),
    (
        (
            r"^(?:check|recheck|fetch|poll|refresh|run|test|"
            r"look\s+at)\s+(?:sentinel\s+)?(?!https?:)(\S+)(?:\s+now)?$"
        ),
        r"tidings check \1",
    ),
    (r"^(?:history|changes|diff)\s+(?:of\s+|for\s+)?(\S+)$", r"tidings history \1"),
    (r"^(?:help|\?)$", "tidings --help"),
    (
        r"^(?:delete|remove|cancel|forget|rm|del|unwatch|end|finish|terminate|kill)\s+(?:(?:sentinel|watch|job)\s+)?(\S+)$",
        r"Drop \1",
    ),
    (
        (
            r"^(?:pause|suspend|mute|stop|disable|snooze)\s+(?:(?:sentinel|watch|job|watching|monitoring|"
            r"checking)\s+)*(\S+)(?:\s+(?:until|till|for)\s.+)?$"
        ),
        r"Disable \1",
    ),
    (
        (
            r"^(?:resume|start|unpause|unmute|activate|restart|continue|enable)\s+(?:(?:sentinel|watch|job|"
            r"watching|monitoring|checking)\s+)*(\S+)$"
        ),
        r"Enable \1",
    ),
    (r"^(drop|enable|disable|confirm)\s+sentinel\s+(\S+)$", r"\1 \2"),
    (r"^(?:alter\s+sentinel|(?:change|update|edit|modify)(?:\s+sentinel)?)\s+(\S+)", r"Alter \1"),
    (
        (
            r"^(?:create|add|new|make)\s+(?:sentinel\s+|watch\s+|monitor\s+|job\s+)?(?!using\b|"
            r"sentinel\b|event\b)([A-Za-z_][\w-]*|\"[^\"]*\")\s+(?:(?:using|for|on|at|from|url|with|"
            r"page|of|watching)\s+)?(https?://)"
        ),
        r"Create Sentinel \1 Using \2",
    ),
)

_CLAUSES: tuple[tuple[str, Rewrite], ...] = (
    # spellings within any clause
    (
        (
            rf"^fetch\s+(?:only\s+)?(?:on\s+)?(?:(?P<days>{_DAYS})\s+)?(?:only\s+)?(?:from\s+|between\s+)?"
            rf"(?P<start>{_CLOCK})\s*(?:-|–|to|and|until|till)\s*(?P<end>{_CLOCK})\s*,?\s+(?P<fetch>every\s+\d+\s*[a-z]+|hourly)$"
        ),
        lambda m: f"Fetch {_apply_hours(m)}",
    ),
    (
        rf"^fetch\s+(?:only\s+)?(?:on\s+)?(?P<days>{_DAYS})\s*,?\s+(?P<fetch>every\s+\d+\s*[a-z]+|hourly)$",
        lambda m: f"Fetch {_apply_hours(m)}",
    ),
    (
        r"^(fetch\s+(?:every\s+)?\d+\s*[a-z]+|fetch\s+hourly)\s+(?:only\s+)?(?:at|by|during)\s+(?:the\s+)?night(?:s|\s+only)?$",
        r"\1 During daily 22:00 to 06:00",
    ),
    (r"^(notify)\s*:\s*", r"\1 "),
    (r"^(notify\s+(?:by\s+)?e?-?mail)\s*:\s*", r"\1 "),
    (
        r"^(notify\b.*?\S)\s+(?:at\s+most|max(?:imum)?|not\s+more\s+(?:often\s+)?than)\s+(?:once\s+)?(?:every|per|in|a|an)\s+(\d+\s*\w+)$",
        r"\1 max 1 per \2",
    ),
    (
        r"^(notify\b.*?\S)\s+(?:not|no)\s+more\s+(?:often\s+)?than\s+once\s+(?:every|per|in|an?)\s+(hour|day|week)$",
        r"\1 max 1 per 1 \2",
    ),
    (r"\b(availability)\s+(?:==?|equals)\s*(?=\"\d)", r"\1 is "),
    (
        r"^(fetch|notify)\b(.*?\bat\s+)(\d{1,2})((?:\s*(?:,|and)\s*\d{1,2})*)(\s+daily)?$",
        lambda m: f"{m[1]}{m[2]}{re.sub(r'[0-9]+', lambda n: _clock(n[0]), m[3] + m[4])}{m[5] or ''}",
    ),
    (
        (
            r"^(fetch\s+(?:every\s+)?(?:daily|weekdays?|weekends?|(?:mon|tue|wed|thu|fri|sat|"
            r"sun)[a-z]*))\s+(?=\d{1,2}(?::\d\d|\s?[ap]m))"
        ),
        r"\1 at ",
    ),
    (r"^(fetch|notify\b.*?\S)\s+weekly\s+(?:on\s+|every\s+|each\s+)(?=mon|tue|wed|thu|fri|sat|sun)", r"\1 every "),
    (
        r"^(fetch)\s+(?:on\s+|every\s+)?(?:working|business|work)\s*-?\s*days?\s+(?:at\s+)?(?=\d)",
        r"\1 every weekday at ",
    ),
    (r"^(fetch)\s+(?:every\s+)?(?:a\s+)?quarter\s+(?:of\s+)?an?\s+hour$", r"\1 every 15 min"),
    (
        (
            r"^(fetch)\s+(?:every\s+)?(?:\d+(?:st|nd|rd|th)|first|last)\s+(?:day\s+)?of\s+(?:the|each|"
            r"every)\s+month$"
        ),
        r"\1 every 30 day",
    ),
    (
        (
            r"^(fetch\s+(?:every\s+)?\d+\s*[a-z]+|fetch\s+(?:hourly|every\s+(?:hour|minute)))\s*,?\s+"
            r"(?:but\s+)?(?:not|except|never)\s+(?:at|by|during|in)?\s*(?:the\s+)?night$"
        ),
        r"\1 During daily 06:00 to 22:00",
    ),
    (
        (rf"^(notify\b.*?\S)\s+at\s+({_CLOCK})\s+(?:as\s+)?(?:an?\s+)?(?:daily\s+)?(?:digest|" r"summary|report)$"),
        r"\1 at \2 daily",
    ),
    (
        (
            r"^(fetch\s+(?:every\s+)?\d+\s*[a-z]+|fetch\s+(?:hourly|every\s+(?:hour|minute)))\s*,?\s+"
            r"(?:but\s+)?(?:not|except|never)\s+(?:at|by|during|in|on)?\s*(?:the\s+)?weekends?$"
        ),
        r"\1 During mon-fri",
    ),
    (rf"^(notify\b.*?\S)\s*,?\s+(?:only\s+)?on\s+({_DAYS})(?:\s+only)?$", lambda m: f"{m[1]} at 08:00 {_days(m[2])}"),
    (r"^for\s+(\d+\s+\w+),?\s+(?:starting|beginning|counted)\s+(?:from\s+)?(?:today|now)$", r"For \1"),
    (
        (
            r"^(notify\b.*?\S)\s+(?:batched|bundled|collected|grouped|summari[sz]ed|combined)\s+"
            r"(daily|hourly|weekly)$"
        ),
        r"\1 \2",
    ),
    (
        (r"^(select|exclude|ignore|monitor\s+(?:\w+\s+)?in)\s+css\s+([.#][\w.#-]+|" r"[a-z][\w-]*[.#][\w-]+)$"),
        r'\1 css "\2"',
    ),
    (r"^select\s+([a-z][\w-]*)$", r'Select css "\1"'),
    (r"^monitor\s+(h[1-6]|main|article|body|title)$", r'Monitor css "\1"'),
    (r"^(monitor\s+)(?:json\s*-?\s*(?:path)?\s*)?(\$[.\[][^\s\"]*)", r'\1jsonpath "\2"'),
    (r"^monitor\s+(?:either\s+|any\s+of\s+|one\s+of\s+)(?=\")", "Monitor "),
    (
        (
            r"^monitor\s+(new\s+)?(?:articles?|posts?|stories|episodes?|news|videos?|releases?|"
            r"entry)\s+(?:with|containing|about|matching|that\s+(?:contain|mention)s?|mentioning)\s+"
            r"(?:the\s+word\s+)?(\"\d+\")$"
        ),
        r"Monitor items inserted containing \2",
    ),
    (
        (
            r"^(monitor\s+(?:new\s+)?(?:links|images|items|text|words))\s+containing\s+"
            r"(?:the\s+)?(?:text|words?|keyword|phrase)\s+(\"\d+\")$"
        ),
        r"\1 containing \2",
    ),
    (
        (
            r"\b(where|while|if|when)\s+(?:the\s+|its\s+)?(?:url|href|link|text|title|name|address)\s+"
            r"(?=contains|matches)"
        ),
        lambda m: f"{m[1].lower()} ",
    ),
    (
        (
            r"^monitor\s+(?:(?:the\s+)?(?:page|site|server|website|status)\s+)?(?:is\s+|goes\s+|"
            r"becomes\s+|not\s+|!=\s*)*(?:down|offline|unreachable|gone|error|errors|dead|broken|ok|"
            r"up)$"
        ),
        r"Monitor status",
    ),
    (r"^(monitor\s+status)\s+(?:=|==|is|in|becomes)?\s*([45])xx$", r'\1 where matches "\2.."'),
    (
        r"^(monitor\s+status)\s+(?:=|==|is|in)?\s*(\d{3})\s*(?:or|,|\|)\s*(?:=|==)?\s*(\d{3})$",
        r'\1 where matches "\2|\3"',
    ),
    (
        r"^(monitor\s+)(?:availability\s+)(?:is\s+|becomes\s+)?(?:back\s+)?in\s+stock$",
        r'\1availability becomes "in stock"',
    ),
    (
        (
            r"^(monitor\s+)(?:(?:new|added|changed)\s+)?(?:table\s+rows?|rows?\s+(?:in|of)\s+(?:the\s+"
            r"|a\s+)?table)(?:\s+(?:added|appear))?$"
        ),
        lambda m: f"{m[1]}table{' inserted' if re.search('new|added', m[0]) else ''}",
    ),
    (r"^(monitor\s+)(?:the\s+)?(?:visible|plain|page|whole|all|any)\s+text$", r"\1text"),
    (r"^monitor\s+(?:the\s+)?(?:html|source|source\s+code)$", "Monitor any change"),
    (r"^monitor\s+(?:the\s+)?(?:lowest|cheapest|best)\s+price$", "Monitor price is the lowest so far"),
    (
        (r"^monitor\s+price\s+(?:is\s+|becomes\s+|gets\s+)?(?:lower|cheaper|less)(?:\s+than\s+" r"before)?$"),
        "Monitor price drops by more than 0",
    ),
    (
        (
            r"^monitor\s+price\s+(?:is\s+|becomes\s+|gets\s+)?(?:higher|dearer|more\s+expensive)(?:\s+"
            r"than\s+before)?$"
        ),
        "Monitor price rises by more than 0",
    ),
    (r"^(monitor\s+(?:price|number)\b.*[<>=\s]\d+),(\d\d)$", r"\1.\2"),
    (
        (r"^(monitor\s+(?:price|number))\s+(?:in\s+)?([.#][\w-]+)\s*(?=[<>=]|below|above|under|" r"over)"),
        r'\1 in css "\2" ',
    ),
    (r"^header\s+([\w-]+)\s*[:=]?\s+([^\"\s]+)$", r'Header "\1: \2"'),
    (r"^header\s+(\"\d+\")\s*[:=]\s*(\"\d+\")$", r"Header \1 \2"),
    (r"^method\s+([a-z]+)$", lambda m: f'Method "{m[1].upper()}"'),
    (r"^tags\s*:\s*", "Tags "),
    (r"^price\s+drops?\s+(?=\d)", "Monitor price drops by "),
    (
        r"^(?:keep|history|changehistory|retain)\s+(?:all|everything|forever|unlimited|infinite)$",
        "ChangeHistory 36500 day",
    ),
    (r"^zone\s+([a-z]+)$", lambda m: f"Zone {_ZONES.get(m[1].lower(), m[1])}"),
    (r"^(?:with\s+)?(?:an?\s+)?screenshots?$", "Render browser screenshot"),
    (r"^scroll(?:\s+(?:down|to\s+(?:the\s+)?(?:end|bottom)))?$", "Render browser steps (scroll to end)"),
    (r"^(?:ignore|exclude|skip)\s+(?:the\s+)?(date|time|number)\s+changes$", r"Exclude \1s"),
    # noise
    (rf"^monitor\s+(.+?)(?:\s+changes)?\s+{_EXCEPT}\s+{_NOISE}{_OF_ALL}$", r'Monitor \1 Exclude regex "904"'),
    (rf"^monitor\s+(.+?)(?:\s+changes)?\s+{_EXCEPT}\s+{_NOISE}{_OF_STAMPS}$", r'Monitor \1 Exclude regex "903"'),
    (rf"^monitor\s+(.+?)(?:\s+changes)?\s+{_EXCEPT}\s+{_NOISE}{_OF_DATES}$", r'Monitor \1 Exclude regex "900"'),
    (rf"^monitor\s+(.+?)(?:\s+changes)?\s+{_EXCEPT}\s+{_NOISE}{_OF_TIMES}$", r'Monitor \1 Exclude regex "901"'),
    (rf"^monitor\s+(.+?)(?:\s+changes)?\s+{_EXCEPT}\s+{_NOISE}{_OF_NUMBERS}$", r'Monitor \1 Exclude regex "902"'),
    (rf"^(?:ignore|exclude|skip|remove|{_EXCEPT})\s+{_NOISE}{_OF_ALL}$", 'Exclude regex "904"'),
    (rf"^(?:ignore|exclude|skip|remove|{_EXCEPT})\s+{_NOISE}{_OF_STAMPS}$", 'Exclude regex "903"'),
    (rf"^(?:ignore|exclude|skip|remove|{_EXCEPT})\s+{_NOISE}{_OF_DATES}$", 'Exclude regex "900"'),
    (rf"^(?:ignore|exclude|skip|remove|{_EXCEPT})\s+{_NOISE}{_OF_TIMES}$", 'Exclude regex "901"'),
    (rf"^(?:ignore|exclude|skip|remove|{_EXCEPT})\s+{_NOISE}{_OF_NUMBERS}$", 'Exclude regex "902"'),
    # what is compared
    (
        (
            r"^compare\s+(?:with|to|against)?\s*(?:the\s+|my\s+|its\s+)?(?:version\s+|one\s+)?(?:i\s+"
            r"(?:was\s+)?)?(?:last\s+|lately\s+|previously\s+)?(?:one\s+|version\s+)?(?:notified|"
            r"reported|seen|read|told|sent|confirmed|approved|acknowledged|accepted)\b.*$"
        ),
        "Compare first -- and Confirm NAME after a message",
    ),
    (
        (
            r"^compare\s+(?:with|to|against)?\s*(?:the\s+|an?\s+|its\s+)?(?:first|original|oldest|"
            r"initial|baseline|reference|base)(?:\s+(?:version|one|page|text|state|snapshot))?$"
        ),
        "Compare first",
    ),
    (
        (
            r"^compare\s+(?:with|to|against)?\s*(?:the\s+|an?\s+|its\s+)?(\d+)(?:st|nd|rd|th)?\s+"
            r"(?:versions?\s+)?(?:ago|back|before|earlier|previous)(?:\s+versions?)?$"
        ),
        r"Compare moving \1",
    ),
    (
        (
            r"^compare\s+(?:(?:with|to|against)\s+)?(?:the\s+|an?\s+|its\s+)?(?:last|latest|previous|"
            r"prior|preceding|old|older|newest)?\s*(?:version|one|page|check|text|state|snapshot|"
            r"previous|last)s?(?:\s+before)?$"
        ),
        "Compare pairwise",
    ),
    # several wishes in one, and steps of other programs
    (r"\s*,\s*$", ""),
    (r"^(.*\busing\s+https?://\S+)\s+(?:and|&)\s+(?=https?://)", r"\1, "),
    (
        (
            r"^filter\s+(css|xpath|jsonpath)\s+(\"\d+\")\s+(?:remove|exclude|ignore|without)\s+(css|"
            r"xpath|jsonpath)\s+(?=\")"
        ),
        r"Select \1 \2 Exclude \3 ",
    ),
    (r"^(?:filter|only|extract|element)\s+(css|xpath|jsonpath)\s+(?=\")", r"Select \1 "),
    (r"^(?:remove|without|drop|strip)\s+(css|xpath)\s+(?=\")", r"Exclude \1 "),
    (r"^(.*\bmonitor\s+table)\s+row\s+(\d+)$", r'\1 in css "tr:nth-child(\2)"'),
    (r"^extract\s+(?:regex|pattern|with\s+regex)?\s*(?=\")", "Monitor regex "),
    (r"^(?:wait|delay|sleep)(?:\s+for)?\s+(\d+)\s*(?:s|secs?|seconds?)?$", r"Render browser steps (wait \1 s)"),
    (
        (
            r"^(?:render\s+|with\s+|use\s+|using\s+|in\s+)?(?:an?\s+|the\s+)?(?:browser|javascript|js|"
            r"chrome|chromium|playwright|selenium)\s*,?\s*(?:and\s+)?(?:then\s+)?wait(?:ing|s)?(?:\s+"
            r"(?:for|until))?\s+(?:the\s+)?(?:element\s+|selector\s+|css\s+)?(\"\d+\")(?:\s+"
            r"(?:appears|is\s+there|loads|is\s+visible))?$"
        ),
        r"Render browser steps (wait for \1)",
    ),
    (
        (
            r"^(?:render\s+|with\s+|use\s+|using\s+|in\s+)?(?:an?\s+|the\s+)?(?:browser|javascript|js|"
            r"chrome|chromium|playwright|selenium)\s*,?\s*(?:and\s+)?(?:then\s+)?wait(?:ing|s)?(?:\s+"
            r"for)?\s+(\d+)\s*(?:s|secs?|seconds?)?$"
        ),
        r"Render browser steps (wait \1 s)",
    ),
    (
        (
            r"^(?:render\s+(?:browser\s+)?)?(?:wait(?:ing)?|delay)\s+(?:for|until)\s+(?:the\s+)?(?:element\s+|"
            r"selector\s+|css\s+)?(\"\d+\")(?:\s+(?:appears|is\s+there|loads|is\s+visible))?$"
        ),
        r"Render browser steps (wait for \1)",
    ),
    (
        rf"^(?P<point>from|to|until|till)\s+(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th)?\s+{_MONTH},?\s+(?P<year>\d{{4}})$",
        _date,
    ),
    (rf"^(?P<point>from|to|until|till)\s+{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})$", _date),
    # a login
    (
        (
            r"^login\s+(?:form\s+|at\s+|on\s+|via\s+|page\s+)*(https?://\S+|\"\d+\"(?=.*\buser))\s+"
            r"(?:with\s+|as\s+)?user(?:name)?\s*[:=]?\s*(\"\d+\"|[\w.+@-]+)\s*,?\s*(?:and\s+|"
            r"with\s+)*pass(?:word|wd)?\s*[:=]?\s*(?:secret\s+(\"\d+\")|\$\{?(\w+)\}?|\S+)$"
        ),
        lambda m: _login_at(m[1], m[2], m[3] or f'"{m[4] or "NAME"}"'),
    ),
    (
        (
            r"^(?:(?:login|log\s*-?in|sign\s*-?in|logged\s+in|with\s+login|auth(?:enticate)?|"
            r"with)(?:\s+(?:with|as|by|using))?\s+|(?=user))(?:user(?:name)?|login|account|"
            r"name)?\s*[:=]?\s*(\"\d+\"|[\w.+-]+(?:@[\w.-]+)?)\s*,?\s*(?:and\s+|"
            r"with\s+)*(?:the\s+)?pass(?:word|wd)?\s*[:=]?\s*(?:from\s+)?(?:(?:secret|"
            r"env)\s+)?(?:\$\{?(\w+)\}?|(\"\d+\")|(\S+))$"
        ),
        _login,
    ),
    (
        (
            r"^(?:login|log\s*-?in|sign\s*-?in)(?:\s+(?:with|as|by|using))?\s+"
            r"(\"\d+\")\s*[,:/]?\s*(?:and\s+|with\s+)?\"\d+\"$"
        ),
        r'Login form https://example.org/login user \1 password secret "NAME"',
    ),
    (
        r"^(?:login|log\s*-?in|sign\s*-?in)(?:\s+(?:with|using|via|by|first|required))*(?:\s+\"\d+\")?$",
        'Login form https://example.org/login user "NAME" password secret "NAME"',
    ),
    (
        (r"^(?:http\s+|with\s+|use\s+)?(?:basic(?:\s*-?\s*auth\w*)?|auth\w*|bearer|token)\s*:?\s+" r"\S.*$"),
        'Header "Authorization" secret "NAME"',
    ),
    (r"^click\s+(?:on\s+)?(?:element\s+|selector\s+|button\s+)?(\"\d+\")$", r"Render browser steps (click \1)"),
    (r"^(?:type|fill)\s+(\"\d+\")\s+(?:with\s+|into\s+)?(\"\d+\")$", r"Render browser steps (fill \1 with \2)"),
    (
        r"^render\s+browser\s+(?:steps\s+)?\(?\s*((?:click|fill|wait|press|scroll)\b[^()]*)\)?$",
        r"Render browser steps (\1)",
    ),
    (
        (
            r"^(?:fetch\s+)?(?:backend|browser|method|engine)\s*:?\s*(?:playwright|webdriver|selenium|"
            r"browser|chrome|html_webdriver)$"
        ),
        "Render browser",
    ),
    (
        r"^notify\s+(?:me\s+)?at\s+most\s+once\s+(?:per|a|an|every)\s+(day|hour|week)$",
        r"Notify by email you@example.org max 1 per 1 \1",
    ),
    (
        r"^(?:notification\s+|notify\s+)?format\s*:?\s*(?:markdown|html|text|plain)$",
        r'Notify by email you@example.org with text "{{diff}}"',
    ),
    (r"^only\s+(?:added|new)\s+(?:lines?|text|words|content)$", "Monitor all words inserted"),
    (r"^only\s+(?:removed|deleted|gone)\s+(?:lines?|text|words|content)$", "Monitor all words deleted"),
    (
        (r"^(?:keep|only|filter)\s+(?:only\s+)?lines?\s+(?:with|containing|matching)\s+" r"/([^/]+)/\w*$"),
        r'Transform keep lines regex "\1"',
    ),
    (r"^sort(?:\s+(?:the\s+)?lines?)?$", "Transform sort lines"),
    (
        (r"^(?:remove|drop|ignore|without|unique)\s+duplicat(?:e|ed)s?(?:\s+lines?)?$|^unique\s+" r"lines?$"),
        "Transform unique lines",
    ),
    (
        (
            r"^(?:ignore|exclude|skip)\s+(?:white\s*-?space|blanks|spaces|blank\s+lines|empty\s+lines|"
            r"markup|html|formatting|styles?)$"
        ),
        "Monitor all words",
    ),
    (r"\bin\s+script\s+(\"\d+\")\s+(jsonpath\s+\"\d+\")(.*)$", r"in \2\3 Select css \1"),
    (r"\bin\s+script\s+(?=jsonpath\b)", "in "),
    (r"^case\s*-?\s*(?:in)?sensitive$|^(?:ignore|exclude)\s+(?:upper|letter)\s*-?case$", "Ignore case"),
    # a condition without Monitor
    (
        (
            r"^(?:trigger|alert|notify|tell|inform|message|warn|ping|email|mail)(?:\s+me)?\s+(?:only\s+)?(?:if|"
            r"when|once|on|for)\s+(?:the\s+|a\s+|an\s+|there\s+(?:is|are)\s+)?(?!event|demand|\d|mon|tue|wed|thu|"
            r"fri|sat|sun|week)"
        ),
        "Monitor ",
    ),
    (
        (
            r"^(?:only\s+)?(?:if|when|once)\s+(?:the\s+|a\s+|an\s+)?(?=price|number|text|words?|links?|images?|"
            r"items?|keywords?|phrases?|availability|status|table|list|page|stock|\")"
        ),
        "Monitor ",
    ),
    (r"^trigger(?:\s+(?:on|text|word))?\s+(?=\")", "Monitor phrase "),
    (r"^(?=(?:price|number|text|links|images|items|keywords?|phrases?|availability|status)(?:\s|$))", "Monitor "),
    # when: an interval and its hours, the writing of cron, and a zone
    (
        (
            r"^(?P<fetch>fetch\s+(?:every\s+)?\d+\s*[a-z]+|fetch\s+(?:hourly|on\s+change|every\s+"
            rf"(?:hour|minute)))\s*,?\s+(?:but\s+)?(?:only\s+)?(?:on\s+)?(?P<first>{_DAYS}\s+)?(?:only"
            rf"\s+)?(?:from\s+|between\s+|within\s+|during\s+)?(?P<start>{_CLOCK})\s*(?:-|–|to|and|"
            rf"until|till)\s*(?P<end>{_CLOCK})\s*,?\s*(?:only\s+)?(?:on\s+)?(?P<days>{_DAYS})?$"
        ),
        _apply_hours,
    ),
    (
        (
            r"^(?P<fetch>fetch\s+(?:every\s+)?\d+\s*[a-z]+|fetch\s+(?:hourly|on\s+change|every\s+"
            r"(?:hour|minute)))\s*,?\s+(?:but\s+)?(?:only\s+)?(?:(?:on|"
            rf"at)\s+)?(?:the\s+)?(?P<days>{_DAYS})(?:\s+only)?$"
        ),
        _apply_hours,
    ),
    (
        (
            r"^(fetch\s+(?:every\s+)?\d+\s*[a-z]+|fetch\s+(?:hourly|every\s+(?:hour|minute)))\s*,?\s+"
            r"(?:only\s+)?(?:in|during|within)\s+(?:the\s+)?(?:working|office|business|work)\s+hours$"
        ),
        r"\1 During mon-fri 09:00 to 17:00",
    ),
    (
        (
            r"^(fetch\s+(?:every\s+)?\d+\s*[a-z]+|fetch\s+(?:hourly|every\s+(?:hour|minute)))\s*,?\s+"
            r"(?:only\s+)?(?:by|during|in|at)\s+(?:the\s+)?day(?:time)?$"
        ),
        r"\1 During daily 08:00 to 20:00",
    ),
    (
        (
            r"^fetch\s+(?:when(?:ever)?|if|as\s+soon\s+as|as\s+often\s+as|after|once|upon)\s+(?:it|"
            r"the\s+page|the\s+site|page|there\s+is\s+a|a|an|any(?:thing)?|something)?\s*(?:changes?|"
            r"changed|is\s+updated|updates?|update)$"
        ),
        "Fetch on change",
    ),
    (r"^fetch\s+(?:as\s+needed|when\s+(?:needed|necessary)|adaptive\w*|whenever)$", "Fetch on change"),
    (r"^fetch\s+on\s+(?:(?:every|each|any|a|page)\s+)*(?:changes?|updates?)$", "Fetch on change"),
    (
        (
            rf"^((?:fetch|notify)\b.*\d\S*(?:\s?[ap]m|\s+(?:s|min(?:utes?)?|hours?|days?|weeks?))?(?:\s+(?:daily|{_DAYS}))?)\s+"
            r"(?:in\s+)?(?:the\s+)?(?:time\s*zone\s+|tz\s+)?\(?([a-z]+/[a-z_]+(?:/[a-z_]+)?|"
            rf"{'|'.join(_ZONES)})\)?(?:\s+(?:time|time\s*zone))?$"
        ),
        lambda m: f"{m[1]} Zone {_ZONES.get(m[2].lower(), m[2])}",
    ),
    (r"^during\s+(?:the\s+)?(?:working|office|business|work|opening)\s+hours$", "During mon-fri 09:00 to 17:00"),
    (r"^during\s+(?:the\s+)?day(?:time|s)?$", "During daily 08:00 to 20:00"),
    (r"^during\s+(?:the\s+)?nights?$", "During daily 22:00 to 06:00"),
    (r"^during\s+(?:the\s+)?(?:working\s+)?week$", "During mon-fri"),
    # a synonym of a clause
    (
        (
            r"^(?:check|fetch|poll)\s+(?:every\s+|on\s+|only\s+|only\s+on\s+)*((?:mon|tue|wed|thu|fri|sat|sun|"
            r"week|daily)[\w-]*)?\s*(?:only\s+)?(?:between\s+|from\s+)?(\d{1,2}(?::\d\d)?(?:\s?[ap]m)?)\s*(?:-|to|"
            r"and|until)\s*(\d{1,2}(?::\d\d)?(?:\s?[ap]m)?)$"
        ),
        lambda m: f"During {m[1] or 'daily'} {m[2]} to {m[3]}",
    ),
    (
        (
            r"^(?:with|use|using|enable|run|execute)\s+(?:a\s+|the\s+)?(?=javascript|js\b|browser|chrome|chromium|"
            r"playwright|selenium|rendering)"
        ),
        "Render ",
    ),
    (r"^(?:javascript|js|browser|rendering)\s*:?\s*(?:on|yes|true|enabled)?$", "Render browser"),
    (
        (
            r"^(ignore|exclude|skip|remove|drop|filter\s+out)\s+(?:all\s+)?lines?\s+(?:with|containing|matching|"
            r"that\s+(?:contain|match))\s+(?:text\s+|regex\s+)?/([^/]+)/\w*$"
        ),
        r'Transform drop lines regex "\2"',
    ),
    (
        (
            r"^(ignore|exclude|skip|remove|drop|filter\s+out)\s+(?:all\s+)?lines?\s+(?:with|containing|"
            r"that\s+contain)?\s*(?=\")"
        ),
        "Transform drop lines ",
    ),
    (r"^(?:keep|only|filter)\s+(?:only\s+)?lines?\s+(?:with|containing|matching)?\s*(?=\")", "Transform keep lines "),
    (r"^(?:ignore|exclude|skip)\s+(?:text\s+)?/([^/]+)/\w*$", r'Exclude regex "\1"'),
    (r"^(?:ignore|exclude|skip)\s+regexp?\s+([^\"\s][^\"]*)$", r'Exclude regex "\1"'),
    (
        (
            r"^(?:ignore|exclude|skip|remove|without|except|strip|drop)\s+(?:the\s+)?(?:elements?|selectors?|"
            r"tags?|parts?|nodes?)\s*:?\s+(?=\")"
        ),
        "Exclude css ",
    ),
    (
        (
            r"^(?:check|poll|refresh|interval|schedule|visit|load|look)\s+(?=every|at|on|\d|daily|"
            r"hourly|weekly|monthly|once|twice)"
        ),
        "Fetch ",
    ),
    (r"^(?=every\b|(?:daily|hourly|weekly|monthly)$|twice\b|once\b|at\s+\d)", "Fetch "),
    (r"^(?:tag|label|labels|group|groups|category|tagged)\s*:?\s+", "Tags "),
    (
        (
            r"^(from|start|starting|begin|beginning)\s+(?:on\s+|from\s+)?(?:today|this\s+(?:day|"
            r"moment)|right\s+now|immediately|at\s+once|(?:the\s+)?beginning)(?:\s+on)?$"
        ),
        "From now",
    ),
    (r"^(?:from|start|starting|begin|beginning)\s+(?:on\s+|from\s+)?tomorrow(?:\s+on)?$", "From now + 1 day"),
    (
        (r"^(?:from|start|starting|begin|beginning)\s+(?:on\s+|from\s+)?next\s+(week|day)(?:\s+" r"on)?$"),
        r"From now + 1 \1",
    ),
    (r"^(?:from|start|starting|begin|beginning)\s+in\s+(\d+\s+\w+)$", r"From now + \1"),
    (
        (
            r"^(to|until|till|for)\s+(?:the\s+)?(?:next\s+|coming\s+|following\s+)?(?:an?|"
            r"one)?\s*(?=(?:hour|day|week|month)$)"
        ),
        r"For 1 ",
    ),
    (
        (
            r"^(?:to|until|till|for|end(?:ing|s)?|expires?)\s+(?:in\s+|after\s+|only\s+|about\s+|"
            r"today\s*\+\s*|now\s*\+\s*)?(?:the\s+)?(?:next\s+|coming\s+|following\s+|"
            r"another\s+)?(\w+)\s+((?:second|minute|min|hour|day|week|month|year)s?)(?:\s+(?:only|"
            r"long|from\s+now|from\s+today|later|on))?$"
        ),
        r"For \1 \2",
    ),
    (r"^(?:to|until|till)\s+tomorrow$", "To now + 1 day"),
    (r"^(?:starting|start|begin|since|after)\s+(?:on\s+|from\s+)?(?=\d|now)", "From "),
    (r"^(?:stop|end|ending|ends|before|till)\s+(?:on\s+|at\s+)?(?=\d)", "To "),
    (r"^(?:time\s*zone|timezone|tz)\s+", "Zone "),
    (r"^(?:between|only\s+between|from)\s+(\d+:\d\d)\s+(?:and|to)\s+(\d+:\d\d)$", r"During daily \1 to \2"),
    (r"^(?:only\s+on|only|on|hours)\s+(?=(?:mon|tue|wed|thu|fri|sat|sun|week|daily|\d))", "During "),
    (r"^(?:priority|weight|important|importance)\s+(\w+)$", lambda m: f"Importance {_WORTH.get(m[1].lower(), m[1])}"),
    (r"^importance\s+(\d+)\s*%$", lambda m: f"Importance {int(m[1]) / 100:g}"),
    (
        (
            r"^(?:keep|history|retain|retention|store)\s+(?:of\s+|only\s+|history\s+|keep\s+|the\s+)*(?:last|"
            r"latest|newest|history)?\s*(?:of\s+)?(\d+)\s*(?:changes|versions|copies|snapshots)?$"
        ),
        r"ChangeHistory \1",
    ),
    (
        (
            r"^(?:keep|history|retain|retention|store)\s+(?:of\s+|only\s+|history\s+|the\s+|keep\s+|"
            r"for\s+)*(?:last|latest|newest)?\s*(?:of\s+)?(\d+\s*\w+)$"
        ),
        r"ChangeHistory \1",
    ),
    (r"^render\s+(?:with\s+|using\s+|in\s+)?(?:rendering|playwright|selenium|js\b|javascript)", "Render browser"),
    (
        (
            r"^render\s*(?:with|using|in|by)?\s*(?:chrome|chromium|(?:a\s+|the\s+)?browser|"
            r"yes|true|on)?(?:\s+(?:on|yes|true))?$"
        ),
        "Render browser",
    ),
    (r"^(?:http\s+)?headers?\s*:?\s+(\"[^\"]*\")$", r"Header \1"),
    (r"^user[- ]?agent\s*:?\s+(\")", r'Header "User-Agent" \1'),
    (r"^cookies?\s*:?\s+(\")", r'Header "Cookie" \1'),
    (r"^timeout\s+(\d+)$", r"Timeout \1 s"),
    (r"^(?:ignore|exclude|skip|without)\s+(?:all\s+)?(links|images)$", r"Monitor any change AND NOT all \1"),
    (
        (r"^(?:ignore|exclude|skip|remove|without|except)\s+(?:text\s+|word\s+|element\s+|" r"selector\s+)?(\"[.#\[])"),
        r"Exclude css \1",
    ),
    (r"^(?:ignore|exclude|skip|remove|without|except)\s+(?:text\s+|word\s+)?(\")", r"Exclude \1"),
    (
        r"^(?:ignore|exclude|skip|remove|without|except)\s+(?:the\s+)?([.#][\w-]+|header|footer|nav|aside)$",
        r'Exclude css "\1"',
    ),
    (
        (
            rf"^(?:ignore|exclude|skip|remove|without|except)\s+(?!css|xpath|jsonpath|regex|words|"
            rf"hidden|none|case$|the$|(?:{_DAYS}|nights?|{_TYPES}|status)$)(\w+)$"
        ),
        r'Exclude "\1"',
    ),
    (r"^(?:select|only|selector|part|element|section)\s+(?:id|#)\s*\"", 'Select css "#'),
    (r"^(?:select|only|selector|part|element|section|css|filter)\s*:?\s+(\")", r"Select \1"),
    (r"^(?:select|only|selector)\s+([.#][\w-]+)$", r'Select css "\1"'),
    # whom to notify
    (r"^(?:notify|alert|tell|inform|mail|email|e-mail|message|send)\s+me$", "Notify by dashboard"),
    (
        (r"^(?:alert|tell|inform|message|send(?:\s+(?:to|mail|email|it))*|notification|" r"notifications)\s+(?=\S)"),
        "Notify ",
    ),
    (r"^(?:e-?mail|mail)\s+(?:me\s+)?(?:at\s+|to\s+)?(?=\S+@)", "Notify by email "),
    (r"^(?:webhook|post|call)\s+(?:to\s+)?(?=https?://)", "Notify by webhook "),
    (r"^(notify)\s+(?:me|us|him|her|them)\s+", r"\1 "),
    (
        (
            r"^(notify\s+)(?:by\s+|via\s+|with\s+)?(?:slack|discord|telegram|teams|pushover|ntfy|gotify|matrix|"
            r"mattermost|webhook)\s+(?=\"|\w+://|secret)"
        ),
        r"\1by ",
    ),
    (r"^(notify)\s+(?:via|with|to|using|at|on|through|in)\s+(?!\d)", r"\1 by "),
    (r"^(notify\s+(?:by\s+)?)(?:mail|e-mail)(?:\s+(?:to|at))?\s+", r"\1email "),
    (r"^(notify\s+(?:by\s+)?)(?:email)\s+(?:to|at)\s+", r"\1email "),
    (r"^(notify\b.*\S)\s+(?:and|&)\s+(?=\S+@|https?:|email|webhook|console|feed|stream|dashboard)", r"\1, "),
    (
        r"^quiet(?:\s+(?:hours?|time|period))?\s*:?\s*" + _SPAN + "$",
        lambda m: f"Notify by email you@example.org quiet {_clock(m[1])} to {_clock(m[2])}",
    ),
    (
        r"^(?:no|without)\s+(?:messages?|notifications?|mails?|emails?|alerts?)\s+(?:in\s+)?" + _SPAN + "$",
        lambda m: f"Notify by email you@example.org quiet {_clock(m[1])} to {_clock(m[2])}",
    ),
    (
        r"^(?:do\s+not\s+disturb|dnd|silent|silence|mute)\s*:?\s+" + _SPAN + "$",
        lambda m: f"Notify by email you@example.org quiet {_clock(m[1])} to {_clock(m[2])}",
    ),
    (
        (
            r"^(notify\b.*\S)\s+(?:(?:with\s+)?(?:an?\s+)?limit(?:ed)?\s*(?:of|to|:)?|no(?:t)?\s+"
            r"more\s+than|up\s+to|at\s+most|max(?:imum)?(?:\s+of)?|only)\s+(\w+)\s*(?:x|times|"
            r"messages?|mails?|e-?mails?|notifications?|alerts?)?\s*(?:per|a|an|each|every|/)\s*(day|"
            r"hour|week)$"
        ),
        lambda m: f"{m[1]} max {_NUMBERS.get(m[2].lower().replace('once', 'one'), m[2])} per 1 {m[3].lower()}",
    ),
    (
        (
            r"^(notify\b.*?\S)\s*,?\s+(?:once|one\s+(?:mail|email|message|digest|summary))\s+(?:a|per|"
            r"each|every)\s+(day|week)$"
        ),
        lambda m: f"{m[1]} {'daily' if m[2].lower() == 'day' else 'weekly'}",
    ),
    (
        (
            r"^(notify\b.*?\S)\s*,?\s+(?:daily|(?:once|one\s+(?:mail|email|message))\s+(?:a|per|each|"
            rf"every)\s+day|every\s+day)\s+(?:at\s+)?({_CLOCK})$"
        ),
        lambda m: f"{m[1]} at {_clock(m[2])} daily",
    ),
    (
        (
            r"^(notify\b.*?\S)\s*,?\s+(?:with\s+|and\s+|but\s+)?(?:quiet(?:\s*-?\s*(?:hours?|time|"
            r"period))?|silen(?:t|ce)(?:\s+(?:hours?|time))?|do\s+not\s+disturb|dnd|muted?|pause|not|"
            r"never|no\s+(?:messages?|mails?|emails?|notifications?|alerts?)|except)\s*:?\s*(?:at\s+|"
            r"in\s+)?"
        )
        + _SPAN
        + "$",
        lambda m: f"{m[1]} quiet {_clock(m[2])} to {_clock(m[3])}",
    ),
    (
        (
            r"^(notify\b.*?\S)\s*,?\s+(?:but\s+)?(?:not|never|except|quiet|silent|no\s+(?:messages?|"
            r"mails?))\s+(?:at|by|in|during)?\s*(?:the\s+)?night$"
        ),
        r"\1 quiet 22:00 to 07:00",
    ),
    (
        (
            r"^(notify\b.*?\S)\s*,?\s+(?:as\s+|in\s+|with\s+|by\s+)?(?:an?\s+|one\s+|the\s+)?(daily|"
            r"hourly|weekly)\s+(?:digest|summary|report|e?-?mail|message|newsletter|overview|"
            rf"bulletin)(?:\s*,?\s*(?:at\s+)?({_CLOCK})(?:\s+daily)?)?$"
        ),
        lambda m: f"{m[1]} at {_clock(m[3])} daily" if m[3] else f"{m[1]} {m[2]}",
    ),
    (
        (
            r"^(notify\b.*?\S)\s*,?\s+(?:as\s+|in\s+|with\s+)?(?:an?\s+|one\s+|the\s+)?(?:digest|"
            r"summary|report|overview)(?:\s+(?:mail|email))?\s+(?:daily\s+|every\s+day\s+|each\s+"
            rf"day\s+)?(?:at\s+)?({_CLOCK})(?:\s+daily|\s+every\s+day)?$"
        ),
        lambda m: f"{m[1]} at {_clock(m[2])} daily",
    ),
    (
        (
            r"^(notify\b.*?\S)\s*,?\s+(?:as\s+|in\s+)?(?:an?\s+|one\s+)?(?:weekly\s+)?(?:digest|"
            rf"summary|report)\s+(?:every\s+|each\s+|on\s+)({_DAYS})(?:\s+(?:at\s+)?({_CLOCK}))?$"
        ),
        lambda m: f"{m[1]} at {_clock(m[3] or '08:00')} {_days(m[2])}",
    ),
    (
        (r"^(notify\b.*?\S)\s*,?\s+(?:every|each)\s+(?:morning|evening|night|day)\s+" rf"(?:at\s+)?({_CLOCK})$"),
        lambda m: f"{m[1]} at {_clock(m[2])} daily",
    ),
    (
        (
            r"^(notify\b.*?\S)\s*,?\s+(?:with\s+)?(?:the\s+|an?\s+|my\s+)?(?:subject|"
            r"title)\s*[:=]?\s*(\"\d+\")(?:\s+(?:and\s+)?(?:text|body|message)\s*[:=]?\s*(\"\d+\"))?$"
        ),
        lambda m: f"{m[1]} with title {m[2]}{f' text {m[3]}' if m[3] else ''}",
    ),
    (
        (
            r"^(notify\b.*?\S)\s*,?\s+(?:with|saying|say|using)?\s*(?:the\s+|an?\s+|my\s+)?(?:message|"
            r"text|body|template|format|content|words)?\s*[:=]?\s*(?<=[\s:=])(\"\d+\")$"
        ),
        lambda m: (
            f"{m[1]} with text {m[2]}"
            if not re.search(r"\bwith (?:title|text) ", m[1])
            and not re.search(rf"\b(?:secret|title|text)$|{_NO_RECEIVER}", m[1], re.IGNORECASE)
            else m[0]
        ),
    ),
    (
        (
            rf"^(notify\b.*?\S)\s*,?\s+(?:only\s+)?(?:from\s+|between\s+)({_CLOCK})\s*(?:-|to|and|"
            rf"until)\s*({_CLOCK})(?:\s+only)?$"
        ),
        lambda m: m[0] if " quiet" in m[0].lower() else f"{m[1]} quiet {_clock(m[3])} to {_clock(m[2])}",
    ),
    (r"^(notify\b.*\b)(?:instantly|immediately|at\s+once|now|asap)$", r"\1immediate"),
    (r"^(notify\b.*\bquiet)\s+(?:from|between)\s+(\S+)\s+(?:to|and)\s+", r"\1 \2 to "),
    (r"^(notify\b.*\bquiet\s+\d+:\d\d)\s*-\s*(?=\d)", r"\1 to "),
    (
        (r"^(notify\b.*\b)(?:at\s+most|max(?:imum)?)\s+(\d+)\s*(?:x|times)?\s*(?:per|a|an)\s+(day|" r"hour|week)$"),
        r"\1max \2 per 1 \3",
    ),
    (r"^(notify\b.*\b)(?:as\s+)?(?:a\s+)?(?:daily\s+digest|digest)$", r"\1daily"),
    # times
    (r"\b(\d+)\s*(?:x|times)\s*(?:a|per|each|every)?\s*(day|hour|week)\b", _times_a_day),
    (r"\btwice\s+(?:a\s+|per\s+|each\s+)?(?:day|daily)\b", "every 12 hour"),
    (r"\btwice\s+(?:a|an|per)\s+hour\b", "every 30 min"),
    (r"\bonce\s+(?:a|an|per|every|each)\s+(month|quarter|year)\b", r"every 1 \1"),
    (r"\bonce\s+(?:a|an|per|every|each)\s+(day|hour|week|minute)\b", r"every 1 \1"),
    (r"\bevery\s+(?:other|second)\s+(day|hour|week|minute)\b", r"every 2 \1"),
    (r"\b(?:every\s+)?half\s+(?:an\s+)?hour(?:ly)?\b", "every 30 min"),
    (r"\b(?:fortnightly|biweekly)\b", "every 2 week"),
    (r"\b(?:monthly|every\s+month)\b", "every 30 day"),
    (r"\b(?:yearly|annually|every\s+year)\b", "every 365 day"),
    (r"\b(?:every|each|in\s+the)\s+morning\b", "at 08:00 daily"),
    (r"\b(?:every|each|in\s+the)\s+(?:evening|afternoon)\b", "at 18:00 daily"),
    (r"\b(?:every|each|at)\s+(?:night|midnight)\b", "at 00:00 daily"),
    (r"\b(?:at|every)\s+noon\b", "at 12:00 daily"),
    (r"\bevery\s+minute\b", "every 1 min"),
    (r"\beach\s+(?=\d|day|hour|week|mon|tue|wed|thu|fri|sat|sun)", "every "),
    (
        (
            r"^(fetch)\s+(?:constantly|continuously|always|automatically|auto|smart|adaptive|"
            r"adaptively|often|as often as possible)$"
        ),
        r"\1 on change",
    ),
    (r"^(fetch)\s+(?:never|manually|manual|on request|when asked)$", r"\1 on demand"),
    (r"^(fetch)\s+(?=\d{1,2}(?::\d\d|\s?[ap]m))", r"\1 at "),
    (r"^(fetch)\s+(?:on\s+)?((?:mon|tue|wed|thu|fri|sat|sun|week)[\w-]*)(?:\s+(?=\d)|$)", r"\1 \2 at "),
    (r"^(fetch\s+\S+\s+at)\s*$", r"\1 08:00"),
    (
        r"\b(" + "|".join(_NUMBERS) + r")\b(?=\s+(?:second|minute|hour|day|week|month|year)s?\b)",
        lambda m: str(_NUMBERS[m[1].lower()]),
    ),
    (r"\b(\d+)\s*m(?:ins?)?\b(?!\s*in)", r"\1 min"),
    (r"\b(\d+)\s*hrs?\b", r"\1 hour"),
    (r"\b(\d+)\s*(month|quarter|year)s?\b", lambda m: f"{int(m[1]) * _DAYS_OF[m[2].lower()]} day"),
    (r"\b(?:all\s+day)\b", "00:00 to 24:00"),
    # changes
    (
        (
            r"^monitor\s+any\s+change\s+(?:only\s+)?(?:if|when|where|while)\s+(?:the\s+)?(?=(?:price|number|"
            r"keyword|availability)\b)"
        ),
        "Monitor ",
    ),
    (
        (r"^monitor\s+(?:for\s+)?(?:the\s+|a\s+|an\s+|if\s+(?:the\s+)?|when\s+(?:the\s+)?|" r"whether\s+(?:the\s+)?)"),
        "Monitor ",
    ),
    (
        (
            r"^monitor\s+(?:(?:whole|entire|full)\s+)?(?:page|everything|anything|all|site|website|"
            r"any|changes?|all\s+changes|any\s+changes|content)$"
        ),
        "Monitor any change",
    ),
    (r"^(monitor\s+)(?:selector|element|part|section|block|area)\s+(\")", r"\1css \2"),
    (r"^(monitor\s+)(?:in\s+)?([.#][\w-]+)", r'\1css "\2"'),
    (r"^(monitor\s+)(?:in\s+)(\")", r"\1css \2"),
    (r"^(monitor\s+)json\s+(?:path\s+)?", r"\1jsonpath "),
    (r"^(monitor\s+)(\")", r"\1phrase \2"),
    (r"^(monitor\s+)(?:the\s+)?(?:page\s+)?title\b", r'\1all words in css "title"'),
    (r"^(monitor\s+)(?:headlines?|headings?|headers?)$", r'\1all words in css "h1, h2, h3"'),
    (
        (
            r"^(monitor\s+)(?:new\s+)?(?:feed|rss|atom|entries|posts?|articles?|stories|episodes?|"
            r"releases?|events|jobs)$"
        ),
        r"\1items inserted",
    ),
    (r"^(monitor\s+)(?:new\s+|back\s+)?(?:in\s+)?(?:stock|restock|available)$", r'\1availability becomes "in stock"'),
    (r"^(monitor\s+)(?:out\s+of\s+stock|sold\s+out)$", r'\1availability becomes "out of stock"'),
    (r"^(monitor\s+)prices\b", r"\1price"),
    (r"^(monitor\s+)numbers\b", r"\1number"),
    (r"^(monitor\s+)tables\b", r"\1table"),
    (r"^(monitor\s+)lists\b", r"\1list"),
    (r"^(monitor\s+(?:new\s+|removed\s+|deleted\s+)?)(?:pictures|photos|pics|image)\b", r"\1images"),
    (r"^(monitor\s+(?:new\s+|removed\s+|deleted\s+)?)(?:urls?|hrefs?|link)\b", r"\1links"),
    (r"^(monitor\s+(?:new\s+|removed\s+|deleted\s+)?)(?:item|products?|entry|rows)\b", r"\1items"),
    (r"^(monitor\s+(?:new\s+|removed\s+|deleted\s+)?)(?:contents?|line|sentences?)\b", r"\1text"),
    (
        (
            r"^(monitor\s+(?:new\s+|removed\s+|deleted\s+)?(?:links|images|items))\s+(?:with\s+|"
            r"matching\s+|named\s+|called\s+|like\s+)?(\")"
        ),
        r"\1 containing \2",
    ),
    (
        (
            r"^monitor\s+(?:the\s+|any\s+of\s+(?:the\s+)?)?keywords?\s*:?\s+"
            r"([a-z][\w-]*(?:\s*(?:,\s*or\s+|,|\bor\b)\s*[a-z][\w-]*)+)$"
        ),
        lambda m: f"Monitor keywords <{', '.join(re.split(r'[, ]+(?:or +)?', m[1]))}>",
    ),
    (
        r"^monitor\s+words\s+(\"\d+\"(?:\s*(?:,\s*or|,|or)\s*\"\d+\")+)$",
        lambda m: f"Monitor {' OR '.join(f'keyword {text}' for text in re.findall(_SHELF, m[1]))}",
    ),
    (r"^(monitor\s+status)\s+(?:=|==|is|equals|code)\s*(?:=\s*)?(\"\d+\")$", r"\1 where matches \2"),
    (r"^(monitor\s+status)\s+(?:code|changes?|code\s+changes?)$", r"\1"),
    (
        (
            r"^(monitor\s+status)\s+(?:code\s+)?(?:(?:changes|turns|goes|switches|becomes)\s+(?:to|"
            r"into)\s+)?(?:code\s+)?(\d{3})$"
        ),
        r'\1 where matches "\2"',
    ),
    (
        (
            r"^(monitor\s+)(?:http\s+)?(?:status\s*-?\s*code|http\s+status|response\s+code|http\s+"
            r"code)\s*(?:=|==|is|becomes)?\s*(\d{3})$"
        ),
        r'\1status where matches "\2"',
    ),
    (
        (
            r"^(monitor\s+)(new\s+|removed\s+|deleted\s+)?(?:list|bullet)\s+(?:entries|entry|items?|"
            r"points?|elements?|lines?|rows?)$"
        ),
        lambda m: f"{m[1]}{m[2] or ''}items",
    ),
    (
        (r"^(monitor\s+)(?:new\s+)?(?:items?|entries|entry|elements?)\s+(?:in|of|on)\s+(?:the\s+|" r"a\s+)?list$"),
        r"\1items inserted",
    ),
    (
        (
            r"^(monitor\s+)(?:new\s+)?(?:list|bullet)\s+(?:entries|items?|points?|elements?)\s+"
            r"(?:only|appear|added)$"
        ),
        r"\1items inserted",
    ),
    (r"^(monitor\s+)(?:the\s+)?words?\s+(\")", r"\1keyword \2"),
    (r"^(monitor\s+)text\s+(\")", r"\1phrase \2"),
    (r"^(monitor\s+)(?:string|sentence)\s+(\")", r"\1phrase \2"),
    (r"^(monitor\s+)(?:pattern|regexp|re|match)\s+(\")", r"\1regex \2"),
    (r"^(monitor\s+)(keyword|phrase|word)\s+([A-Za-z]\w*)$", r'\1keyword "\3"'),
    (r"^(monitor\s+)(keywords|phrases|words)\s+([A-Za-z]\w*(?:\s*,\s*\w+)+)$", r"\1\2 <\3>"),
    (
        (
            r"^monitor\s+(?:any\s+(?:of\s+)?|one\s+of\s+)?(?:the\s+)?(?P<kind>keywords?|"
            r"phrases?)\s*:?\s+\(?(?P<texts>\"\d+\"(?:(?:\s*(?:,\s*(?:or|and)|,|or|and|&|\||"
            r"/))?\s*\"\d+\")+)\)?(?P<rest>(?:\s+(?:is\s+|are\s+)?(?:appears?|disappears?|inserted|"
            r"added|deleted|removed|gone|new)\b)?(?:\s+in\s+(?:css\s+|xpath\s+)?\"\d+\")?)(?=\s+or\s|\s+and\s|\s*,|$)"
        ),
        _each,
    ),
    (
        (
            rf"^(monitor\s+(?:new\s+)?(?:{_TYPES}))\s+(?:at\s+|of\s+|from\s+|inside\s+|"
            r"within\s+)?((?:css|xpath|jsonpath)\s+\")"
        ),
        r"\1 in \2",
    ),
    (r"^(monitor\s+(?:number|price))\s+(?:at\s+|of\s+|from\s+|inside\s+|within\s+)?(\")", r"\1 in \2"),
    (r"^(monitor\s+(?:table|list))\s+(?:at\s+|of\s+|from\s+|inside\s+|within\s+)(\")", r"\1 in \2"),
    (rf"^(monitor\s+(?:{_TYPES}))\s+(?:in|at|of|inside)\s+([.#][\w-]+)", r'\1 in css "\2"'),
    (r"\b(?:whenever|unless\s+not|as\s+long\s+as|provided(?:\s+that)?|so\s+long\s+as)\b", "while"),
    (r"\bwhere\s+(?:the\s+)?(?:text|title|name|address)\s+(?=contains|matches)", "where "),
    (r"\b(while|where|if|when)\s+(?:the\s+)?(?:site|text|it)\s+(?=has|says|contains|lacks|does)", r"\1 page "),
    (r"\b(while|where|if|when)\s+(?:the\s+)?page\s+(?:includes?|shows?|mentions?|contain|have)\b", r"\1 page has"),
    (r"\bunless\s+(?:the\s+)?page\s+(?:has|says|contains|shows|includes|mentions)\b", "while page lacks"),
    (r"\b(while|where|if|when)\s+(\")", r"\1 page has \2"),
    (r"\bunless\s+(\")", r"while page lacks \1"),
    (
        (
            r"\b(where|while|if|when|but)\s+(?:the\s+|its\s+)?(?:price|number|it|value\s+is)\s+(?=is|"
            r"becomes|drops|rises|below|above|[<>=!])"
        ),
        r"\1 ",
    ),
    (r"\b(?:goes|gets|falls|drops|sinks|comes|dips)\s+(?=(?:below|under|less|lower))", "becomes "),
    (r"\b(?:goes|gets|rises|climbs|comes|exceeds)\s+(?=(?:above|over|more|higher|greater))", "becomes "),
    (r"\b(?:reaches|hits|turns\s+to|turns)\s+(?=[-\d$€£\"])", "becomes "),
    (r"\b(?:is\s+)?(?:cheaper|smaller|fewer)\s+than\s+(?=[-\d$€£])", "below "),
    (r"\b(?:is\s+)?(?:bigger|larger|dearer)\s+than\s+(?=[-\d$€£])", "above "),
    (r"\b(drops|falls|rises|changes)\s+by\s+(?:at\s+least|minimum|a\s+minimum\s+of|min)\s+(?=\d)", r"\1 by "),
    (
        (
            r"^(monitor\s+.*?)\s+(?:whose|with|having)\s+(?:the\s+|a\s+)?(?:text|title|name|address|"
            r"url|label)\s+(?:contains|containing|includes|including|mentions|has|having|with)\s+"
            r"(\"\d+\")$"
        ),
        r"\1 containing \2",
    ),
    (r"\bexceeds\s+(?=[-\d$€£])", "becomes above "),
    (r"\b(?:drops|falls|goes\s+down|decreases)\s+to\s+(?=[-\d$€£])", "becomes at most "),
    (r"\b(?:rises|goes\s+up|increases|climbs)\s+to\s+(?=[-\d$€£])", "becomes at least "),
    (r"\b(?:goes\s+down|decreases?|declines?|gets\s+cheaper|drop(?!\s+lines)|fall)\b", "drops"),
    (r"\b(?:goes\s+up|increases?|gets\s+dearer|rise)\b", "rises"),
    (r"\b(drops|falls|rises|changes)\s+(?=more\s+than|[$€£]?\d)", r"\1 by "),
    (r"^(monitor\b.*\b(?:price|number)\b.*\s(?:drops|falls|rises))$", r"\1 by more than 0"),
    (r"\b(?:hits|reaches|makes|sets)\s+(?=(?:a\s+|the\s+|its\s+)?(?:new|all-time|record|lowest|highest))", "is "),
    (r"^(monitor\s+(?:price|number|text|words|links|images|table|list|items))\s+(?:changes?|changed)$", r"\1"),
    (
        (
            r"^(monitor\s+(?:price|number))\s+(?:changes?|changed)\s+(?:by\s+)?(?:>=?\s*|more\s+than\s+|"
            r"over\s+|at\s+least\s+)?(\d+(?:\.\d+)?\s?%?)$"
        ),
        r"\1 changes by more than \2",
    ),
    (r"(?<=\s)[$€£¥]\s?(?=\d)", ""),
    (r"(?<=\d)\s?(?:%|percent|per\s+cent)(?!\w)", "%"),
    (r"(?<=\d)\s?(?:[$€£¥]|(?:EUR|USD|GBP|CHF|JPY|AUD|CAD|SEK|NOK|DKK|PLN|CZK|euros?|dollars?|pounds?|bucks)\b)", ""),
    (r"(?<=[<>=\s])(\d{1,3}),(\d{3})\b", r"\1\2"),
    (r"^(to|from)\s+(\d{1,2})\.(\d{1,2})\.(\d{4})", lambda m: f"{m[1]} {m[4]}-{int(m[3]):02}-{int(m[2]):02}"),
    (
        r"^(tags\b.*)$",
        lambda m: re.sub(
            r"(?<=[\w\"])(?:\s+(?:and\s+)?|\s*;\s*)(?=[\w\"])", ", ", m[1].replace("Tags ", "Tags\x01", 1)
        ).replace("\x01", " "),
    ),
)

_SHELF = r'"\d+"'
"""A text in quotes, while a guess is rewritten."""


@cache
def _clauses() -> tuple[tuple[re.Pattern[str], Rewrite], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), rewrite) for pattern, rewrite in _CLAUSES)


@cache
def _statements() -> tuple[tuple[re.Pattern[str], Rewrite], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), rewrite) for pattern, rewrite in _STATEMENTS)


def lines_for(guess: str, *, is_statement: bool = False) -> Iterator[str]:
    """Yield possible meanings of a guess; the caller drops those that the grammar does not read.

    Args:
        guess: A clause or a statement that the grammar does not read.
        is_statement: Whether it is a statement.
    """
    text = " ".join(guess.split()).rstrip(" ;.")
    if not text or len(text) > LONGEST:
        return
    texts: list[str] = []
    guess = text
    if not is_statement:
        text = _BRACKETS.sub(r"\1 \2", _QUOTES.sub(r'"\1"', text))
        text = _CRON.sub(_read_cron, _SLASHED.sub(_unslash, _MATCHING.sub(_unslash, text)))

    def shelve(found: re.Match[str]) -> str:
        texts.append(found[0])
        return f'"{len(texts) - 1}"'

    shelf = _STRING.sub(shelve, text)
    meant = _rewrite(shelf, _statements() if is_statement else _clauses())
    line = re.sub(r'"(#?)(\d+)"', lambda found: _restore(found, texts), meant)
    line = re.sub(r'(?<= with )(?:title|text) ".*', _fill_in, line) if line.lower().startswith("notify") else line
    line = re.sub(r'^Header "([\w-]+): ?([^"]*)"$', _header, line)
    line = re.sub(r'^(Proxy|Zone) "([^\s"]+)"$', r"\1 \2", line, flags=re.IGNORECASE)
    line = re.sub(r'^(Notify .*?)"(\w+://[^"\s]+)"', r"\1\2", line)
    if line != guess and not _NO_SELECTOR.search(line):
        yield line


_QUOTES = re.compile(r"(?<=[\s,(\[])['‘“„«]([^'\"‘’“”„«»]*)['’”“»](?=[\s,)\]]|$)")
"""A text in quotes of another form."""
_NO_SELECTOR = re.compile(r'(?:\bcss|^Select|\bin) "(?!H[1-6]\b)[A-Z][\w \'-]*"')
"""A text that is a heading, where a selector would stand."""
_BRACKETS = re.compile(r"^(monitor\s+(?:keywords?|phrases?))\s*:?\s*[\[({]([^\]()}]*)[\])}]$", re.IGNORECASE)
"""A list in brackets."""
_SLASHED = re.compile(
    r"\b(monitor|regexp?|regular\s+expression|pattern|expression)\s*:?\s+/((?:[^/\\\"]|\\.)+)/([a-z]*)(?=\s|$)",
    re.IGNORECASE,
)
"""A pattern between slashes, and the word before it."""
_MATCHING = re.compile(
    (
        r"^(monitor\b.*?)\s(?:matching|that\s+match(?:es)?|which\s+match(?:es)?|matches|where\s+"
        r"matches)\s+(?:regexp?\s+|pattern\s+)?/((?:[^/\\\"]|\\.)+)/([a-z]*)(?=\s|$)"
    ),
    re.IGNORECASE,
)


def _unslash(found: re.Match[str]) -> str:
    """Return a pattern in quotes, with its flag i."""
    word, pattern, flags = found.groups()
    fold = "(?i)" if "i" in flags.lower() else ""
    pattern = pattern.replace("\\/", "/")
    lead = f"{word} regex" if word.lower() == "monitor" else "regex"
    lead = f"{word} matches" if found.re is _MATCHING else lead
    return f'{lead} "{fold}{pattern}"'


_PLACES = {
    **dict.fromkeys(("new", "added", "new_value", "after", "current"), "diff_added"),
    **dict.fromkeys(("old", "removed", "old_value", "before", "previous"), "diff_removed"),
    **dict.fromkeys(("url", "link", "address", "watch_url"), "watch_url"),
    **dict.fromkeys(("name", "title", "sentinel", "watch_title"), "watch_title"),
    **dict.fromkeys(("diff", "change", "changes", "text", "value", "price", "message"), "diff"),
    **dict.fromkeys(("time", "date", "when"), "detected_at"),
    "summary": "summary",
}
"""Names of placeholders that people write, and those of the language."""


def _fill_in(found: re.Match[str]) -> str:
    """Return the texts of a message with the placeholders of the language."""

    def name(hole: re.Match[str]) -> str:
        place = _PLACES.get(hole[1].lower())
        return f"{{{{{place}}}}}" if place else hole[0]

    return re.sub(r"(?:\{\{|\$\{|\{|%\(|%|\$)\s*(\w+)\s*(?:\}\}|\}|\)s|%)", name, found[0])


_CRON = re.compile(
    r"^(?:fetch|(?=cron|schedule))\s*(?:(?:by|on|with|at|using|"
    r"every)\s+)?(?:a\s+)?(?:(?:cron\w*|schedule|crontab)(?:\s+(?:schedule|expression|"
    r"job))?\s*:?\s*)?"
    r"\"?((?:[\d*][\d*/,-]*\s+){2}(?:[\d*][\d*/,-]*|\?)\s+[\d*][\d*/,-]*\s+(?:[\d*][\d*/,-]*|"
    r"\?|[a-z]{3}(?:[,-][a-z]{3})*)|@\w+)\"?$",
    re.IGNORECASE,
)
"""The five fields of cron, or a name such as @daily."""
_CRON_NAMES = {
    "@hourly": "Fetch every 1 hour",
    "@daily": "Fetch at 00:00 daily",
    "@midnight": "Fetch at 00:00 daily",
    "@weekly": "Fetch at 00:00 sun",
    "@monthly": "Fetch every 30 day",
    "@yearly": "Fetch every 365 day",
    "@annually": "Fetch every 365 day",
}
_WEEK = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")


def _read_cron(found: re.Match[str]) -> str:
    """Return the Fetch clause nearest to a schedule of cron; the text itself if there is none."""
    if found[1].startswith("@"):
        return _CRON_NAMES.get(found[1].lower(), found[0])
    minute, hour, day, _, week = found[1].lower().split()
    days = (
        re.sub(r"\d", lambda number: _WEEK[int(number[0]) % 7], week.replace(",", ", "))
        if week not in {"*", "?"}
        else ""
    )
    numbers = re.fullmatch(r"\d+(?:,\d+)*", hour)
    if day not in {"*", "?"}:
        return "Fetch every 30 day"
    if minute.isdigit() and numbers:
        times = ", ".join(f"{int(one):02}:{int(minute):02}" for one in hour.split(","))
        return f"Fetch at {times} {days or 'daily'}"
    every = _interval(minute, hour)
    if not every:
        return found[0]
    hours = re.fullmatch(r"(\d+)-(\d+)(?:/\d+)?", hour)
    span = f" {int(hours[1]):02}:00 to {(int(hours[2]) + 1) % 24:02}:00" if hours else ""
    return f"Fetch every {every}" + (f" During {days or 'daily'}{span}" if days or span else "")


def _interval(minute: str, hour: str) -> str:
    """Return the interval of a minute and an hour of cron, empty if they have none."""
    if minute == "*":
        return "1 min"
    if step := re.fullmatch(r"(?:\*|\d+(?:-\d+)?)/(\d+)", minute):
        return f"{step[1]} min"
    if step := re.fullmatch(r"(?:\*|\d+-\d+)(?:/(\d+))?", hour):
        return f"{step[1] or 1} hour"
    return ""


def _header(found: re.Match[str]) -> str:
    """Return a header with its value, or with a secret for a value that should not be in a
    statement.
    """
    if found[1].lower() in _SECRET_HEADERS or "$" in found[2]:
        return f'Header "{found[1]}" secret "NAME"'
    return f'Header "{found[1]}" "{found[2]}"'


def _restore(found: re.Match[str], texts: list[str]) -> str:
    if found[2] in _FIXED and not found[1]:
        return _FIXED[found[2]]
    number = int(found[2])
    if number >= len(texts):
        return found[0]
    return f'"#{texts[number][1:]}' if found[1] else texts[number]


def _rewrite(text: str, rules: tuple[tuple[re.Pattern[str], Rewrite], ...]) -> str:
    for pattern, rewrite in rules:
        text = pattern.sub(rewrite, text, count=1)
    return text


_ADDRESS = re.compile(r'"?\b(https?://[^\s"<>]+)"?', re.IGNORECASE)
_NAMED = (
    re.compile(r"\b(?:called|named|name|as)\s*[:=]?\s*(\"[^\"]+\"|[\w-]+)", re.IGNORECASE),
    re.compile(
        r"^(?:create|add|new|make)?\s*(?:a\s+)?(?:sentinel|watch|watcher|monitor|job|site|page)\s+"
        r"(?!for\b|on\b|the\b|a\b|page\b|feed\b|url\b|price\b|text\b|all\b|any\b)(\"[^\"]+\"|[\w-]+)(?=\s)",
        re.IGNORECASE,
    ),
)
_VERB = re.compile(
    (
        r"^(?:please\s+)?(?:create|add|new|make|watch(?:es|ing)?|monitor(?:s|ing)?|track|follow|"
        r"check|observe|sentinel)\b\s*"
    ),
    re.IGNORECASE,
)
_FILL = re.compile(
    (
        r"^(?:(?:and|with|on|at|of|from|for|in|that|watch(?:es|ing)|monitors|the|a|an|page|site|"
        r"website|url|link|address|using|to|it|if|,|:|=|-)(?:\s+|$|(?<=[,:=-])))+"
    ),
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r"(?:\s+|^)(?:(?:and|with|on|at|of|from|for|in|that|the|page|site|website|url|using|then|,|:|=)\s*)+$",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"(?<!\S)(?=(?:every|each|hourly|daily|weekly|once|twice|notify|alert|tell|email|e-mail|"
    r"mail|message|send|webhook|tag|tags|tagged|label|"
    r"select|exclude|ignore|without|except|fetch|check|during|render|header|between|only\s+(?:on|between))\b)",
    re.IGNORECASE,
)
_MORE = re.compile(r"^(?:css|xpath|jsonpath)\b", re.IGNORECASE)
_SORTS = {
    "feed": "items inserted",
    "rss": "items inserted",
    "json": "any change",
    "api": "any change",
    "changes": "any change",
    "page": "any change",
}
_WHOLE = re.compile(r"create\s+(?:sentinel|collection)\s+\S+\s+using\b", re.IGNORECASE)
"""A statement with a readable head: its faults are reported clause by clause."""
Clauses = Callable[[str], Iterator[str]]


def name_of_host(address: str) -> str:
    """Return a name for a sentinel on an address without one: `shop` for
    https://www.shop.example/.
    """
    parts = [part for part in (split_url(address).hostname or "page").split(".") if part != "www"]
    name = re.sub(r"[^A-Za-z0-9_]+", "-", parts[-2] if len(parts) > 1 else parts[0]).strip("-")
    return name if re.match(r"[A-Za-z_]", name) and not is_reserved(name) else f"page-{name}"


def statements_for(text: str, clauses_for: Clauses) -> Iterator[str]:
    """Yield possible statements for a wish about one address; the caller drops those that the
    grammar does not read.

    Args:
        text: The wish, in one line.
        clauses_for: Yields the possible clauses of a part, first the part itself.
    """
    found = _ADDRESS.search(text)
    if found is None or _WHOLE.match(text) or not (_VERB.match(text) or found.start() == 0 or _NAMED[1].match(text)):
        return
    before, behind = text[: found.start()], text[found.end() :]
    name, before = _name(before)
    if not name:
        name, behind = _name(behind)
    meant = {part: next(clauses_for(part), "") for part in (*_parts(_without_verb(before)), *_parts(behind))}
    wishes = [part for part, clause in meant.items() if not clause]
    asked = [clause for clause in meant.values() if clause.lower().startswith("monitor ")]
    clauses = [clause for clause in meant.values() if clause and clause not in asked]
    if wishes and asked:
        return
    monitor = asked[0] if asked else _monitor(wishes, clauses_for)
    yield " ".join([f"Create Sentinel {name or name_of_host(found[1])} Using {found[1]} {monitor}", *clauses])


def _name(text: str) -> tuple[str, str]:
    """Return the name in a text, empty if there is none, and the text without it."""
    for pattern in _NAMED:
        if found := pattern.search(text):
            name = re.sub(r"\W+", "-", found[1].strip('"')).strip("-")
            if re.match(r"[^\W\d]", name) and not is_reserved(name):
                return name, text[: found.start()] + text[found.end() :]
    return "", text


def _without_verb(text: str) -> str:
    return _VERB.sub("", text, count=1)


def _parts(text: str) -> list[str]:
    """Return the parts of a text, each without its connecting words."""
    parts = (_TRAIL.sub("", _FILL.sub("", part.strip())) for part in _BEGINS.split(text))
    return [part for part in parts if part.strip(' ,;."')]


def _monitor(wishes: list[str], clauses_for: Clauses) -> str:
    said = " ".join(wishes).strip()
    if not said:
        return "Monitor any change"
    first, _, rest = said.partition(" ")
    sort = _SORTS.get(first.lower(), "")
    if sort:
        said = f"{sort} in {rest}" if _MORE.match(rest) else f"{sort} {rest}".strip()
    return next(clauses_for(f"Monitor {said}"), f"Monitor {said}")
