"""What programs ask of a running service: feeds, the stream, hooks, signals, hubs, and whether it is well. Each module is one entrance. People have the
screens.
"""
