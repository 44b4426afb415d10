"""Users and their programs: accounts, passwords, sessions and tokens; what they may see; their
removal.
"""
