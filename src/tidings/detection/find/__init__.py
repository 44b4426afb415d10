"""What a comparison has found, as values: edits, rows, occurrences, amounts, and where they stand. Kinds make them and messages read them.
Nothing here compares by itself.
"""
