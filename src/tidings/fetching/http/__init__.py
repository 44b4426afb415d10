"""The fetcher over plain HTTP: sockets, heads, redirects, decoders, cookies, routes and what an answer means. Every address passes the guard of the
room below. Browsers come above.
"""
