"""From a text to a tree: the grammar's tables, the parser that lark makes of them, and what is said where the text does not fit. Nothing here knows what
a clause means.
"""
