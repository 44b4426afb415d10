"""How often pages change, from looks that only say whether they did (scheduling §7; bid §5)."""
