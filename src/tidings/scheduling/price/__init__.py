"""The price policy: a page is polled when what has gathered is worth the price of a poll (bid §1–§4)."""
