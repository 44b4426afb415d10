"""Text and the bytes that it comes in: the charset of a body, packed files, words, and the forms in which texts are compared and quoted. Nothing here
knows markup.
"""
