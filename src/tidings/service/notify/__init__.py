"""From changes to receivers: which sentinels start and end, what their messages say, when a clause
sends (rates, quiet hours, caps), and each delivery attempt. A message is written in the same unit
as the change it reports, and sent afterwards. What counts as a change is decided elsewhere.
"""
