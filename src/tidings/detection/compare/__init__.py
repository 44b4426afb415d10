"""Sequences and sets compared, whatever they hold: alignments, moves of occurrences, phrases, signatures. All of it is pure and bounded in time.
Nothing here knows what a page is.
"""
