"""The operators of Snoop, one module each or two that are alike, with their contract and their table. What waits in them can be saved."""
