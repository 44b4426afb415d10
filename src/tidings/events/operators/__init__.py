"""The operators of Snoop, one module per operator or similar pair, with their contract and their
table. Their waiting state can be saved.
"""
