"""Formatting of stored data: the records that commands, feeds and messages print, and the form of
doctor's findings. Nothing here fetches or changes a row. The lowest package: all others may use it.
"""
