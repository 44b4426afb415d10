"""What programs read and write under `/api/v1`: all that the screens do. `operations` is the one
table, from which `openapi` makes the document.
"""
