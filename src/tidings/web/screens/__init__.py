"""The screens: pages for users, rendered on the server, with forms and links that need no script.
Each module reads its screen's data and passes plain values to a template of the same name. What is
watched is decided in `service.sentinels`.
"""
