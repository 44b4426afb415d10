"""The message bus between machines: a queue of work, each item for one taker, and mailboxes for
messages. Anything on it may be lost at any moment; only the database is authoritative. Rows: in
process, PostgreSQL and NATS JetStream.
"""
