"""Secrets as users manage them: set, list, drop, change the key; references to them in texts, and
the real address when a message leaves. `storage/secrets` encrypts them.
"""
