"""Notify people: one sender per kind of channel; messages are signed, retried, never lost (F-28,
F-29).
"""
