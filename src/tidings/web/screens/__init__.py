"""The screens: pages for people, made on the server, with forms and links that need no script. Each module reads what its screen shows and hands
plain values to a template of the same name. Nothing here decides what is watched: that is
`service.sentinels`.
"""
