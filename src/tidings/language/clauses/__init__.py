"""From a tree to values: a module a kind of clause, `clause` is what they share, `all_clauses` names them. A clause that is wrong is a problem with its
place; nothing here looks at other clauses (that is `verify`'s).
"""
