"""JSONPath agrees with the tables of RFC 9535, or has a reason (`bench/rfc9535.py` prints them)."""

from collections import Counter

from tests.jsonpath import WHY, Case, cases, outcome


def test_jsonpath_agrees_with_rfc_9535():
    """No case of its tables differs; refused ones and those that count once have a reason."""
    found = Counter(map(outcome, cases()))

    assert {"agrees": 184, "once": 4, "function": 3} == found


def test_difference_would_be_found():
    """It is another value, a refused valid selector, or an accepted invalid one."""
    assert "agrees" == outcome(Case("", "$.a", {"a": 1}, ([1],)))
    assert "differs" == outcome(Case("", "$.a", {"a": 1}, ([2],)))
    assert "differs" == outcome(Case("", "$[1,0]", [1, 2], ([1, 2],), is_ordered=True))
    assert "refused" == outcome(Case("", "$.a.", {"a": 1}, ([1],)))
    assert "taken" == outcome(Case("", "$.a", {"a": 1}))
    assert not {"differs", "refused", "taken"} & WHY.keys()
