"""The command line described from its own parsers: completion, man page, reference page."""
