"""Data formats: JSON, XML, CSV, calendars and PDF, each as text and as a tree with selectable
parts. `media` detects which of them a body is. Feeds build on these.
"""
