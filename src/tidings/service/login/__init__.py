"""Logins by a form: pages are asked for with the cookies that are kept; a login that was lost is repaired once."""
