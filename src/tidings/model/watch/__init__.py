"""What a user asks for: a sentinel and its clauses, as values. The language makes them, storage keeps them. Nothing here knows a page's state."""
