"""A policy in a world whose changes are known: `simulator` gives grants, `trace` has the changes, `ledger` says what was found and when. The service runs
none of it.
"""
