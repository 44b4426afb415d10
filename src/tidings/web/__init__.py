"""The HTTP server of a running service: feeds, the stream of changes, incoming webhooks, health,
screens and the API.
"""
