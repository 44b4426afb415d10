"""What keeps a watch from seeing or reporting changes, in the same words for all commands: one
table of sources. Doctor adds the machine and the schedule. Nothing here is stored or notified.
"""
