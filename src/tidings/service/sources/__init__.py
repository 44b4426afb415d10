"""What comes from outside beside answers of pages: hints that a page has changed, hubs that push,
events of webhooks and commands. It raises hints and occurrences. Nothing here polls a page.
"""
