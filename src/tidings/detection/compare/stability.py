"""How stable a page is, and what that makes of the rules by which its phrases are compared (004 §5.3.2.1, §5.4.1.1, §8.1; W-122, W-124).

The thesis leaves both numbers fixed, ten words and 0.6, and names their adapting as future work. Here they follow what was seen of the page:
the share of its words that changed from each version to the next.

*Signature.* A signature is of use while it stays as it is. It has as many words as stay untouched nineteen times in twenty at the page's usual
share, between three and ten. *Factor.* Where much is rewritten at a time less of a reworded phrase is left; the factor falls from 0.6 by five
times the share, to 0.4 at least. `bench/phrases.py` counts what that is worth on real pages. A page without a history is compared as the thesis does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tidings.detection.compare.signatures import Rules
from tidings.model.observed.version import Digest

SHORTEST: Final = 3
"""Words of a signature at least."""

UNTOUCHED: Final = 0.95
"""How often a signature is to stay as it is."""

LEAST_FACTOR: Final = 0.4

SLOPE: Final = 5
"""By how much of the usual share the factor falls."""

MOST_SHARES: Final = 8
"""Changes of a page that are remembered, the newest first."""

_SHARES: Final = "changed shares"


def measure_changed_share(old: Sequence[str], new: Sequence[str]) -> float:
    """Return which part of the words of two versions together one of them has and the other has not, from 0 to 1; order means nothing."""
    total = len(old) + len(new)
    if not total:
        return 0.0
    return 1 - 2 * (Counter(old) & Counter(new)).total() / total


def usual(shares: Sequence[float]) -> float:
    """Return the middle one of a page's shares: one rewritten version makes no page unstable."""
    ordered = sorted(shares[:MOST_SHARES])
    return ordered[len(ordered) // 2]


def adapt(shares: Sequence[float], rules: Rules) -> Rules:
    """Return rules for a page of which these shares changed, the newest first; as they are for one without a history, or in the thesis' way."""
    if not shares or not rules.adaptive:
        return rules
    share = min(max(usual(shares), 0.0), 1.0)
    lasting = math.log(UNTOUCHED) / (2 * math.log1p(-share)) if 0 < share < 1 else (math.inf if share == 0 else 0.0)
    numerator, denominator = rules.factor
    factor = max(numerator / denominator - SLOPE * share, min(LEAST_FACTOR, numerator / denominator))
    box = max(min(SHORTEST, rules.box), int(min(lasting, rules.box)))
    return replace(rules, box=box, factor=(round(1000 * factor), 1000))


def shares_in(digest: Digest | None) -> tuple[float, ...]:
    """Return the shares that ride along with the digest of a version, the newest first; none if nobody watched for phrases then."""
    written = "" if digest is None else digest.objects.get(_SHARES, "")
    return tuple(float(share) for share in written.split())


def shares_as_object(shares: Sequence[float]) -> dict[str, str]:
    """Return shares as they ride along with a digest; it decides nothing by them."""
    return {_SHARES: " ".join(f"{share:.5f}" for share in shares)} if shares else {}
