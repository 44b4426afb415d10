"""The change types, one module each, with their contract and their table. Each takes what it needs of a document and compares two. Nothing here
combines several.
"""
