"""Commands that run work: one check, the service, the demo, the laboratory and retention. One
module per command.
"""
