"""Structured comparison: JSON, XML, CSV, tables, lists, feeds, offers. Things are aligned first,
then compared field by field. Prose is not handled here.
"""
