"""Generic comparison of sequences and sets: alignments, moves of occurrences, phrases, signatures.
Pure and bounded in time; pages are unknown here.
"""
