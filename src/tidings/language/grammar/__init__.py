"""From a text to a tree: the grammar's tables, lark's parser, and the messages for syntax faults.
The meaning of clauses is unknown here.
"""
