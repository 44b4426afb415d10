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
_DAYS_OF = {"month": 30, "quarter": 91, "year": 365}
_WORTH = {"highest": "1", "high": "0.9", "medium": "0.5", "normal": "0.5", "low": "0.2", "lowest": "0.1"}
_SECRET_HEADERS = {"authorization", "proxy-authorization", "x-api-key", "x-auth-token"}
_TYPES = "any change|text|words|links|images|table|list|number|price|items|availability"


def _times_a_day(found: re.Match[str]) -> str:
    times, minutes = int(found[1]), {"day": 1_440, "hour": 60, "week": 10_080}[found[2].lower()]
    each = minutes // times if 0 < times <= minutes else 1
    return f"every {each // 60} hour" if each % 60 == 0 else f"every {each} min"


_STATEMENTS: tuple[tuple[str, Rewrite], ...] = (
    (r"^(?:rename)\s+(?:sentinel\s+)?(\S+)\s+(?:to\s+|as\s+|->\s*)?(\S+)$", r"tidings rename \1 \2"),
    (
        (r"^(?:show|list|ls|display|get)(?:\s+(?:me\s+)?(?:all|my|every|sentinels?|watch(?:es)?|jobs|monitors|"
        r"pages|everything|the))*$"),
        "tidings list",
    ),
    (r"^(?:show|display|describe|explain|inspect|get|status)\s+(?:sentinel\s+)?(\S+)$", r"tidings show \1"),
    (
        (r"^(?:check|recheck|fetch|poll|refresh|run|test|"
        r"look\s+at)\s+(?:sentinel\s+)?(?!https?:)(\S+)(?:\s+now)?$"),
        r"tidings check \1",
    ),
    (r"^(?:history|changes|diff)\s+(?:of\s+|for\s+)?(\S+)$", r"tidings history \1"),
    (r"^(?:help|\?)$", "tidings --help"),
    (r"^(?:delete|remove|cancel|forget|rm|del|unwatch)\s+(?:(?:sentinel|watch|job)\s+)?(\S+)$", r"Drop \1"),
    (
        (r"^(?:pause|suspend|mute|stop|disable|snooze)\s+(?:(?:sentinel|watch|job|watching|monitoring|"
        r"checking)\s+)*(\S+)$"),
        r"Disable \1",
    ),
    (
        (r"^(?:resume|start|unpause|unmute|activate|restart|continue|enable)\s+(?:(?:sentinel|watch|job|"
        r"watching|monitoring|checking)\s+)*(\S+)$"),
        r"Enable \1",
    ),
    (r"^(drop|enable|disable|confirm)\s+sentinel\s+(\S+)$", r"\1 \2"),
    (r"^(?:alter\s+sentinel|(?:change|update|edit|modify)(?:\s+sentinel)?)\s+(\S+)", r"Alter \1"),
    (r"^(?:create|add|new|make)\s+(?:sentinel\s+|watch\s+|monitor\s+|job\s+)?(?!using\b|sentinel\b|event\b)([A-Za-z_][\w-]*|\"[^\"]*\")\s+(?:(?:using|for|on|at|from|url|with|page|of|watching)\s+)?(https?://)", r"Create Sentinel \1 Using \2"),
)  # fmt: skip

_CLAUSES: tuple[tuple[str, Rewrite], ...] = (
    # several wishes in one, and steps of other programs
    (r"\s*,\s*$", ""),
    (r"^(.*\busing\s+https?://\S+)\s+(?:and|&)\s+(?=https?://)", r"\1, "),
    (r"^filter\s+(css|xpath|jsonpath)\s+(\"\d+\")\s+(?:remove|exclude|ignore|without)\s+(css|xpath|jsonpath)\s+(?=\")", r"Select \1 \2 Exclude \3 "),
    (r"^(?:filter|only|extract|element)\s+(css|xpath|jsonpath)\s+(?=\")", r"Select \1 "),
    (r"^(?:remove|without|drop|strip)\s+(css|xpath)\s+(?=\")", r"Exclude \1 "),
    (r"^(.*\bmonitor\s+table)\s+row\s+(\d+)$", r'\1 in css "tr:nth-child(\2)"'),
    (r"^extract\s+(?:regex|pattern|with\s+regex)?\s*(?=\")", "Monitor regex "),
    (r"^(?:wait|delay|sleep)(?:\s+for)?\s+(\d+)\s*(?:s|secs?|seconds?)?$", r"Render browser steps (wait \1 s)"),
    (r"^(?:wait|delay)\s+(?:for|until)\s+(?:element\s+|selector\s+)?(\"\d+\")$", r"Render browser steps (wait for \1)"),
    (r"^click\s+(?:on\s+)?(?:element\s+|selector\s+|button\s+)?(\"\d+\")$", r"Render browser steps (click \1)"),
    (r"^(?:login|log\s+in|type|fill)\s+(\"\d+\")\s+(?:with\s+|into\s+)?(\"\d+\")$", r"Render browser steps (fill \1 with \2)"),
    (r"^render\s+browser\s+(?:steps\s+)?\(?\s*((?:click|fill|wait|press|scroll)\b[^()]*)\)?$", r"Render browser steps (\1)"),
    (r"^(?:fetch\s+)?(?:backend|browser|method|engine)\s*:?\s*(?:playwright|webdriver|selenium|browser|chrome|html_webdriver)$", "Render browser"),
    (r"^notify\s+(?:me\s+)?at\s+most\s+once\s+(?:per|a|an|every)\s+(day|hour|week)$", r"Notify by email you@example.org max 1 per 1 \1"),
    (r"^(?:notification\s+|notify\s+)?format\s*:?\s*(?:markdown|html|text|plain)$", r'Notify by email you@example.org with text "{{diff}}"'),
    (r"^only\s+(?:added|new)\s+(?:lines?|text|words|content)$", "Monitor all words inserted"),
    (r"^only\s+(?:removed|deleted|gone)\s+(?:lines?|text|words|content)$", "Monitor all words deleted"),
    (r"^(?:keep|only|filter)\s+(?:only\s+)?lines?\s+(?:with|containing|matching)\s+/([^/]+)/\w*$", r'Transform keep lines regex "\1"'),
    (r"^sort(?:\s+(?:the\s+)?lines?)?$", "Transform sort lines"),
    (r"^(?:remove|drop|ignore|without|unique)\s+duplicat(?:e|ed)s?(?:\s+lines?)?$|^unique\s+lines?$", "Transform unique lines"),
    (r"^(?:ignore|exclude|skip)\s+(?:white\s*-?space|blanks|spaces|blank\s+lines|empty\s+lines|markup|html|formatting|styles?)$", "Monitor all words"),
    (r"\bin\s+script\s+(\"\d+\")\s+(jsonpath\s+\"\d+\")(.*)$", r"in \2\3 Select css \1"),
    (r"\bin\s+script\s+(?=jsonpath\b)", "in "),
    (r"^case\s*-?\s*(?:in)?sensitive$|^(?:ignore|exclude)\s+(?:upper|letter)\s*-?case$", "Ignore case"),
    # a condition without Monitor
    (
        (r"^(?:trigger|alert|notify|tell|inform|message|warn|ping|email|mail)(?:\s+me)?\s+(?:only\s+)?(?:if|"
        r"when|once|on|for)\s+(?:the\s+|a\s+|an\s+|there\s+(?:is|are)\s+)?(?!event|demand|\d|mon|tue|wed|thu|"
        r"fri|sat|sun|week)"),
        "Monitor ",
    ),
    (
        (r"^(?:only\s+)?(?:if|when|once)\s+(?:the\s+|a\s+|an\s+)?(?=price|number|text|words?|links?|images?|"
        r"items?|keywords?|phrases?|availability|status|table|list|page|stock|\")"),
        "Monitor ",
    ),
    (r"^trigger(?:\s+(?:on|text|word))?\s+(?=\")", "Monitor phrase "),
    (r"^(?=(?:price|number|text|links|images|items|keywords?|phrases?|availability|status)(?:\s|$))", "Monitor "),
    # a synonym of a clause
    (
        (r"^(?:check|fetch|poll)\s+(?:every\s+|on\s+|only\s+|only\s+on\s+)*((?:mon|tue|wed|thu|fri|sat|sun|"
        r"week|daily)[\w-]*)?\s*(?:only\s+)?(?:between\s+|from\s+)?(\d{1,2}(?::\d\d)?(?:\s?[ap]m)?)\s*(?:-|to|"
        r"and|until)\s*(\d{1,2}(?::\d\d)?(?:\s?[ap]m)?)$"),
        lambda m: f"During {m[1] or 'daily'} {m[2]} to {m[3]}",
    ),
    (
        (r"^(?:with|use|using|enable|run|execute)\s+(?:a\s+|the\s+)?(?=javascript|js\b|browser|chrome|chromium|"
        r"playwright|selenium|rendering)"),
        "render ",
    ),
    (r"^(?:javascript|js|browser|rendering)\s*:?\s*(?:on|yes|true|enabled)?$", "render "),
    (
        (r"^(ignore|exclude|skip|remove|drop|filter\s+out)\s+(?:all\s+)?lines?\s+(?:with|containing|matching|"
        r"that\s+(?:contain|match))\s+(?:text\s+|regex\s+)?/([^/]+)/\w*$"),
        r'Transform drop lines regex "\2"',
    ),
    (
        (r"^(ignore|exclude|skip|remove|drop|filter\s+out)\s+(?:all\s+)?lines?\s+(?:with|containing|"
        r"that\s+contain)?\s*(?=\")"),
        "Transform drop lines ",
    ),
    (r"^(?:keep|only|filter)\s+(?:only\s+)?lines?\s+(?:with|containing|matching)?\s*(?=\")", "Transform keep lines "),
    (r"^(?:ignore|exclude|skip)\s+(?:text\s+)?/([^/]+)/\w*$", r'Exclude regex "\1"'),
    (r"^(?:ignore|exclude|skip)\s+regexp?\s+([^\"\s][^\"]*)$", r'Exclude regex "\1"'),
    (
        (r"^(?:ignore|exclude|skip|remove|without|except|strip|drop)\s+(?:the\s+)?(?:elements?|selectors?|"
        r"tags?|parts?|nodes?)\s*:?\s+(?=\")"),
        "Exclude css ",
    ),
    (r"^(?:check|poll|refresh|interval|schedule|visit|load|look)\s+(?=every|at|on|\d|daily|hourly|weekly|monthly|once|twice)", "Fetch "),
    (r"^(?=every\b|(?:daily|hourly|weekly|monthly)$|twice\b|once\b|at\s+\d)", "Fetch "),
    (r"^(?:tag|label|labels|group|groups|category|tagged)\s*:?\s+", "Tags "),
    (r"^(?:starting|start|begin|since|after)\s+(?:on\s+|from\s+)?(?=\d|now)", "From "),
    (r"^(?:stop|end|ending|ends|before|till)\s+(?:on\s+|at\s+)?(?=\d)", "To "),
    (r"^(?:time\s*zone|timezone|tz)\s+", "Zone "),
    (r"^(?:between|only\s+between|from)\s+(\d+:\d\d)\s+(?:and|to)\s+(\d+:\d\d)$", r"During daily \1 to \2"),
    (r"^(?:only\s+on|only|on|hours)\s+(?=(?:mon|tue|wed|thu|fri|sat|sun|week|daily|\d))", "During "),
    (r"^(?:priority|weight|important|importance)\s+(\w+)$", lambda m: f"Importance {_WORTH.get(m[1].lower(), m[1])}"),
    (r"^importance\s+(\d+)\s*%$", lambda m: f"Importance {int(m[1]) / 100:g}"),
    (r"^(?:keep|history|retain|retention)\s+(\d+)\s*(?:changes|versions)?$", r"ChangeHistory \1"),
    (r"^(?:keep|history|retain|retention)\s+(\d+\s*\w+)$", r"ChangeHistory \1"),
    (r"^render\s+(?:rendering|playwright|selenium|js\b|javascript)", "Render browser"),
    (r"^render\s*(?:with|using|in|by)?\s*(?:javascript|js|chrome|chromium|a browser|the browser|yes|true|on)?$", "Render browser"),
    (r"^(?:use\s+)?(?:javascript|browser)(?:\s+(?:on|yes|true))?$", "Render browser"),
    (r"^(?:http\s+)?headers?\s*:?\s+(\"[^\"]*\")$", r"Header \1"),
    (r"^user[- ]?agent\s*:?\s+(\")", r'Header "User-Agent" \1'),
    (r"^cookies?\s*:?\s+(\")", r'Header "Cookie" \1'),
    (r"^timeout\s+(\d+)$", r"Timeout \1 s"),
    (r"^(?:ignore|exclude|skip|remove|without|except)\s+(?:numbers|digits)$", r'Exclude regex "\\d+"'),
    (r"^(?:ignore|exclude|skip|without)\s+(?:all\s+)?(links|images)$", r"Monitor any change AND NOT all \1"),
    (r"^(?:ignore|exclude|skip|remove|without|except)\s+(?:text\s+|word\s+|element\s+|selector\s+)?(\"[.#\[])", r"Exclude css \1"),
    (r"^(?:ignore|exclude|skip|remove|without|except)\s+(?:text\s+|word\s+)?(\")", r"Exclude \1"),
    (r"^(?:ignore|exclude|skip|remove|without|except)\s+(?!css|xpath|jsonpath|regex|words|hidden|none|case$)(\w+)$", r'Exclude "\1"'),
    (r"^(?:ignore|exclude|skip|remove|without|except)\s+([.#][\w-]+)$", r'Exclude css "\1"'),
    (r"^(?:select|only|selector|part|element|section)\s+(?:id|#)\s*\"", 'Select css "#'),
    (r"^(?:select|only|selector|part|element|section|css|filter)\s*:?\s+(\")", r"Select \1"),
    (r"^(?:select|only|selector)\s+([.#][\w-]+)$", r'Select css "\1"'),
    # whom to notify
    (r"^(?:notify|alert|tell|inform|mail|email|e-mail|message|send)\s+me$", "Notify by dashboard"),
    (r"^(?:alert|tell|inform|message|send(?:\s+(?:to|mail|email|it))*|notification|notifications)\s+(?=\S)", "Notify "),
    (r"^(?:e-?mail|mail)\s+(?:me\s+)?(?:at\s+|to\s+)?(?=\S+@)", "Notify by email "),
    (r"^(?:webhook|post|call)\s+(?:to\s+)?(?=https?://)", "Notify by webhook "),
    (r"^(notify)\s+(?:me|us|him|her|them)\s+", r"\1 "),
    (
        (r"^(notify\s+)(?:by\s+|via\s+|with\s+)?(?:slack|discord|telegram|teams|pushover|ntfy|gotify|matrix|"
        r"mattermost|webhook)\s+(?=\"|\w+://|secret)"),
        r"\1by ",
    ),
    (r"^(notify)\s+(?:via|with|to|using|at|on|through|in)\s+(?!\d)", r"\1 by "),
    (r"^(notify\s+(?:by\s+)?)(?:mail|e-mail)(?:\s+(?:to|at))?\s+", r"\1email "),
    (r"^(notify\s+(?:by\s+)?)(?:email)\s+(?:to|at)\s+", r"\1email "),
    (r"^(notify\b.*\S)\s+(?:and|&)\s+(?=\S+@|https?:|email|webhook|console|feed|stream|dashboard)", r"\1, "),
    (r"^(notify\b.*\b)(?:instantly|immediately|at\s+once|now|asap)$", r"\1immediate"),
    (r"^(notify\b.*\bquiet)\s+(?:from|between)\s+(\S+)\s+(?:to|and)\s+", r"\1 \2 to "),
    (r"^(notify\b.*\bquiet\s+\d+:\d\d)\s*-\s*(?=\d)", r"\1 to "),
    (r"^(notify\b.*\b)(?:at\s+most|max(?:imum)?)\s+(\d+)\s*(?:x|times)?\s*(?:per|a|an)\s+(day|hour|week)$", r"\1max \2 per 1 \3"),
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
    (r"^(fetch)\s+(?:constantly|continuously|always|automatically|auto|smart|adaptive|adaptively|often|as often as possible)$", r"\1 on change"),
    (r"^(fetch)\s+(?:never|manually|manual|on request|when asked)$", r"\1 on demand"),
    (r"^(fetch)\s+(?=\d{1,2}(?::\d\d|\s?[ap]m))", r"\1 at "),
    (r"^(fetch)\s+(?:on\s+)?((?:mon|tue|wed|thu|fri|sat|sun|week)[\w-]*)(?:\s+(?=\d)|$)", r"\1 \2 at "),
    (r"^(fetch\s+\S+\s+at)\s*$", r"\1 08:00"),
    (r"\b(" + "|".join(_NUMBERS) + r")\b(?=\s+(?:second|minute|hour|day|week|month|year)s?\b)", lambda m: str(_NUMBERS[m[1].lower()])),
    (r"\b(\d+)\s*m(?:ins?)?\b(?!\s*in)", r"\1 min"),
    (r"\b(\d+)\s*hrs?\b", r"\1 hour"),
    (r"\b(\d+)\s*(month|quarter|year)s?\b", lambda m: f"{int(m[1]) * _DAYS_OF[m[2].lower()]} day"),
    (r"\b(?:all\s+day)\b", "00:00 to 24:00"),
    # changes
    (
        (r"^monitor\s+any\s+change\s+(?:only\s+)?(?:if|when|where|while)\s+(?:the\s+)?(?=(?:price|number|"
        r"keyword|availability)\b)"),
        "Monitor ",
    ),
    (r"^monitor\s+(?:for\s+)?(?:the\s+|a\s+|an\s+|if\s+(?:the\s+)?|when\s+(?:the\s+)?|whether\s+(?:the\s+)?)", "Monitor "),
    (r"^monitor\s+(?:(?:whole|entire|full)\s+)?(?:page|everything|anything|all|site|website|any|changes?|all\s+changes|any\s+changes|content)$", "Monitor any change"),
    (r"^(monitor\s+)(?:selector|element|part|section|block|area)\s+(\")", r"\1css \2"),
    (r"^(monitor\s+)(?:in\s+)?([.#][\w-]+)", r'\1css "\2"'),
    (r"^(monitor\s+)(?:in\s+)(\")", r"\1css \2"),
    (r"^(monitor\s+)(\$[.\[]\S*)", r'\1jsonpath "\2"'),
    (r"^(monitor\s+)json\s+(?:path\s+)?", r"\1jsonpath "),
    (r"^(monitor\s+)(\")", r"\1phrase \2"),
    (r"^(monitor\s+)(?:the\s+)?(?:page\s+)?title\b", r'\1all words in css "title"'),
    (r"^(monitor\s+)(?:headlines?|headings?|headers?)$", r'\1all words in css "h1, h2, h3"'),
    (r"^(monitor\s+)(?:new\s+)?(?:feed|rss|atom|entries|posts?|articles?|stories|episodes?|releases?|events|jobs)$", r"\1items inserted"),
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
    (r"^(monitor\s+(?:new\s+|removed\s+|deleted\s+)?(?:links|images|items))\s+(?:with\s+|matching\s+|named\s+|called\s+|like\s+)?(\")", r"\1 containing \2"),
    (r"^(monitor\s+)(?:the\s+)?words?\s+(\")", r"\1keyword \2"),
    (r"^(monitor\s+)text\s+(\")", r"\1phrase \2"),
    (r"^(monitor\s+)(?:string|sentence)\s+(\")", r"\1phrase \2"),
    (r"^(monitor\s+)(?:pattern|regexp|re|match)\s+(\")", r"\1regex \2"),
    (r"^(monitor\s+)(keyword|phrase|word)\s+([A-Za-z]\w*)$", r'\1keyword "\3"'),
    (r"^(monitor\s+)(keywords|phrases|words)\s+([A-Za-z]\w*(?:\s*,\s*\w+)+)$", r"\1\2 <\3>"),
    (r"^(monitor\s+keyword(?:s)?\s+)(\"[^\"]*\"(?:\s*(?:,|or)\s*\"[^\"]*\")+)$", lambda m: f"{m[1]}<{', '.join(re.findall(_SHELF, m[2]))}>"),
    (rf"^(monitor\s+(?:new\s+)?(?:{_TYPES}))\s+(?:at\s+|of\s+|from\s+|inside\s+|within\s+)?((?:css|xpath|jsonpath)\s+\")", r"\1 in \2"),
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
    (r"\b(where|while|if|when|but)\s+(?:the\s+|its\s+)?(?:price|number|it|value\s+is)\s+(?=is|becomes|drops|rises|below|above|[<>=!])", r"\1 "),
    (r"\b(?:goes|gets|falls|drops|sinks|comes|dips)\s+(?=(?:below|under|less|lower))", "becomes "),
    (r"\b(?:goes|gets|rises|climbs|comes|exceeds)\s+(?=(?:above|over|more|higher|greater))", "becomes "),
    (r"\b(?:reaches|hits|turns\s+to|turns)\s+(?=[-\d$€£\"])", "becomes "),
    (r"\bexceeds\s+(?=[-\d$€£])", "becomes above "),
    (r"\b(?:drops|falls|goes\s+down|decreases)\s+to\s+(?=[-\d$€£])", "becomes at most "),
    (r"\b(?:rises|goes\s+up|increases|climbs)\s+to\s+(?=[-\d$€£])", "becomes at least "),
    (r"\b(?:goes\s+down|decreases?|declines?|gets\s+cheaper|drop(?!\s+lines)|fall)\b", "drops"),
    (r"\b(?:goes\s+up|increases?|gets\s+dearer|rise)\b", "rises"),
    (r"\b(drops|falls|rises|changes)\s+(?=more\s+than|[$€£]?\d)", r"\1 by "),
    (r"\b(drops|falls|rises)\s*$", r"\1 by more than 0"),
    (r"^(monitor\s+price)\s+(?:drop|fall|decrease)s?\s*$", r"\1 drops by more than 0"),
    (r"\b(?:hits|reaches|makes|sets)\s+(?=(?:a\s+|the\s+|its\s+)?(?:new|all-time|record|lowest|highest))", "is "),
    (r"^(monitor\s+(?:price|number|text|words|links|images|table|list|items))\s+(?:changes?|changed)$", r"\1"),
    (r"(?<=\s)[$€£¥]\s?(?=\d)", ""),
    (r"(?<=\d)\s?(?:%|percent|per\s+cent)(?!\w)", "%"),
    (r"(?<=\d)\s?(?:[$€£¥]|(?:EUR|USD|GBP|CHF|JPY|AUD|CAD|SEK|NOK|DKK|PLN|CZK|euros?|dollars?|pounds?|bucks)\b)", ""),
    (r"(?<=[<>=\s])(\d{1,3}),(\d{3})\b", r"\1\2"),
    (r"^(to|from)\s+(\d{1,2})\.(\d{1,2})\.(\d{4})", lambda m: f"{m[1]} {m[4]}-{int(m[3]):02}-{int(m[2]):02}"),
    (r"^(tags\b.*)$", lambda m: re.sub(r"(?<=[\w\"])(?:\s+(?:and\s+)?|\s*;\s*)(?=[\w\"])", ", ", m[1].replace("Tags ", "Tags\x01", 1)).replace("\x01", " ")),
)  # fmt: skip

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

    def shelve(found: re.Match[str]) -> str:
        texts.append(found[0])
        return f'"{len(texts) - 1}"'

    shelf = _STRING.sub(shelve, text)
    meant = _rewrite(shelf, _statements() if is_statement else _clauses())
    line = re.sub(r'"(#?)(\d+)"', lambda found: _restore(found, texts), meant)
    line = re.sub(r'^Header "([\w-]+): ?([^"]*)"$', _header, line)
    line = re.sub(r'^(Notify .*?)"(\w+://[^"\s]+)"', r"\1\2", line)
    if line != text:
        yield line


def _header(found: re.Match[str]) -> str:
    """Return a header with its value, or with a secret for a value that should not be in a
    statement.
    """
    if found[1].lower() in _SECRET_HEADERS or "$" in found[2]:
        return f'Header "{found[1]}" secret "NAME"'
    return f'Header "{found[1]}" "{found[2]}"'


def _restore(found: re.Match[str], texts: list[str]) -> str:
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
    r"^(?:please\s+)?(?:create|add|new|make|watch(?:es|ing)?|monitor(?:s|ing)?|track|follow|check|observe|sentinel)\b\s*",
    re.IGNORECASE,
)
_FILL = re.compile(
    r"^(?:(?:and|with|on|at|of|from|for|in|that|watch(?:es|ing)|monitors|the|a|an|page|site|website|url|link|address|using|to|it|if|,|:|=|-)(?:\s+|$|(?<=[,:=-])))+",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r"(?:\s+|^)(?:(?:and|with|on|at|of|from|for|in|that|the|page|site|website|url|using|then|,|:|=)\s*)+$",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"(?<!\S)(?=(?:every|each|hourly|daily|weekly|once|twice|notify|alert|tell|email|e-mail|mail|message|send|webhook|tag|tags|tagged|label|"
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
