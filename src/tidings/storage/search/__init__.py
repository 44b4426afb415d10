"""The index of texts: a file of its own beside the database, made of what is stored there and made
anew whenever it is not sound.
"""
