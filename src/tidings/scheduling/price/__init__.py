"""The price policy: a page is looked at when what has gathered is worth the price of a look (bid §1–§4)."""
