"""From values to the canonical text, which reads back as the same values."""
