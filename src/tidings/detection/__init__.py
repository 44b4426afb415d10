"""Change detection: the differences between two versions of a page that a sentinel asks for (004
ch. 5).
"""
