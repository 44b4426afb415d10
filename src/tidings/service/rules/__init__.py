"""What sentinels do by rules over the log of events: reports at their time, changes of several pages together, polls on an event. The engine
follows the committed events and what comes of them is committed with its new state. Nothing here reads a page.
"""
