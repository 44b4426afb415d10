"""Run a policy in a world whose changes are known: `simulator` grants polls, `trace` has the
changes, `ledger` accounts for what was found and when. The service uses none of it.
"""
