"""Selectors: CSS, XPath and states, their matches in a tree, and how matches are found again. The
selected part is a value here. Nothing here changes a tree.
"""
