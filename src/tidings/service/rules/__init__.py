"""Rules of sentinels over the event log: changes of several pages together, polls on an event,
needs of several pages in time. The engine follows the committed events; its effects are committed
with its new state. No page content is read here.
"""
