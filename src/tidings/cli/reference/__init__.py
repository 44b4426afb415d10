"""Completion, man page and reference page, generated from the command line's parsers."""
