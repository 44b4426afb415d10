"""How often pages change, from looks that only say whether they did (study of scheduling §7; bid_and_defaults §5)."""
