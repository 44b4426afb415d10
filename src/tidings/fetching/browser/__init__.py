"""The fetcher of pages that scripts build: Chromium, one visit a page, and the parts that a page loads. Every request goes through the plain client."""
