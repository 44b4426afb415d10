"""From news to the receiver: which sentinels begin and end, what their news say, when a clause
sends (rates, quiet hours, caps), and each attempt to deliver it. A message is written in the same
unit as the change it reports, and sent afterwards. Nothing here decides what is news.
"""
