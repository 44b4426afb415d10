"""Input from outside beside pages' answers: hints that a page has changed, hubs that push, events
of webhooks and commands. Nothing here polls a page.
"""
