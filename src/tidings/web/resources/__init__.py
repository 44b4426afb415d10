"""The API under `/api/v1`: all that the screens do. `operations` is the one table, from which
`openapi` generates the document.
"""
