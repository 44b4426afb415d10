"""How stable a page is, and the resulting rules for comparing its phrases (004 §5.3.2.1, §5.4.1.1,
§8.1; W-122, W-124).

The thesis fixes both numbers, ten words and 0.6, and names adaptive ones as future work. Here they
follow the history of the page: the share of its words that changed from each version to the next.

*Signature.* A signature is useful while it does not change. It has as many words as stay unchanged
nineteen times in twenty at the page's usual share, between three and ten. *Factor.* If much is
rewritten at a time, less of a reworded phrase is left; the factor falls from 0.6 by five times the
share, to at least 0.4. `bench/phrases.py` measures the gain on real pages. A page without a history
is compared as in the thesis.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from tidings.detection.compare.instances import Rules
from tidings.model.observed.version import Digest
from tidings.record import replace

SHORTEST: Final = 3
"""The shortest signature, in words."""

UNTOUCHED: Final = 0.95
"""How often a signature is to stay unchanged."""

LEAST_FACTOR: Final = 0.4

SLOPE: Final = 5
"""The slope of the factor against the usual share."""

MOST_SHARES: Final = 8
"""Changes of a page that are stored, the newest first."""

_SHARES: Final = "changed shares"


def measure_changed_share(old: Sequence[str], new: Sequence[str]) -> float:
    """Return the share of words, from 0 to 1, that only one of two versions has; order is
    ignored.
    """
    total = len(old) + len(new)
    if not total:
        return 0.0
    return 1 - 2 * (Counter(old) & Counter(new)).total() / total


def usual(shares: Sequence[float]) -> float:
    """Return the median of a page's shares: one rewritten version does not make a page unstable."""
    ordered = sorted(shares[:MOST_SHARES])
    return ordered[len(ordered) // 2]


def adapt(shares: Sequence[float], rules: Rules) -> Rules:
    """Return the rules for a page with these changed shares, the newest first; unchanged without a
    history, or in thesis mode.
    """
    if not shares or not rules.adaptive:
        return rules
    share = min(max(usual(shares), 0.0), 1.0)
    lasting = math.log(UNTOUCHED) / (2 * math.log1p(-share)) if 0 < share < 1 else (math.inf if share == 0 else 0.0)
    numerator, denominator = rules.factor
    factor = max(numerator / denominator - SLOPE * share, min(LEAST_FACTOR, numerator / denominator))
    box = max(min(SHORTEST, rules.box), int(min(lasting, rules.box)))
    return replace(rules, box=box, factor=(round(1000 * factor), 1000))


def shares_in(digest: Digest | None) -> tuple[float, ...]:
    """Return the shares stored with the digest of a version, the newest first; none if no sentinel
    watched phrases then.
    """
    written = "" if digest is None else digest.objects.get(_SHARES, "")
    return tuple(float(share) for share in written.split())


def shares_as_object(shares: Sequence[float]) -> dict[str, str]:
    """Return shares in the form stored with a digest; they do not affect its decision."""
    return {_SHARES: " ".join(f"{share:.5f}" for share in shares)} if shares else {}
