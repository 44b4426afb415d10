"""The fetcher of scripted pages: Chromium, one page visit, and the page's subresources. Every
request goes through the plain client.
"""
