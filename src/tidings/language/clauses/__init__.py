"""From a tree to values: one module per kind of clause; `clause` is shared, `all_clauses` lists
them. A faulty clause is a problem at its place; combinations of clauses are checked in `verify`.
"""
