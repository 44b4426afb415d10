"""Commands that change what is watched, and who may read it: sentinels, their lives, secrets. One
module per command or family.
"""
