"""What a user asks for: a sentinel and its clauses, as values. The language makes them, storage
stores them. They hold no state of pages.
"""
