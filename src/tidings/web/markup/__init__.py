"""What screens are made of: words and figures, a change in a line, bars and plots, forms, and the templates. Nothing here reads what is watched but
the rows that a picture draws.
"""
