"""Decide whether a body is the page at all: `plausibility` judges an answer by rules
(`plausibility.toml`), `walls` detects logins, captchas and errors with status 200.

A body is judged before anything is compared. No versions are compared here, and no state is stored.
"""
