"""Interpret an answer: whether it is new, what of it is examined, what subscriptions find, and what
goes into a unit. The order is `judge`, `look`, `detect`, `findings`, with or without frames.
Nothing here sends requests or writes.
"""
