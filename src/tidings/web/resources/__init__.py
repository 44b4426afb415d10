"""The API under `/api/v1`: all that the screens do. `operations` is the one table, from which the
OpenAPI document is generated.
"""
