"""Secrets as people handle them: set, listed, dropped, their key changed; what refers to one in a
text, and the address behind it when a message leaves. How they are encrypted is `storage/secrets`.
"""
