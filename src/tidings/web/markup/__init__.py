"""Building blocks of screens: texts and figures, one-line changes, bars and plots, forms, and the
templates. Nothing here reads stored data but the rows that a picture draws.
"""
