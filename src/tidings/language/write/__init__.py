"""From values to the canonical text, which parses back to the same values."""
