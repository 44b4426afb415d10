"""The change types, one module each, with their contract and their table. Each takes its input from
a document and compares two; they are not combined here.
"""
