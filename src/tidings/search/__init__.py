"""Search: what is searched for, in which words, how well a text answers it, and what of the text is
shown.
"""
