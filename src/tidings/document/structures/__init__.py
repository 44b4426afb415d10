"""Named structures of a document: entries, lists, tables, offers, and its outline. Each is read
from a parsed document; detection compares them.
"""
