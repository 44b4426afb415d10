"""What keeps a running service sound: old versions are deleted, what was learned is stored, and a
full disk, a wrong clock or a database that is away stops all steps until it is over. Nothing here
asks for a page.
"""
