"""JSONPath is RFC 9535's: what its tables say is what is found, or there is a reason (`bench/rfc9535.py` prints them)."""

from collections import Counter

from tests.jsonpath import WHY, Case, cases, outcome


def test_selectors_find_what_rfc_9535_says():
    """No case of its tables differs; what is refused or counts once has its reason."""
    found = Counter(map(outcome, cases()))

    assert {"agrees": 184, "once": 4, "function": 3} == found


def test_a_difference_would_be_seen():
    """Another value, a valid selector that is refused and an invalid one that is taken are no agreement."""
    assert "agrees" == outcome(Case("", "$.a", {"a": 1}, ([1],)))
    assert "differs" == outcome(Case("", "$.a", {"a": 1}, ([2],)))
    assert "differs" == outcome(Case("", "$[1,0]", [1, 2], ([1, 2],), is_ordered=True))
    assert "refused" == outcome(Case("", "$.a.", {"a": 1}, ([1],)))
    assert "taken" == outcome(Case("", "$.a", {"a": 1}))
    assert not {"differs", "refused", "taken"} & WHY.keys()
