"""Secrets, encrypted: the vault encrypts what is stored and opens it when a request leaves, under
the keys of `secrets.key`. Rows name their owner. Nothing here prints or sends a secret.
"""
