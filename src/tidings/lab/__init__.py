"""The laboratory: bounds and generators that reproduce the papers. Nobody imports it (contracts.md §10); it needs the extra `lab`."""
