"""Search: parse queries into terms, score texts, and cut snippets."""
