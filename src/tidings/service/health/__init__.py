"""What keeps a watch from seeing changes or from reporting them, and in which words: one table of
sources for all verbs. Doctor adds what concerns the machine and the schedule. Nothing here is
stored or notified.
"""
