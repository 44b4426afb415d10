"""What a document holds that people name: entries, lists, tables, offers, and its outline. Each is read from a parsed document. Comparing them is
detection's part.
"""
