"""Encrypted secrets: the vault encrypts what is stored and decrypts it when a request leaves, with
the keys of `secrets.key`. Rows name their owner. Nothing here prints or sends a secret.
"""
