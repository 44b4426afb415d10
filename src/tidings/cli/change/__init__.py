"""The verbs that change what is watched, and by whom it is read: sentinels, their lives, secrets. One module a verb or a family of verbs."""
