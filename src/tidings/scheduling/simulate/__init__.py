"""Run a policy in a world whose changes are known: `simulator` grants polls, `ledger` has the
changes and accounts for what was found and when. The service uses none of it.
"""
