"""Parameters of addresses that do not affect the target: sessions, tracking, cache busters
(detection §4.1).

Most are known by name. Ambiguous names (`sid`, `t`, `v`) count only if the value looks random or is
a time. Names learned for a site are passed in.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Final

NOISE: Final = frozenset(
    """_ga _gl _hsenc _hsmi __hssc __hstc __hsfp dclid fbclid gad_source gbraid gclid gclsrc hsctatracking igshid mc_cid mc_eid mkt_tok
    msclkid oly_anon_id oly_enc_id s_cid srsltid ttclid twclid vero_conv vero_id wbraid wickedid yclid ysclid
    cfid cftoken jsessionid osCsid phpsessid sessid session_id sessionid zenid
    _ cachebust cachebuster nocache rnd""".lower().split()
)
"""Names, in lower case, that count whatever their value; so do the prefixes `utm_`, `aspsessionid`
and `pk_`.
"""

BY_CHANCE: Final = frozenset(
    "_t cb csrf hash key nonce r rand s session sid sig signature t tick time timestamp token ts v ver version".split()
)
"""Names that count if their value looks random, or is a time in seconds or milliseconds."""

VERSIONS: Final = frozenset("rev v ver version".split())
"""Names that, for an image, only select a copy of it."""

_BEGINNINGS: Final = ("utm_", "aspsessionid", "pk_")
_CHANCE = re.compile(
    r"1[0-9]{9}(?:[0-9]{3})?(?:\.[0-9]+)?|(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[0-9A-Za-z_\-.=%]{16,}"
)


def without_noise(query: str, learned: AbstractSet[str] = frozenset(), *, of_image: bool = False) -> str:
    """Return a query without noise parameters; `learned` are further names, in lower case. The
    others stay as they are.
    """
    if not query:
        return query
    kept = [part for part in query.split("&") if part and not _is_noise(part, learned, of_image=of_image)]
    return "&".join(kept)


def _is_noise(part: str, learned: AbstractSet[str], *, of_image: bool) -> bool:
    name, _, value = part.partition("=")
    name = name.lower()
    if name in NOISE or name in learned or name.startswith(_BEGINNINGS) or (of_image and name in VERSIONS):
        return True
    return name in BY_CHANCE and _CHANCE.fullmatch(value) is not None
