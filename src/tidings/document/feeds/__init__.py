"""Feeds and sitemaps: their entries, dates and hubs, in all forms in use. The sitemap job is named
here, and runs where content is parsed.
"""
