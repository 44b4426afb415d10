"""The web door of a running service: feeds, the stream of changes, hooks that come in, and whether it is well."""
