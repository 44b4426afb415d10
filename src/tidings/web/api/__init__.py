"""Routes for programs: feeds, the stream, webhooks, signals, hubs, health. Each module is one
route. Users have the screens.
"""
