"""A policy in a world whose changes are known: `simulator` gives grants, `ledger` has what changed
on the pages and the account of what was found and when. The service runs none of it.
"""
