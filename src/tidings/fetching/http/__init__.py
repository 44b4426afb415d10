"""The plain HTTP fetcher: sockets, heads, redirects, decoders, cookies, routes and the meaning of
answers. The guard checks every address. Browsers build on this.
"""
