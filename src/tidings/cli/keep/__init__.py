"""Verbs that keep all there is, and move it: backups, and what comes from other programs or goes
to them.
"""
