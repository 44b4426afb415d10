"""Data compared by its structure: JSON, XML, CSV, tables, lists, feeds, offers. Things are aligned first, then compared field by field.
Nothing here reads text as prose.
"""
