"""What sentinels do by rules over the log of events: changes of several pages together, polls on an
event, needs of several pages in time. The engine follows the committed events and what comes of
them is committed with its new state. Nothing here reads a page.
"""
