"""What a text that the language does not read may mean: tokens, the phrases that are known, and the
clauses that they make.

A text becomes a line of tokens (`tokens`). The tables of `phrases` recognise the parts of each
kind of clause in any order, and collect them in a `Wish` (`wish`), which writes the clauses. What
is not recognised is never left out silently: then there is no answer for this clause.
"""
