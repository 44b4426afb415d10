"""Commands that only show: sentinels, versions, deliveries, plans, settings and health. One module
per command or family. Nothing here fetches.
"""
