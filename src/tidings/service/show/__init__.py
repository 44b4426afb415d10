"""How what is stored is shown: the records that verbs, feeds and messages print, and what doctor
says of one thing. Nothing here reads the web or changes a row. It is the lowest room: all others
may use it.
"""
