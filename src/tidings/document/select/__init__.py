"""Selectors: CSS, XPath and states, what they find in a tree, and how what was found is found again. What of a page counts is a value here. Nothing
here changes a tree.
"""
