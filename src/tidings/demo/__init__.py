"""The demo: a simulated town on loopback, sentinels on it, the real service, and an honest count of
what was reported.
"""
