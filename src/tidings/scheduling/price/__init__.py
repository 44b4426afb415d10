"""The price policy: a page is polled when its backlog is worth the price of a poll (bid §1–§4)."""
