"""Data instead of pages: JSON, XML, CSV, calendars and PDF, each as text and as a tree whose parts can be selected. `media` says which of them a body
is. Feeds come above.
"""
