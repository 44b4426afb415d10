"""The laboratory: bounds and generators that reproduce the papers. Nobody imports it (contracts §10); it needs the extra `lab`."""
