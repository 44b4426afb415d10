"""People and their programs: accounts, passwords, sessions and tokens; what they may see; how they
leave.
"""
