"""Findings as values: edits, rows, occurrences, amounts, and their places. Kinds make them,
messages read them; nothing is compared here.
"""
