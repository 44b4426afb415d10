"""Parameters of addresses that say nothing of what the address leads to: sessions, tracking, cache busters (detection §4.1).

Most are known by their names. Names that mean other things too (`sid`, `t`, `v`) count only where the value looks made by chance or is a
time. What a site was seen to vary by itself is learned elsewhere and handed in as names.
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
"""Names, in lower case, that count whatever their value is; so does all that begins with `utm_`, `aspsessionid` or `pk_`."""

BY_CHANCE: Final = frozenset(
    "_t cb csrf hash key nonce r rand s session sid sig signature t tick time timestamp token ts v ver version".split()
)
"""Names that count where their value looks made by chance, or is a time in seconds or milliseconds."""

VERSIONS: Final = frozenset("rev v ver version".split())
"""Names that say of an image only which copy of it is meant."""

_BEGINNINGS: Final = ("utm_", "aspsessionid", "pk_")
_CHANCE = re.compile(
    r"1[0-9]{9}(?:[0-9]{3})?(?:\.[0-9]+)?|(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[0-9A-Za-z_\-.=%]{16,}"
)


def without_noise(query: str, learned: AbstractSet[str] = frozenset(), *, of_image: bool = False) -> str:
    """Return a query without the parameters that say nothing; `learned` are further names, in lower case. The others stay as they are."""
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
