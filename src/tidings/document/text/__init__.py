"""Text and its bytes: the charset of a body, packed files, words, and the forms for comparison and
quoting. Markup is unknown here.
"""
