"""What carries work between machines. Whatever is on it may be lost at any moment: the database
alone holds the truth. Two things travel: work, which one of many takers gets, and messages to a
mailbox. The rows are in process, PostgreSQL and NATS JetStream.
"""
