"""The laboratory: bounds and generators that reproduce the papers. No other room imports it
(contracts §10); it needs the extra `lab`.
"""
